"""A student wishes to be told once a question has an answer, is told once, and says whether it helped."""

import uuid
from typing import Any

import pytest

from analytics.models import Notice
from chat.models import Case, Office
from chat.services.student_cases import tell_answered
from tests.chat.api_client import Asked, Client
from tests.conftest import QUESTION
from tests.factories import AssistantFactory
from tests.servers import Server, Tab

pytestmark = pytest.mark.usefixtures("pages")

UNANSWERED = "Can I rent a zeppelin for my graduation?"
PAGE = "https://www.uni.example/zeppelins(2)"


def asked_in_vain(client: Client) -> Asked:
    answer = client.ask(UNANSWERED)
    assert answer.end["status"] == "abstained"
    return answer


def wish(client: Client, answer: Asked, **values: Any) -> dict[str, Any]:
    body = {"client_id": str(uuid.uuid4()), "answer": answer.message, **values}
    reply = client.post(f"/api/v1/conversations/{answer.conversation}/wishes", body)
    assert reply.status == 200, reply.body
    made: dict[str, Any] = reply.json
    return made


def test_a_wish_waits_with_no_office_and_is_made_once(server: Server) -> None:
    client = Client.begin(server)
    answer = asked_in_vain(client)
    first, again = wish(client, answer), wish(client, answer)
    assert first == again
    assert (first["state"], first["office"], first["question"]) == ("watching", "", UNANSWERED)
    assert (first["about"], first["reply_due"]) == (answer.message, "")
    assert not Notice.objects.exists()


def test_only_what_was_answered_badly_can_be_wished_for(server: Server) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    body = {"client_id": str(uuid.uuid4()), "answer": answer.message}
    refused = client.post(f"/api/v1/conversations/{answer.conversation}/wishes", body)
    assert (refused.status, refused.json["code"]) == (422, "answered")
    client.put(f"/api/v1/messages/{answer.message}/feedback", {"value": -1})
    assert wish(client, answer)["question"] == QUESTION


def test_a_student_is_told_once_in_every_tab_and_says_whether_it_helped(server: Server) -> None:
    client = Client.begin(server)
    answer = asked_in_vain(client)
    made = wish(client, answer)
    assert client.put(f"/api/v1/cases/{made['id']}/helped", {"helped": True}).status == 404
    with Tab(server, client.token) as tab:
        tab.resume(conversation=answer.conversation)
        tab.until("conversation")
        assert tell_answered(case=made["id"], title="Zeppelins [new]", url=PAGE)
        assert not tell_answered(case=made["id"], title="Zeppelins [new]", url=PAGE)
        seen = tab.until("case")[-1]["case"]
    (told,) = seen["messages"]
    assert (seen["state"], told["by"]) == ("told", "assistant")
    link = r"[Zeppelins \[new\]](https://www.uni.example/zeppelins%282%29)"
    assert told["text"] == f"There is an answer to your question now: {link}"
    assert client.put(f"/api/v1/cases/{made['id']}/helped", {"helped": False}).json["helped"] is False


def test_who_is_not_helped_goes_on_with_the_office_of_the_question(server: Server) -> None:
    office = Office.objects.create(assistant=AssistantFactory(), name="Housing Office", is_default=True)
    client = Client.begin(server)
    made = wish(client, asked_in_vain(client))
    tell_answered(case=made["id"], title="Zeppelins", url=PAGE)
    body = {"client_id": str(uuid.uuid4()), "text": "That page is about balloons."}
    seen = client.post(f"/api/v1/cases/{made['id']}/messages", body).json
    assert (seen["state"], seen["office"]) == ("open", "Housing Office")
    assert seen["reply_due"]
    assert [each["by"] for each in seen["messages"]] == ["assistant", "student"]
    assert Case.objects.get().office == office


def test_without_an_office_nobody_can_be_written_to_and_nothing_is_saved(server: Server) -> None:
    client = Client.begin(server)
    made = wish(client, asked_in_vain(client))
    body = {"client_id": str(uuid.uuid4()), "text": "Hello?"}
    refused = client.post(f"/api/v1/cases/{made['id']}/messages", body)
    assert (refused.status, refused.json["code"]) == (422, "unknown_office")
    assert Case.objects.get().state == "watching"


def test_a_wish_that_was_taken_back_is_told_nothing(server: Server) -> None:
    client = Client.begin(server)
    made = wish(client, asked_in_vain(client))
    assert client.delete(f"/api/v1/cases/{made['id']}").status == 204
    assert not tell_answered(case=made["id"], title="Zeppelins", url=PAGE)
