"""An FAQ whose page says nothing about its question: nothing of the page is quoted, and staff are warned."""

import pytest
from django.test import Client
from django.urls import reverse

from faqs.indexing import sync_faq
from faqs.models import FAQ
from faqs.services import index_saved_faq
from knowledge.models import Document
from tests.conftest import load_pages
from tests.factories import FAQFactory
from tests.fakes.llm import FakeLLM
from tests.faqs.answers.written import written
from tests.faqs.forms import build_form
from tests.servers import Answer, Server

pytestmark = pytest.mark.usefixtures("canteen")
QUESTION = "Where can I store my surfboard?"
CANTEEN = "https://www.uni.example/canteen"
NAMED = "The university names this page for your question: “Canteen” [1]."


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqs.tasks.index_faq.delay", lambda _id: None)


@pytest.fixture
def canteen(pages: None) -> None:
    text = "# Canteen\n\nLunch is served from Monday to Friday, 11:15 to 14:30. A hot meal costs 3.20 euros."
    load_pages([{"url": CANTEEN, "title": "Canteen", "language": "en", "text": text}])


def published(question: str = QUESTION, *, url: str = CANTEEN) -> FAQ:
    document = Document.objects.get(url=url)
    faq: FAQ = FAQFactory(question=question, status="published", documents=[document], collection=document.collection)
    index_saved_faq(faq=faq)
    sync_faq(faq.pk)
    return faq


def asked(server: Server, text: str, language: str = "en") -> Answer:
    with server.connect(language=language) as tab:
        return tab.answer(text)


def test_the_page_is_named_and_nothing_of_it_is_quoted(server: Server) -> None:
    published()
    answer = asked(server, QUESTION)
    assert answer.text.startswith(NAMED)
    assert "Lunch" not in answer.text
    assert (answer.end["status"], answer.end["strategy"]) == ("complete", "fixed")
    (source,) = answer.cited
    assert (source["url"], source["title"], source["quote"]) == (CANTEEN, "Canteen", "")


def test_it_is_named_in_the_language_of_the_question(server: Server) -> None:
    published("Wo kann ich mein Surfbrett unterstellen?")
    answer = asked(server, "Wo kann ich mein Surfbrett unterstellen?", "de")
    assert answer.text.startswith("Die Hochschule nennt diese Seite zu Ihrer Frage: „Canteen“ [1].")


def test_another_page_that_answers_is_quoted_and_the_page_named_below(server: Server) -> None:
    published("How much is the semester contribution?")
    answer = asked(server, "How much is the semester contribution?")
    assert "Lunch" not in answer.text
    assert answer.end["strategy"] == "extractive"
    assert answer.text.endswith(
        f"The university also names this page for your question: “Canteen” [{len(answer.cited)}]."
    )
    assert answer.cited[-1]["url"] == CANTEEN


def test_below_what_a_model_writes_the_page_is_named_as_a_link(server: Server, llm: FakeLLM) -> None:
    published("How much is the semester contribution?")
    llm.says("The semester contribution is 318.40 euros each semester.")
    answer = asked(server, "How much is the semester contribution?")
    assert answer.end["strategy"] == "generated"
    assert answer.text.endswith(
        f"[1]\n\nThe university also names this page for your question: “Canteen” [{len(answer.cited)}]."
    )
    assert [source["url"] == CANTEEN for source in answer.cited] == [False, True]


def test_where_a_model_refuses_the_page_is_named(server: Server, llm: FakeLLM) -> None:
    published()
    llm.says("NO_ANSWER")
    answer = asked(server, QUESTION)
    assert answer.text.startswith(NAMED)
    assert answer.end["status"] == "complete"


def test_a_page_that_answers_is_quoted(server: Server) -> None:
    published("When can I have lunch?")
    answer = asked(server, "When can I have lunch?")
    assert "11:15 to 14:30" in answer.text
    assert "names this page" not in answer.text


def test_an_answer_in_the_offices_own_words_needs_no_page(server: Server) -> None:
    faq = written(question=QUESTION, answer_en="In the boat house.")
    faq.sources.create(document=Document.objects.get(url=CANTEEN), position=0)
    answer = asked(server, QUESTION)
    assert "office_answer" in answer.types
    assert "names this page" not in answer.text


WARNING = "No sentence of the linked pages seems to be about this question."


@pytest.mark.parametrize(("question", "is_warned"), [(QUESTION, True), ("When is lunch served in the canteen?", False)])
def test_whoever_links_it_is_warned_and_not_stopped(admin_client: Client, question: str, is_warned: bool) -> None:
    document = Document.objects.get(url=CANTEEN)
    form = build_form(FAQ(), question=question, status="published", documents=[document])
    page = admin_client.post(reverse("admin:faqs_faq_add"), form, follow=True).content.decode()
    assert (WARNING in page) is is_warned
    assert FAQ.objects.get().status == "published"
