"""Text that looks like a template or a format is text, wherever it stands."""

import re

import pytest
from django.test import Client

from chat.models import Message
from knowledge.indexing import sync_pending
from tests.factories import AssistantFactory, DocumentFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Server

SNIPPETS = [
    "{{7*7}}",
    "{% if x %}",
    "{% for x in y %}{{ x }}",
    "{{ settings.SECRET_KEY }}",
    "{0.__class__}",
    "{question.__init__.__globals__}",
    "{}",
    "{fence}",
    "%(x)s",
    "%s %d %",
    "${7*7}",
    "\\1 \\g<0>",
]


def load_page_about(snippet: str) -> None:
    """A page that has the snippet wherever a page can."""
    DocumentFactory(
        title=f"Parking {snippet}",
        text=f"# Parking permit {snippet}\n\nA parking permit {snippet} costs 12 euros each semester.",
    )
    sync_pending()


def literally(text: str, snippet: str) -> bool:
    return snippet in text and not re.search(r"\b49\b", text)


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_a_model_is_told_template_text_as_it_stands(server: Server, llm: FakeLLM, snippet: str) -> None:
    AssistantFactory(institution=f"University {snippet}")
    load_page_about(snippet)
    llm.says(f"It costs {snippet} 12 euros [1].")
    question = f"What does a parking permit {snippet} cost?"
    with server.connect() as tab:
        for _asked_again in range(2):  # so that question and answer are history, too
            answer = tab.answer(question)
            assert (answer.end["status"], answer.errors) == ("complete", [])
            assert answer.text == f"It costs {snippet} 12 euros [1]."
    system, user = (message["content"] for message in llm.requests[-1]["messages"])
    assert f"University {snippet}" in system
    assert f"A parking permit {snippet} costs 12 euros" in user
    assert f"Parking {snippet} › Parking permit " in user
    assert user.count(question) == 2
    assert f"It costs {snippet} 12 euros [1]." in user
    assert literally(system + user, snippet)
    assert set(Message.objects.values_list("text", flat=True)) == {question, answer.text}


@pytest.mark.parametrize("snippet", SNIPPETS)
def test_template_text_comes_back_as_it_stands_without_a_model(server: Server, snippet: str) -> None:
    load_page_about(snippet)
    with server.connect() as tab:
        answer = tab.answer(f"What does a parking permit {snippet} cost?")
        tab.resume()
        snapshot = tab.next()
    assert (answer.end["status"], answer.errors) == ("complete", [])
    assert answer.cited[0]["title"] == f"Parking {snippet}"
    assert literally(snapshot["messages"][0]["text"], snippet)
    assert "costs" in answer.text
    assert "49" not in answer.text


@pytest.mark.django_db
@pytest.mark.parametrize("snippet", [*SNIPPETS, "<script>alert(1)</script>"])
def test_the_page_shows_template_text_as_it_stands(client: Client, snippet: str) -> None:
    AssistantFactory(
        name=snippet, institution=snippet, welcome=f"Hello {snippet}", suggestions=f"What {snippet}?", contact_name="x"
    )
    response = client.get("/")
    assert response.status_code == 200
    page = response.content.decode()
    assert "<script>alert" not in page
    escaped = snippet.replace("<", "&lt;").replace(">", "&gt;")
    assert f"Hello {escaped}" in page
    assert f"What {escaped}?" in page
