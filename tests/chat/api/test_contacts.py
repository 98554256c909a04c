"""Which kinds of contacts a visitor went to from an answer: saved with the answer, once each, and nothing besides."""

from typing import Any

import pytest

from chat.models import Message
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.servers import Server, Tab, wait_until

pytestmark = pytest.mark.usefixtures("pages")
UNKNOWN = "Wie backe ich einen Apfelkuchen mit Zimt?"


def used(message: int) -> list[str]:
    return Message.objects.values_list("contacts_used", flat=True).get(pk=message)


def test_a_kind_is_saved_once_from_an_answer_and_from_an_abstention_over_both_doors(server: Server) -> None:
    client = Client.begin(server)
    answer, abstention = client.ask(QUESTION), client.ask(UNKNOWN)
    assert abstention.end["status"] == "abstained"
    for kind in ("phone", "phone", "email"):
        assert client.post(f"/api/v1/messages/{answer.message}/contacts", {"kind": kind}).status == 204
    with Tab(server, client.token) as tab:
        tab.resume()
        tab.until("conversation")
        for kind in ("page", "page"):
            tab.send({"type": "contact", "message": abstention.message, "kind": kind})
        wait_until(lambda: used(abstention.message))
        assert tab.quiet()
    assert (used(answer.message), used(abstention.message)) == (["phone", "email"], ["page"])


@pytest.mark.parametrize("given", [{"kind": "fax"}, {"kind": None}, {"kind": ["email"]}, {"kind": "tel:+49 1"}, {}])
def test_what_is_no_kind_is_refused_and_nothing_is_saved(server: Server, given: dict[str, Any]) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    assert client.post(f"/api/v1/messages/{answer.message}/contacts", given).status == 422
    with Tab(server, client.token) as tab:
        tab.resume()
        tab.until("conversation")
        assert tab.refused({"type": "contact", "message": answer.message, **given})["code"] == "bad_frame"
    assert used(answer.message) == []


def test_nothing_is_saved_of_people_in_need_nor_with_a_question(server: Server) -> None:
    client = Client.begin(server)
    asked = client.ask("Ich möchte sterben")
    assert Message.objects.get(pk=asked.message).is_help
    for message in (asked.message, asked.start["question"]["id"], client.ask(QUESTION).start["question"]["id"]):
        reply = client.post(f"/api/v1/messages/{message}/contacts", {"kind": "phone"})
        assert (reply.status, reply.json["code"]) == (404, "not_found")
        assert used(message) == []


def test_without_consent_there_is_nothing_to_tell_it_to(server: Server) -> None:
    answer = Client.begin(server).ask(QUESTION)
    assert Client(server).post(f"/api/v1/messages/{answer.message}/contacts", {"kind": "email"}).status == 401
    with Tab(server, "") as tab:
        said = tab.refused({"type": "contact", "message": answer.message, "kind": "email"})
        assert said["code"] == "session_required"
    assert used(answer.message) == []
