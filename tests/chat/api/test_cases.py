"""A student leaves a question with an office, writes on, says whether it helped, and takes it back."""

import uuid
from typing import Any
from unittest.mock import Mock

import pytest

from analytics.models import Notice
from chat.models import Case, CaseMessage, Conversation, Message, Office, OfficeRule
from faqs.indexing import sync_faq
from knowledge.models import Document
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, CategoryFactory, FAQFactory
from tests.servers import Server, Tab

pytestmark = pytest.mark.usefixtures("pages")


@pytest.fixture
def office(pages: object) -> Office:
    assistant = AssistantFactory()
    return Office.objects.create(assistant=assistant, name="Student Service Centre", name_de="Studierendenservice")


def opened(client: Client, conversation: str, office: Office, **values: Any) -> dict[str, Any]:
    body = {"client_id": str(uuid.uuid4()), "office": office.pk, "question": "May I bring my dog?", **values}
    reply = client.post(f"/api/v1/conversations/{conversation}/cases", body)
    assert reply.status == 200, reply.body
    case: dict[str, Any] = reply.json
    return case


def test_a_student_is_told_which_office_and_what_goes_along(server: Server, office: Office) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    found = client.get(f"/api/v1/conversations/{answer.conversation}/handover?answer={answer.message}").json
    assert [each["name"] for each in found["offices"]] == ["Student Service Centre"]
    assert found["office"] == office.pk
    assert found["question"] == QUESTION
    assert [each["role"] for each in found["messages"]] == ["user", "assistant"]
    assert found["shared"] == [each["id"] for each in found["messages"]]


@pytest.mark.parametrize(
    ("asked", "name"),
    [("Is there a place for my boat?", "Facility Office"), ("Who feeds the helicopterdom?", "Student Service Centre")],
)
def test_an_abstention_is_led_to_the_office_of_its_topic(
    server: Server, office: Office, monkeypatch: pytest.MonkeyPatch, asked: str, name: str
) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda *_ids: None)
    category = CategoryFactory()
    facility = Office.objects.create(assistant=office.assistant, name="Facility Office")
    Office.objects.filter(pk=office.pk).update(is_default=True)
    OfficeRule.objects.create(office=facility, category=category)
    library = Document.objects.get(url="https://www.uni.example/library")
    faq = FAQFactory(question="Where can I park my car?", status="published", category=category, documents=[library])
    sync_faq(faq.pk)
    client = Client.begin(server)
    answer = client.ask(asked)
    about = Message.objects.get(pk=answer.message)
    assert about.status == Message.Status.ABSTAINED
    assert (about.faq_id, faq.question in about.related) == (None, name == "Facility Office")
    found = client.get(f"/api/v1/conversations/{answer.conversation}/handover?answer={answer.message}").json
    assert next(each["name"] for each in found["offices"] if each["id"] == found["office"]) == name


def test_a_question_is_left_once_however_often_the_button_is_pressed(server: Server, office: Office) -> None:
    client, key = Client.begin(server), str(uuid.uuid4())
    answer = client.ask(QUESTION)
    first = opened(client, answer.conversation, office, client_id=key, answer=answer.message, shared=[answer.message])
    again = opened(client, answer.conversation, office, client_id=key, answer=answer.message)
    assert first == again
    case = Case.objects.get()
    assert (case.office, case.about_id, case.reason) == (office, answer.message, Case.Reason.BAD_ANSWER)
    assert [message.pk for message in case.shared.all()] == [answer.message]


@pytest.mark.parametrize(
    ("asked", "reason"),
    [
        ("Can I rent a zeppelin for my graduation?", Case.Reason.ABSTAINED),
        (QUESTION, Case.Reason.BAD_ANSWER),
        ("I want to talk to a person", Case.Reason.PERSON),
        ("I want to kill myself", Case.Reason.HELP),
    ],
)
def test_the_office_reads_why_and_a_person_in_need_is_late_at_once(
    server: Server, office: Office, monkeypatch: pytest.MonkeyPatch, asked: str, reason: str
) -> None:
    told = Mock()
    monkeypatch.setattr("analytics.cases.services.tell_of_case.delay_on_commit", told)
    client = Client.begin(server)
    answer = client.ask(asked)
    opened(client, answer.conversation, office, answer=answer.message)
    case, is_urgent = Case.objects.get(), reason == Case.Reason.HELP
    assert (case.reason, case.is_late) == (reason, is_urgent)
    told.assert_called_once_with(case.pk, Notice.Kind.LATE_CASE if is_urgent else Notice.Kind.NEW_CASE)


def test_messages_of_another_conversation_are_never_shared(server: Server, office: Office) -> None:
    client = Client.begin(server)
    theirs = Client.begin(server).ask(QUESTION)
    answer = client.ask(QUESTION)
    opened(client, answer.conversation, office, shared=[theirs.message])
    assert not Case.objects.get().shared.exists()


def test_all_tabs_read_what_is_said_and_a_tab_that_comes_back_too(server: Server, office: Office) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    with Tab(server, client.token) as tab:
        tab.resume(conversation=answer.conversation)
        assert tab.until("conversation")[-1]["cases"] == []
        case = opened(client, answer.conversation, office)
        assert tab.until("case")[-1]["case"] == case
        client.post(f"/api/v1/cases/{case['id']}/messages", {"client_id": str(uuid.uuid4()), "text": "It is small."})
        (message,) = tab.until("case")[-1]["case"]["messages"]
        assert (message["by"], message["text"]) == ("student", "It is small.")
    snapshot = client.get(f"/api/v1/conversations/{answer.conversation}").json
    assert [len(each["messages"]) for each in snapshot["cases"]] == [1]


def test_a_case_of_somebody_else_is_not_found(server: Server, office: Office) -> None:
    client, other = Client.begin(server), Client.begin(server)
    answer = client.ask(QUESTION)
    case = opened(client, answer.conversation, office)
    text = {"client_id": str(uuid.uuid4()), "text": "Hello"}
    for reply in (
        other.get(f"/api/v1/conversations/{answer.conversation}/handover"),
        other.post(f"/api/v1/cases/{case['id']}/messages", text),
        other.put(f"/api/v1/cases/{case['id']}/helped", {"helped": True}),
        other.delete(f"/api/v1/cases/{case['id']}"),
    ):
        assert reply.status == 404
    assert not CaseMessage.objects.exists()


def test_an_office_that_takes_nothing_is_refused_and_nothing_is_saved(server: Server, office: Office) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    Office.objects.update(is_active=False)
    body = {"client_id": str(uuid.uuid4()), "office": office.pk, "question": "May I?"}
    reply = client.post(f"/api/v1/conversations/{answer.conversation}/cases", body)
    assert (reply.status, reply.json["code"]) == (422, "unknown_office")
    assert not Case.objects.exists()


def test_taking_a_question_back_deletes_it_and_so_does_deleting_the_conversation(
    server: Server, office: Office
) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    first, _second = opened(client, answer.conversation, office), opened(client, answer.conversation, office)
    assert client.delete(f"/api/v1/cases/{first['id']}").status == 204
    assert Case.objects.count() == 1
    client.delete(f"/api/v1/conversations/{answer.conversation}")
    assert not Case.objects.exists()
    assert not Conversation.objects.exists()


def test_my_data_tells_of_questions_to_offices(server: Server, office: Office) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    opened(client, answer.conversation, office, question="Is there a crèche?")
    (conversation,) = client.get("/api/v1/my-data").json["conversations"]
    assert [each["question"] for each in conversation["questions_to_offices"]] == ["Is there a crèche?"]
