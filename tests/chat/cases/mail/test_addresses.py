"""A student's address: asked for with a question or later, confirmed on a page, and taken back."""

import re
import urllib.request
import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from urllib.error import HTTPError

import pytest
from django.core import signing
from django.db import transaction
from django.utils import timezone
from pytest_django import Settings

from chat import tasks
from chat.cases.mail.signing import CONFIRM, sign_link
from chat.models import Case, CaseAddress, CaseMail, CaseMessage, Office
from chat.services import office_cases
from chat.services.case_mails import queue_reply_mail
from tests.analytics.inbox.mail_server import MailServer
from tests.chat.api_client import Client
from tests.chat.cases.mail.conftest import STUDENT, reply
from tests.factories import AssistantFactory, UserFactory
from tests.servers import ROOT, Server, Tab

pytestmark = [pytest.mark.usefixtures("office"), pytest.mark.slow]
QUESTION = "How much is the semester contribution?"


@pytest.fixture
def office(pages: object) -> Office:
    return Office.objects.create(assistant=AssistantFactory(), name="Housing Office", name_de="Wohnungsamt")


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run the task where it is queued, as a worker would right after."""
    monkeypatch.setattr(tasks.send_case_mails, "delay", tasks.send_case_mails)


def opened(client: Client, **values: Any) -> tuple[str, dict[str, Any]]:
    """Leave a question; return the conversation and the case."""
    conversation = client.ask(QUESTION).conversation
    office = Office.objects.get()
    body = {"client_id": str(uuid.uuid4()), "office": office.pk, "question": "May I bring my dog?", **values}
    made = client.post(f"/api/v1/conversations/{conversation}/cases", body)
    assert made.status == 200, made.body
    return conversation, made.json


def link_in(mail: Any) -> str:
    text = mail.get_body(("plain",)).get_content()
    (found,) = re.findall(r"http://localhost:8000(/mails/\S+)", text)
    return str(found)


def page(server: Server, path: str, *, body: bytes | None = None) -> tuple[int, str]:
    """Open a page without any cookie, or press its button."""
    request = urllib.request.Request(server.origin + path, data=body)
    try:
        with urllib.request.urlopen(request) as response:
            assert response.headers["Set-Cookie"] is None
            assert response.headers["Referrer-Policy"] == "no-referrer"
            return response.status, response.read().decode()
    except HTTPError as error:
        with error:
            return error.code, error.read().decode()


def test_an_address_is_confirmed_by_the_button_of_a_page_and_then_gets_what_came_before(
    server: Server, smtp: MailServer
) -> None:
    client = Client.begin(server)
    conversation, case = opened(client, email=f" {STUDENT} ")
    assert case["mails"] == "unconfirmed"
    (first,) = smtp.mails
    assert first["To"] == STUDENT
    assert "dog" not in str(first)
    office_cases.reply(case=case["id"], version=Case.objects.get().version, text="Yes, small ones.", by=UserFactory())
    assert len(smtp.mails) == 1, "nothing else before it is confirmed"
    link = link_in(first)
    for _scan in range(3):
        status, html = page(server, link)
        assert (status, "Confirm address" in html) == (200, True)
    assert CaseAddress.objects.get().confirmed_at is None, "who opens the page confirms nothing"
    with Tab(server, client.token) as tab:
        tab.resume(conversation=conversation)
        tab.until("conversation")
        assert "The address is confirmed" in page(server, link, body=b"")[1]
        assert tab.until("case")[-1]["case"]["mails"] == "confirmed"
    assert [mail["To"] for mail in smtp.mails] == [STUDENT] * 2
    assert "Yes, small ones." in smtp.mails[1].get_body(("plain",)).get_content()  # type: ignore[union-attr]
    page(server, link, body=b"")
    assert len(smtp.mails) == 2


def test_the_page_speaks_the_language_of_the_case(server: Server, smtp: MailServer) -> None:
    client = Client.begin(server, language="de")
    opened(client, email=STUDENT)
    Case.objects.update(language="de")
    html = page(server, link_in(smtp.mails[0]))[1]
    assert '<html lang="de">' in html
    assert "Adresse bestätigen" in html


def test_a_link_that_is_forged_or_too_old_or_of_an_earlier_address_confirms_nothing(
    server: Server, smtp: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client.begin(server)
    _conversation, case = opened(client, email=STUDENT)
    first = link_in(smtp.mails[0])
    client.put(f"/api/v1/cases/{case['id']}/email", {"email": "other@students.example"})
    second = link_in(smtp.mails[1])
    stop = "/mails/confirm/" + sign_link("chat.case_mail.stop", CaseAddress.objects.get().pk) + "/"
    old = signing.TimestampSigner.timestamp
    monkeypatch.setattr(signing.TimestampSigner, "timestamp", lambda self: signing.b62_encode(1_700_000_000))
    late = "/mails/confirm/" + sign_link(CONFIRM, CaseAddress.objects.get().pk) + "/"
    monkeypatch.setattr(signing.TimestampSigner, "timestamp", old)
    for link in (first, stop, late, second[:-5] + "xxxx/", "/mails/confirm/x/"):
        assert page(server, link, body=b"")[0] == 404
    assert CaseAddress.objects.get().confirmed_at is None
    assert page(server, second, body=b"")[0] == 200


def test_an_empty_address_deletes_it_and_nothing_is_mailed_any_more(server: Server, smtp: MailServer) -> None:
    client = Client.begin(server)
    _conversation, case = opened(client, email=STUDENT)
    page(server, link_in(smtp.mails[0]), body=b"")
    after = client.put(f"/api/v1/cases/{case['id']}/email", {"email": ""})
    assert (after.status, after.json["mails"]) == (200, "")
    queue_reply_mail(reply(Case.objects.get()))
    assert len(smtp.mails) == 1
    assert not CaseAddress.objects.exists()


def test_the_same_address_again_asks_nobody_again(server: Server, smtp: MailServer) -> None:
    client = Client.begin(server)
    _conversation, case = opened(client, email=STUDENT)
    page(server, link_in(smtp.mails[0]), body=b"")
    after = client.put(f"/api/v1/cases/{case['id']}/email", {"email": STUDENT.upper()})
    assert after.json["mails"] == "confirmed"
    assert len(smtp.mails) == 1


def test_an_address_that_came_back_can_be_entered_again(server: Server, smtp: MailServer) -> None:
    client = Client.begin(server)
    _conversation, case = opened(client, email=STUDENT)
    CaseAddress.objects.update(confirmed_at=timezone.now(), unreachable_at=timezone.now())
    assert client.put(f"/api/v1/cases/{case['id']}/email", {"email": STUDENT}).json["mails"] == "unconfirmed"
    assert len(smtp.mails) == 2


def test_a_link_in_every_mail_ends_them_at_the_first_press(server: Server, smtp: MailServer) -> None:
    client = Client.begin(server)
    opened(client, email=STUDENT)
    page(server, link_in(smtp.mails[0]), body=b"")
    with transaction.atomic():
        queue_reply_mail(reply(Case.objects.get()))
    mail = smtp.mails[1]
    link = link_in(mail)
    assert mail["List-Unsubscribe"].strip() == f"<http://localhost:8000{link}>"
    assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert "End e-mails" in page(server, link)[1]
    assert CaseAddress.objects.exists()
    assert page(server, link, body=b"List-Unsubscribe=One-Click")[0] == 200
    assert not CaseAddress.objects.exists()
    assert page(server, link, body=b"List-Unsubscribe=One-Click")[0] == 200


@pytest.mark.parametrize(
    "email",
    [
        "ada",
        "ada@",
        "@uni.example",
        "ada@uni.example\nBcc: eve@evil.example",
        "ä@uni.example",
        f"{'a' * 65}@uni.example",
    ],
)
def test_what_is_no_address_is_refused_and_no_case_is_opened(server: Server, smtp: MailServer, email: str) -> None:
    client = Client.begin(server)
    conversation = client.ask(QUESTION).conversation
    body = {"client_id": str(uuid.uuid4()), "office": Office.objects.get().pk, "question": "May I?", "email": email}
    refused = client.post(f"/api/v1/conversations/{conversation}/cases", body)
    assert (refused.status, refused.json["code"]) == (422, "wrong_address")
    assert not Case.objects.exists()
    assert smtp.mails == []


def test_nobody_is_asked_more_than_a_few_times_a_day_whoever_enters_the_address(
    server: Server, smtp: MailServer
) -> None:
    for _student in range(5):
        opened(Client.begin(server), email=STUDENT)
    client = Client.begin(server)
    _conversation, case = opened(client)
    refused = client.put(f"/api/v1/cases/{case['id']}/email", {"email": STUDENT.upper()})
    assert (refused.status, refused.json["code"]) == (429, "too_many_mails")
    assert len(smtp.mails) == 5
    assert client.put(f"/api/v1/cases/{case['id']}/email", {"email": "bob@students.example"}).status == 200


def test_a_button_that_is_pressed_twice_sends_one_mail(server: Server, smtp: MailServer) -> None:
    client, key = Client.begin(server), str(uuid.uuid4())
    conversation = client.ask(QUESTION).conversation
    body = {"client_id": key, "office": Office.objects.get().pk, "question": "May I?", "email": STUDENT}
    for _press in range(3):
        assert client.post(f"/api/v1/conversations/{conversation}/cases", body).status == 200
    assert len(smtp.mails) == 1


def test_an_address_of_somebody_elses_case_is_not_found(server: Server, smtp: MailServer) -> None:
    _conversation, case = opened(Client.begin(server))
    stranger = Client.begin(server).put(f"/api/v1/cases/{case['id']}/email", {"email": "eve@evil.example"})
    assert stranger.status == 404
    assert smtp.mails == []


def test_without_a_mail_server_no_address_is_taken(server: Server, settings: Settings) -> None:
    settings.EMAIL_HOST = ""
    client = Client.begin(server)
    conversation, case = opened(client)
    assert client.get(f"/api/v1/conversations/{conversation}/handover").json["mails"] is False
    refused = client.put(f"/api/v1/cases/{case['id']}/email", {"email": STUDENT})
    assert (refused.status, refused.json["code"]) == (422, "no_mails")


def test_with_a_mail_server_the_choice_is_offered(server: Server, smtp: MailServer) -> None:
    client = Client.begin(server)
    conversation, _case = opened(client)
    assert client.get(f"/api/v1/conversations/{conversation}/handover").json["mails"] is True


# --- the office's side ---


def confirmed(server: Server, smtp: MailServer, **values: Any) -> Case:
    opened(Client.begin(server), email=STUDENT, **values)
    CaseAddress.objects.update(confirmed_at=timezone.now())
    smtp.mails.clear()
    return Case.objects.get()


@pytest.mark.parametrize(
    ("deed", "words"),
    [
        (lambda case, by: office_cases.reply(case=case.pk, version=case.version, text="Yes.", by=by), "Yes."),
        (lambda case, by: office_cases.close(case=case.pk, version=case.version, by=by), "has closed your question"),
    ],
    ids=["reply", "close"],
)
def test_what_the_office_does_is_mailed_once(
    server: Server, smtp: MailServer, deed: Callable[[Case, Any], object], words: str
) -> None:
    deed(confirmed(server, smtp), UserFactory())
    (mail,) = smtp.mails
    assert words in mail.get_body(("plain",)).get_content()  # type: ignore[union-attr]
    tasks.send_case_mails()
    assert len(smtp.mails) == 1


def test_a_merged_case_is_mailed_as_the_one_that_goes_on(server: Server, smtp: MailServer) -> None:
    case = confirmed(server, smtp)
    other = Case.objects.create(
        conversation=case.conversation,
        office=case.office,
        question="And my cat?",
        language="en",
        reason="person",
        client_id=uuid.uuid4(),
        reply_due=timezone.now() + timedelta(days=1),
    )
    by = UserFactory()
    merged = office_cases.merge(case=case.pk, version=case.version, into=other, by=by)
    assert smtp.mails == []
    office_cases.reply(case=other.pk, version=merged.version, text="Both.", by=by)
    assert f"(#{other.pk})" in smtp.mails[0]["Subject"]


def test_deleting_a_case_deletes_its_address_and_its_mails(server: Server, smtp: MailServer) -> None:
    client = Client.begin(server)
    _conversation, case = opened(client, email=STUDENT)
    CaseMessage.objects.create(case_id=case["id"], by="office", text="Yes.")
    assert client.delete(f"/api/v1/cases/{case['id']}").status == 204
    assert not CaseAddress.objects.exists()
    assert not CaseMail.objects.exists()


def test_no_report_knows_of_addresses() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "analytics").rglob("*.py")]
    assert len(sources) > 100
    assert not any("CaseAddress" in source or "case__address" in source for source in sources)
