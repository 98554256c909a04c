"""The admin's page to try a question."""

from typing import Any

import pytest
from django.db import connections
from django.test import Client
from django.urls import reverse

from chat.models import Conversation
from chat.pipeline.question import Question
from chat.pipeline.retrieval.profiles import PROFILES
from chat.playground.trial import Trial, try_question
from core.inference.embeddings import EmbeddingUnavailable
from faqs.indexing import sync_faq
from knowledge.indexing.documents import sync_pending
from knowledge.models import Collection, Document
from tests.conftest import QUESTION, load_pages
from tests.factories import AssistantFactory, CollectionFactory, FAQFactory, UserFactory

#: Answers are made in threads, which see what is committed only.
pytestmark = pytest.mark.django_db(transaction=True)
URL = "/admin/try/"


@pytest.fixture(autouse=True)
def _connections_end_with_their_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that a thread kept would outlive the thread, and the test database."""
    monkeypatch.setitem(connections["default"].settings_dict, "CONN_MAX_AGE", 0)


def ask(client: Client, question: str, **query: Any) -> str:
    page = client.get(URL, {"question": question, **query})
    assert page.status_code == 200
    return str(page.content.decode())


def tried(ask: Question) -> Trial:
    (trial,) = try_question([ask])
    return trial


def faq_on_fees() -> Any:
    faq = FAQFactory(
        question="How high is the semester contribution?",
        status="published",
        documents=[Document.objects.get(url="https://www.uni.example/fees")],
    )
    sync_faq(faq.pk)
    return faq


def test_it_shows_every_ranking_the_faq_the_evidence_and_the_answer(admin_client: Client, pages: None) -> None:
    faq = faq_on_fees()
    page = ask(admin_client, QUESTION)
    assert "318.40 euros" in page
    assert "quoted from pages" in page
    assert "pages are quoted from" in page
    for name in ("Same words", "Same meaning", "Curated FAQs"):
        assert f'<h3 class="rankings__title">{name}</h3>' in page
    assert reverse("admin:faqs_faq_change", args=[faq.pk]) in page
    assert reverse("admin:knowledge_document_change", args=[faq.documents.get().pk]) in page
    assert 'href="https://www.uni.example/fees' in page
    assert not Conversation.objects.exists()


@pytest.mark.parametrize("profile", sorted(set(PROFILES) - {"dense-proposition"}))
def test_the_shares_add_up_to_the_score(pages: None, profile: str, word_reranker: None) -> None:
    faq_on_fees()
    Collection.objects.update(granularities=["sentence"])
    sync_pending()
    search = tried(Question(QUESTION, profile=PROFILES[profile])).search
    assert search
    assert search.fused
    for row in search.fused:
        assert sum(share.value for share in row.shares) == pytest.approx(row.score)
    assert {ranking.origin for ranking in search.rankings} == set(PROFILES[profile].origins)
    assert [faq.steers for faq in search.faqs] == ([True] if search.matches_faqs else [])


def test_a_question_that_pages_do_not_answer_shows_the_abstention_and_its_contact(
    admin_client: Client, pages: None
) -> None:
    AssistantFactory(contact_name="Student Services", contact_email="help@uni.example")
    page = ask(admin_client, "Who won the football world cup of 1954?")
    assert "The pages that were found are too far from the question." in page
    assert "too low: pages are quoted from" in page
    assert "Student Services" in page


def test_collections_narrow_the_search(admin_client: Client, pages: None) -> None:
    CollectionFactory(slug="empty")
    assert "318.40" in ask(admin_client, QUESTION, collection=["site", "empty"])
    page = ask(admin_client, QUESTION, collection=["empty"])
    assert "318.40" not in page
    assert "Nothing was found" in page


def test_without_a_choice_the_assistant_s_collections_count(admin_client: Client, pages: None) -> None:
    AssistantFactory().collections.add(CollectionFactory(slug="empty"))
    assert "Nothing was found" in ask(admin_client, QUESTION)


def test_a_profile_without_faqs_shows_none(admin_client: Client, pages: None) -> None:
    faq_on_fees()
    page = ask(admin_client, QUESTION, profile="bm25")
    assert "This profile does not look at FAQs." in page
    assert "318.40" in page


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("", "Please type a question first."),
        ("  \t ", "Please type a question first."),
        ("?!", "There are no words in it"),
        ("a" * 2001, "Please shorten it to 2000."),
    ],
)
def test_what_is_no_question_gets_a_clear_message(admin_client: Client, question: str, said: str) -> None:
    page = ask(admin_client, question)
    assert said in page
    assert "What a student would read" not in page


@pytest.mark.parametrize("query", [{"profile": "nonsense"}, {"collection": "nonsense"}])
def test_an_address_with_an_unknown_choice_gets_a_message(admin_client: Client, query: dict[str, str]) -> None:
    page = ask(admin_client, QUESTION, **query)
    assert "nonsense is not one of the available choices" in page


def test_where_the_embedder_cannot_be_loaded_the_answer_is_there_and_the_rankings_say_why_not(
    admin_client: Client, pages: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_args: Any, **_kwargs: Any) -> Any:
        raise EmbeddingUnavailable("The package is missing.")

    monkeypatch.setattr("chat.playground.trial.retrieve_with", fail)
    page = ask(admin_client, QUESTION)
    assert "The package is missing." in page
    assert "318.40" in page


def test_documents_faqs_and_the_question_are_never_markup(admin_client: Client) -> None:
    nasty = "<script>alert('contribution')</script>"
    load_pages(
        [
            {
                "url": "https://www.uni.example/x",
                "title": nasty,
                "text": f"# {nasty}\n\nThe contribution is {nasty} euros.",
            }
        ]
    )
    faq = FAQFactory(question=nasty, status="published", documents=Document.objects.all())
    sync_faq(faq.pk)
    page = ask(admin_client, f"What is the contribution {nasty}?")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page


def test_a_model_writes_the_answer_where_there_is_one(admin_client: Client, pages: None, llm: Any) -> None:
    page = ask(admin_client, QUESTION)
    assert "written by the model" in page


@pytest.mark.parametrize("permission", ["chat.view_conversation", "faqs.view_faq"])
def test_staff_who_read_conversations_or_faqs_may_try(client: Client, pages: None, permission: str) -> None:
    client.force_login(UserFactory(permissions=[permission]))
    assert URL in client.get("/admin/").content.decode()
    page = ask(client, QUESTION)
    assert "318.40" in page
    assert "/admin/knowledge/document/" not in page


def test_other_staff_may_not_and_are_not_offered_it(client: Client) -> None:
    client.force_login(UserFactory(permissions=["knowledge.view_document"]))
    assert client.get(URL).status_code == 403
    assert URL not in client.get("/admin/").content.decode()


def test_whoever_is_no_staff_is_asked_to_log_in(client: Client) -> None:
    assert client.get(URL).headers["Location"].startswith("/admin/login/")


def test_the_first_page_has_a_box_for_it(admin_client: Client) -> None:
    page = admin_client.get("/admin/").content.decode()
    assert f'action="{URL}"' in page
    assert "MarcelCMS" in page


def test_no_page_of_the_admin_needs_inline_code(admin_client: Client, pages: None) -> None:
    answer = admin_client.get(URL, {"question": QUESTION})
    assert "script-src 'self'" in answer.headers["Content-Security-Policy"]
    for inline in ("<style", "style=", "onclick=", "<script>"):
        assert inline not in answer.content.decode()


def test_it_says_how_the_words_of_the_question_were_read(admin_client: Client, pages: None) -> None:
    page = ask(admin_client, "How high is the semster fee, and is the libary open?")
    assert "How its words were read" in page
    assert "“semster” was read as “semester”." in page
    others = "“semester fees”, “semester contribution”"
    assert f"“semester fee” was also looked up as words for the same thing: {others}." in page
    assert "How its words were read" not in ask(admin_client, "Is the semster fee paid?", profile="bm25")
