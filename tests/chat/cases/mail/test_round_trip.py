"""A question and its answers by e-mail, from the student's tab to the office and back, over SMTP and IMAP."""

import urllib.request
import uuid

import pytest

from chat import tasks
from chat.models import Case, CaseAddress, Office
from chat.services import office_cases
from chat.services.student_cases import tell_answered
from tests.analytics.inbox.mail_server import MailServer
from tests.chat.api_client import Client
from tests.chat.cases.mail.conftest import STUDENT, from_student
from tests.chat.cases.mail.test_addresses import link_in
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, UserFactory
from tests.fakes.imap import MailboxServer
from tests.servers import Server, Tab

pytestmark = pytest.mark.usefixtures("pages")


def test_what_a_student_answers_by_mail_stands_in_their_tab_and_waits_for_the_office(
    server: Server, smtp: MailServer, imap: MailboxServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.send_case_mails, "delay", tasks.send_case_mails)
    office = Office.objects.create(assistant=AssistantFactory(), name="Housing Office")
    client = Client.begin(server)
    conversation = client.ask(QUESTION).conversation
    body = {"client_id": str(uuid.uuid4()), "office": office.pk, "question": "May I bring a dog?", "email": STUDENT}
    client.post(f"/api/v1/conversations/{conversation}/cases", body)
    urllib.request.urlopen(server.origin + link_in(smtp.mails[0]), data=b"").close()
    case = Case.objects.get()
    office_cases.reply(case=case.pk, version=case.version, text="How tall is it?", by=UserFactory(), asks_back=True)
    mail = smtp.mails[-1]
    answer = from_student(case, "Half a metre.\n\nOn Tue, Office wrote:\n> How tall is it?", To=mail["Reply-To"])
    answer["In-Reply-To"] = mail["Message-ID"]
    with Tab(server, client.token) as tab:
        tab.resume(conversation=conversation)
        tab.until("conversation")
        imap.deliver(answer)
        for _minute in range(3):
            tasks.read_case_mails()
        seen = tab.until("case")[-1]["case"]
    assert [each["text"] for each in seen["messages"]] == ["How tall is it?", "Half a metre."]
    assert (seen["state"], seen["mails"]) == ("open", "confirmed")
    case.refresh_from_db()
    office_cases.reply(case=case.pk, version=case.version, text="Then yes.", by=UserFactory(), closes=True)
    assert smtp.mails[-1]["In-Reply-To"] == answer["Message-ID"]
    assert len(smtp.mails) == 3
    client.delete("/api/v1/my-data")
    assert not Case.objects.exists()
    assert not CaseAddress.objects.exists()


def test_who_wished_to_be_told_gets_one_mail_once_the_address_is_confirmed(
    server: Server, smtp: MailServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tasks.send_case_mails, "delay", tasks.send_case_mails)
    client = Client.begin(server)
    answer = client.ask("Can I rent a zeppelin for my graduation?")
    body = {"client_id": str(uuid.uuid4()), "answer": answer.message, "email": STUDENT}
    made = client.post(f"/api/v1/conversations/{answer.conversation}/wishes", body).json
    tell_answered(case=made["id"], title="Zeppelins", url="https://www.uni.example/zeppelins")
    assert [mail["Subject"] for mail in smtp.mails] == ["Please confirm your e-mail address"]
    for _press in range(2):
        urllib.request.urlopen(server.origin + link_in(smtp.mails[0]), data=b"").close()
    tasks.send_case_mails()
    assert len(smtp.mails) == 2
    told = smtp.mails[-1].get_body(("plain",))
    assert told
    assert "There is an answer to your question now" in told.get_content()
    assert "https://www.uni.example/zeppelins" in told.get_content()
