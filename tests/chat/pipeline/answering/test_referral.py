"""Who would rather talk to a person is told who helps: the assistant's contact, and the one of the matter."""

import pytest

from core.inference.embeddings import EmbeddingUnavailable
from tests.conftest import load_pages
from tests.factories import AssistantFactory
from tests.servers import Answer, Server

CONTACTS = "https://www.uni.example/contact"
TABLE = """# Contact and opening hours

| Office | Topics | Opening hours | E-mail |
|---|---|---|---|
| IT Service Desk | account, password, e-mail | Mon to Fri 8:30 to 17:00 | it@uni.example |
| Examinations Office | exams, theses, transcripts | Mon to Thu 10:00 to 12:00 | exams@uni.example |
"""
ACCOUNT = (
    "My IT account is locked and this does not help, please let me talk to a real person from the IT service desk."
)


@pytest.fixture
def contacts(pages: None) -> None:
    load_pages([{"url": CONTACTS, "title": "Contact", "language": "en", "text": TABLE}])


def asked(server: Server, text: str, language: str = "en") -> Answer:
    with server.connect(language=language) as tab:
        return tab.answer(text)


@pytest.mark.usefixtures("contacts")
def test_the_contact_of_the_matter_is_quoted_with_its_page(server: Server) -> None:
    AssistantFactory(contact_name="Student advice", contact_email="advice@uni.example")
    answer = asked(server, ACCOUNT)
    assert (
        "Student advice, advice@uni.example\n\nFor what you write about, the pages name this contact: “" in answer.text
    )
    assert "it@uni.example" in answer.text
    assert "exams@uni.example" not in answer.text
    assert answer.text.endswith("” [1]")
    (source,) = answer.cited
    assert source["url"].startswith(CONTACTS)
    assert answer.types[-2:] == ["sources", "message_end"]
    assert (answer.end["status"], answer.end["strategy"]) == ("complete", "fixed")


@pytest.mark.usefixtures("contacts")
def test_a_wish_without_a_matter_gets_the_assistants_contact_alone(server: Server) -> None:
    AssistantFactory(contact_name="Student advice", contact_email="advice@uni.example")
    answer = asked(server, "Let me talk to a person")
    assert answer.text.endswith("Student advice, advice@uni.example")
    assert answer.cited == []


@pytest.mark.usefixtures("contacts")
def test_the_assistants_own_contact_is_not_said_twice(server: Server) -> None:
    AssistantFactory(contact_name="IT Service Desk", contact_email="it@uni.example")
    answer = asked(server, ACCOUNT)
    assert answer.text.count("it@uni.example") == 1
    assert answer.cited == []


@pytest.mark.usefixtures("pages")
def test_where_no_page_names_a_contact_none_is_quoted(server: Server) -> None:
    assert asked(server, ACCOUNT).cited == []


@pytest.mark.usefixtures("contacts")
def test_without_vectors_the_assistants_contact_is_still_named(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_given: object, **_more: object) -> None:
        raise EmbeddingUnavailable("The model cannot be loaded.")

    AssistantFactory(contact_name="Student advice", contact_email="advice@uni.example")
    monkeypatch.setattr("chat.pipeline.answering.office.referral.retrieve_with", away)
    answer = asked(server, ACCOUNT)
    assert answer.text.endswith("Student advice, advice@uni.example")
    assert answer.end["status"] == "complete"


@pytest.mark.usefixtures("contacts")
def test_it_is_said_in_the_language_of_the_message(server: Server) -> None:
    answer = asked(
        server, "Ich möchte mit einem Menschen sprechen: Mein IT-Account ist gesperrt, IT Service Desk bitte", "de"
    )
    assert "Zu Ihrem Anliegen nennen die Seiten diesen Kontakt: „" in answer.text
