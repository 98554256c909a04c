"""What staff see of a shadow test, and who may do what."""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.test import Client
from django.urls import reverse
from lxml import html
from pytest_django import DjangoAssertNumQueries

from analytics.evaluation.services import keep_as_regression
from analytics.models import EvaluationQuestion, ShadowTest
from analytics.shadow.drafts import DocumentDraft, FAQDraft
from analytics.shadow.questions import embed_asked
from analytics.shadow.run import work_on
from analytics.tasks import run_shadow_test
from chat.models import Message, RetrievalProfile
from core.inference.embeddings import get_embedder
from faqs.indexing import sync_faq
from faqs.models import FAQ, FAQVersion
from faqs.tasks import index_faq
from knowledge.models import Document
from knowledge.tasks import index_document
from tests.analytics.shadow.rows import QUESTIONS, keep, run_test, student_asks, the_assistant
from tests.factories import CitationFactory, FAQFactory, UserFactory
from tests.sent import as_sent

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("pages")]
SCRIPT = "<script>alert(1)</script>"
TESTS = reverse("admin:analytics_shadowtest_changelist")
PANEL = reverse("shadow-faq")
FAQ_EDITOR = ("analytics.add_shadowtest", "faqs.change_faq", "faqs.view_faq")


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> Mock:
    for task in (index_faq, index_document):
        monkeypatch.setattr(task, "delay", Mock())
    delay = Mock()
    monkeypatch.setattr(run_shadow_test, "delay", delay)
    return delay


def document(title: str) -> Document:
    return Document.objects.get(title=title)


def pool_faq(**values: Any) -> FAQ:
    known = {"question": "Is there a pool?", "phrasings": ["Where can I swim?"], "documents": [document("Library")]}
    faq: FAQ = FAQFactory(**known | values)
    sync_faq(faq.pk)
    return faq


def faq_form(faq: FAQ | None = None, **values: Any) -> dict[str, Any]:
    """As its form posts it."""
    phrasings = values.pop("phrasings", ["Where can I swim?"])
    documents = values.pop("documents", [document("Library").pk])
    data = {
        "question": faq.question if faq else "Is there a pool?",
        "language": "en",
        "status": "draft",
        "phrasings-TOTAL_FORMS": len(phrasings),
        "phrasings-INITIAL_FORMS": 0,
        "sources-TOTAL_FORMS": len(documents) + 1,
        "sources-INITIAL_FORMS": 0,
    }
    data |= {f"phrasings-{number}-text": text for number, text in enumerate(phrasings)}
    data |= {f"sources-{number}-document": pk for number, pk in enumerate(documents)}
    return data | values


def signed_in(client: Client, *permissions: str, **values: Any) -> Client:
    client.force_login(UserFactory(permissions=permissions, **values))
    return client


def url(test: ShadowTest, what: str = "change") -> str:
    return reverse(f"admin:analytics_shadowtest_{what}", args=[test.pk])


def start(kind: str, key: Any) -> str:
    return reverse("admin:analytics_shadowtest_start", args=[kind, key])


def finished() -> ShadowTest:
    faq = pool_faq(status="draft")
    return run_test(replace(FAQDraft.of(faq), status="published"), faq.pk)


# --- to start one ---


def test_an_unsaved_faq_is_tested_from_its_form(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Any
) -> None:
    the_assistant()
    faq = pool_faq(status="draft")
    with django_capture_on_commit_callbacks(execute=True):
        answer = admin_client.post(start("faq", faq.pk), faq_form(faq, question="May one swim?"))
    test = ShadowTest.objects.get()
    assert answer["Location"] == url(test)
    queued.assert_called_once_with(test.pk)
    assert (test.draft["question"], test.draft["status"]) == ("May one swim?", "published")
    faq.refresh_from_db()
    assert faq.question == "Is there a pool?"
    assert LogEntry.objects.filter(object_id=str(test.pk)).exists()


def test_a_double_click_starts_one_test(
    admin_client: Client, queued: Mock, django_capture_on_commit_callbacks: Any
) -> None:
    the_assistant()
    faq = pool_faq(status="draft")

    def click(question: str) -> Any:
        with django_capture_on_commit_callbacks(execute=True):
            return admin_client.post(start("faq", faq.pk), faq_form(faq, question=question))["Location"]

    first = click("May one swim?")
    assert click("May one swim?") == first
    queued.assert_called_once()
    assert LogEntry.objects.count() == 1
    assert click("Is there a swimming pool?") != first
    ShadowTest.objects.update(state="finished")
    assert click("May one swim?") != first


def test_an_unsaved_document_is_tested_from_its_form(admin_client: Client) -> None:
    the_assistant()
    library = document("Library")
    data = {
        "title": library.title,
        "url": library.url,
        "collection": library.collection_id,
        "language": "en",
        "status": "archived",
        "text": library.text,
        "audience": "programme:law, regulation:2024",
    }
    admin_client.post(start("document", library.pk), data)
    test = ShadowTest.objects.get()
    assert (test.draft["status"], test.draft["audience"]) == ("archived", ["programme:law", "regulation:2024"])
    page = admin_client.get(url(test)).content.decode()
    assert "Waits for its turn." in page
    assert "<del>published</del>" in page
    assert "Nobody has kept a question for this assistant yet" in page


def test_a_form_that_was_opened_before_somebody_saved_is_not_tested(admin_client: Client) -> None:
    """Published, it would take back what they saved."""
    the_assistant()
    for name, row, change in (("faq", pool_faq(), "reference_answer"), ("document", document("Library"), "text")):
        page = reverse(f"admin:{row._meta.app_label}_{name}_change", args=[row.pk])
        opened, theirs = (as_sent(admin_client.get(page), f"{name}_form") for _ in range(2))
        assert admin_client.post(page, theirs | {change: "Theirs."}).status_code == 302
        mine = {"valid_until": "2030-01-01"}
        answer = admin_client.post(start(name, row.pk), opened | mine)
        assert "changed since you opened its form" in answer.content.decode()
        assert not ShadowTest.objects.exists()
        anew = as_sent(admin_client.get(page), f"{name}_form")
        assert admin_client.post(start(name, row.pk), anew | mine).status_code == 302
        assert ShadowTest.objects.get().draft[change].strip() == "Theirs."
        ShadowTest.objects.all().delete()


def test_an_unsaved_profile_is_tested_from_its_form(admin_client: Client) -> None:
    the_assistant()
    profile = RetrievalProfile.objects.create(name="ours")
    profile.legs.create(retriever="lexical", weight=1, k=50)
    data = {
        "name": "ours",
        "fusion": "scores",
        "rerank_first": 0,
        "sources": 3,
        "threshold": 0.42,
        "legs-TOTAL_FORMS": 2,
        "legs-INITIAL_FORMS": 1,
        "legs-0-retriever": "lexical",
        "legs-0-weight": 1,
        "legs-0-k": 50,
        "legs-1-retriever": "dense",
        "legs-1-weight": 2,
        "legs-1-k": 40,
    }
    admin_client.post(start("profile", profile.pk), data)
    assert ShadowTest.objects.get().draft["legs"] == [["lexical", 1.0, 50], ["dense", 2.0, 40]]


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"question": ""}, "This field is required"),
        ({"documents": []}, "Link a document that answers it"),
        ({"documents": [10**9]}, "another team’s"),
        ({"valid_from": "2026-05-01", "valid_until": "2026-04-01"}, "lies before"),
    ],
)
def test_what_is_wrong_in_the_form_is_said(admin_client: Client, values: dict[str, Any], said: str) -> None:
    the_assistant()
    faq = pool_faq(status="draft")
    answer = admin_client.post(start("faq", faq.pk), faq_form(faq, **values))
    assert answer.status_code == 422
    assert said in answer.content.decode()
    assert not ShadowTest.objects.exists()


def test_a_prompt_without_a_model_is_refused_in_words(admin_client: Client) -> None:
    from chat.models import PromptVersion
    from chat.prompt_template import BUILT_IN

    the_assistant()
    version = PromptVersion.objects.create(comment="x", system=BUILT_IN.system, question=BUILT_IN.question)
    answer = admin_client.post(start("prompt", version.pk))
    assert "Instructions change nothing" in answer.content.decode()


def test_without_an_assistant_it_says_so(admin_client: Client) -> None:
    faq = pool_faq(status="draft")
    assert "no assistant" in admin_client.post(start("faq", faq.pk), faq_form(faq)).content.decode()


# --- its page ---


def test_the_page_shows_what_changes_the_worst_first(admin_client: Client) -> None:
    keep("Is there a swimming pool?", document("Library"))
    keep("Where can I swim?", document("Housing"))
    student_asks(f"Can I swim? {SCRIPT} My name is Anna Schmidt.")
    test = finished()
    page = admin_client.get(url(test)).content.decode()
    every = page + admin_client.get(url(test), {"show": "same"}).content.decode()
    assert SCRIPT not in every
    assert "Anna" not in every
    assert "[name]" in every
    for said in (
        "Without the change",
        "With the change",
        "kept question",
        "Library",
        "Publish",
        "Go back: publish nothing",
    ):
        assert said in page, said


def test_the_list_of_changes_is_narrowed(admin_client: Client) -> None:
    for text in QUESTIONS:
        keep(text, document("Library"))
    test = finished()
    shown = {
        kind: admin_client.get(url(test), {"show": kind}).context["page"].paginator.count
        for kind in ("", "worse", "better", "same", "sources", "decision", "answer", "nonsense")
    }
    assert shown[""] == shown["nonsense"] == test.changed
    assert shown["same"] == len(QUESTIONS) - test.changed
    assert (shown["worse"], shown["better"]) == (test.worse, test.better)


def unchanged_on(page: str) -> list[str]:
    """Return the questions that stand folded on a page."""
    shown = html.fromstring(page).xpath("//details[@class = 'shadow-unchanged']//h3/text()")
    return [str(text) for text in shown]


def test_a_test_that_changes_nothing_says_why_and_what_it_asked(admin_client: Client) -> None:
    student_asks("What does a room in a dormitory cost?")
    test = finished()
    assert test.changed == 0
    page = admin_client.get(url(test)).content.decode()
    for said in (
        "No question is answered otherwise with this change. Below stands why.",
        "They are not matched to this FAQ: none of its phrasings is close enough.",
    ):
        assert said in page
    assert unchanged_on(page) == ["What does a room in a dormitory cost?"]


def test_what_is_found_as_before_is_told_from_what_does_not_lead_there(admin_client: Client) -> None:
    keep("When is the library open?")
    library = document("Library")
    draft = replace(DocumentDraft.of(library), text=f"{library.text}\n\nA last line about nothing.\n")
    test = run_test(draft, library.pk)
    assert [result.unchanged for result in test.results.all()] == ["same"]
    assert "stands in the same place as without the change" in admin_client.get(url(test)).content.decode()
    housing = document("Housing")
    other = run_test(replace(DocumentDraft.of(housing), text=f"{housing.text}\n\nA last line.\n"), housing.pk)
    if [result.unchanged for result in other.results.all()] == ["not_reached"]:
        assert "This document is not found for them." in admin_client.get(url(other)).content.decode()


@pytest.mark.slow
def test_the_page_asks_the_database_as_often_for_many_results_as_for_one(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    counts = []
    for number in (1, 20):
        for place in range(number):
            keep(f"Is there a pool {number} {place}?", document("Library"))
            student_asks(f"Where can I swim {number} {place}?")
        test = finished()
        assert test.results.count() >= number
        with django_assert_max_num_queries(40) as captured:
            admin_client.get(url(test), {"show": "same"})
            admin_client.get(url(test))
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_progress_is_told(admin_client: Client) -> None:
    test = finished()
    ShadowTest.objects.update(state="running", done=3, total=9)
    answer = admin_client.get(url(test, "progress")).json()
    assert answer["message"] == "3 of 9 questions so far."
    assert (answer["counts"]["done"], answer["is_active"]) == (3, True)
    admin_client.post(url(test, "stop"))
    test.refresh_from_db()
    assert test.state == "cancelled"


# --- publish or go back ---


def test_publishing_makes_it_live_and_leaves_a_version(admin_client: Client) -> None:
    student_asks("Where can I swim?")
    test = finished()
    page = admin_client.post(url(test, "publish"), follow=True).content.decode()
    assert "is live" in page
    faq = FAQ.objects.get()
    assert faq.status == "published"
    assert FAQVersion.objects.filter(faq=faq).latest("pk").reason == "test"
    assert LogEntry.objects.filter(content_type__model="faq", object_id=str(faq.pk)).exists()
    assert "Go back: publish nothing" not in page


def test_a_form_that_was_open_while_its_test_was_published_leaves_it_published(admin_client: Client) -> None:
    student_asks("Where can I swim?")
    test = finished()
    form = reverse("admin:faqs_faq_change", args=[FAQ.objects.get().pk])
    opened = admin_client.get(form)
    admin_client.post(url(test, "publish"))
    page = admin_client.post(form, as_sent(opened, "faq_form"))
    assert "You saved it in another tab" in page.content.decode()
    assert admin_client.post(form, as_sent(page, "faq_form")).status_code == 302
    assert FAQ.objects.get().status == "published"


def test_going_back_leaves_all_as_it_was(admin_client: Client) -> None:
    test = finished()
    assert "everything is as it was" in admin_client.post(url(test, "discard"), follow=True).content.decode()
    assert FAQ.objects.get().status == "draft"
    assert "decided on already" in admin_client.post(url(test, "publish"), follow=True).content.decode()


def test_a_test_is_run_again_on_another_assistants_questions(admin_client: Client) -> None:
    from tests.factories import AssistantFactory

    test, other = finished(), AssistantFactory()
    admin_client.post(url(test, "again"), {"assistant": other.pk})
    again = ShadowTest.objects.first()
    assert again
    assert (again.assistant, again.draft) == (other, test.draft)
    assert admin_client.post(url(test, "again"), {"assistant": "x"}).status_code == 404


# --- who may ---


def test_a_test_of_another_teams_assistant_is_not_there(client: Client) -> None:
    test = finished()
    names = ("view_shadowtest", "add_shadowtest", "delete_shadowtest")
    permissions = [f"analytics.{name}" for name in names] + ["faqs.change_faq", "faqs.publish_faq", "faqs.view_faq"]
    signed_in(client, *permissions, teams=[Group.objects.create(name="Law")])
    for what in ("progress", "change"):
        assert client.get(url(test, what)).status_code in {302, 404}
    for what in ("publish", "discard", "stop", "again"):
        assert client.post(url(test, what)).status_code == 404
    assert "A change" not in client.get(TESTS).content.decode()
    assert client.post(start("faq", FAQ.objects.get().pk), faq_form()).status_code == 404
    assert client.post(f"{PANEL}?faq={FAQ.objects.get().pk}", faq_form()).status_code == 404
    test.refresh_from_db()
    assert test.decision == ""


def test_publishing_needs_the_permission_of_what_is_published(client: Client) -> None:
    test = finished()
    signed_in(client, *FAQ_EDITOR)
    assert "Go back: publish nothing" in client.get(url(test)).content.decode()
    assert url(test, "publish") not in client.get(url(test)).content.decode()
    assert client.post(url(test, "publish")).status_code == 403
    signed_in(client, *FAQ_EDITOR, "faqs.publish_faq")
    assert client.post(url(test, "publish")).status_code == 302
    assert FAQ.objects.get().status == "published"


def test_testing_needs_its_permission(client: Client) -> None:
    test = finished()
    signed_in(client, "faqs.change_faq", "faqs.view_faq", "faqs.publish_faq")
    assert client.get(url(test)).status_code == 403
    assert client.post(start("faq", test.target_id), faq_form()).status_code == 403
    assert client.post(PANEL, faq_form()).status_code == 403
    signed_in(client, "analytics.add_shadowtest")
    assert client.post(start("faq", test.target_id), faq_form()).status_code == 403


# --- beside the FAQ's form ---


def test_the_panel_shows_the_nearest_questions_that_change(admin_client: Client) -> None:
    for text in (*QUESTIONS, "Can I swim in the pool?"):
        student_asks(text)
    keep("Where is the pool?", document("Library"))
    embed_asked(get_embedder(), most=100)
    answer = admin_client.post(PANEL, faq_form(), headers={"X-Requested-With": "fetch"})
    page = answer.content.decode()
    assert "with this FAQ published" in page
    assert "Can I swim in the pool?" in page
    assert "Where is the pool?" in page
    assert "<html" not in page
    changing, staying = page.split("Questions whose answer stays as it is")
    assert "What does a room in a dormitory cost?" not in changing
    assert "What does a room in a dormitory cost?" in staying
    assert "none of its phrasings is close enough" in changing
    assert not FAQ.objects.exists()
    whole = admin_client.post(PANEL, faq_form()).content.decode()
    assert "<html" in whole
    assert "Nothing was saved." in whole


def test_the_panel_says_what_to_put_right(admin_client: Client) -> None:
    page = admin_client.post(PANEL, faq_form(documents=[]), headers={"X-Requested-With": "fetch"}).content.decode()
    assert "Link a document that answers it" in page
    assert "No student has asked anything like this" in admin_client.post(PANEL, faq_form()).content.decode()


@pytest.mark.slow
def test_the_panel_asks_the_database_as_often_for_many_questions_as_for_thirty(
    admin_client: Client, django_assert_max_num_queries: DjangoAssertNumQueries, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("analytics.shadow.comparison.HELD_SECONDS", 60)
    student_asks("Where can I swim?")
    embed_asked(get_embedder(), most=10)
    admin_client.post(PANEL, faq_form())  # loads what is loaded once
    counts = []
    for rounds in (1, 4):
        for number in range(30 * rounds):
            student_asks(f"Where can I swim in {rounds} {number} pools?")
        embed_asked(get_embedder(), most=1000)
        with django_assert_max_num_queries(900) as captured:
            admin_client.post(PANEL, faq_form(), headers={"X-Requested-With": "fetch"})
        counts.append(len(captured))
    assert counts[0] == counts[1]


def test_vectors_follow_the_questions() -> None:
    from analytics.models import AskedVector

    asked, kept = student_asks("My name is Anna Schmidt. Where can I swim?"), keep("Where is the pool?")
    student_asks("Hello!", route="chit-chat")
    assert embed_asked(get_embedder(), most=1) == 1
    assert embed_asked(get_embedder(), most=10) == 1
    assert embed_asked(get_embedder(), most=10) == 0
    kept.text = "Where is the swimming pool?"
    kept.save()
    assert embed_asked(get_embedder(), most=10) == 1
    EvaluationQuestion.objects.update(status="rejected")
    asked.delete()
    embed_asked(get_embedder(), most=10)
    assert not AskedVector.objects.exists()


# --- questions that are kept ---


def test_a_question_is_kept_with_what_was_cited(admin_client: Client) -> None:
    question = student_asks("My name is Anna Schmidt. When is the library open?")
    CitationFactory(message=question.answer, document=document("Library"))
    address = reverse("admin:analytics_shadowtest_keep", args=[question.answer.pk])
    admin_client.post(address)
    kept = EvaluationQuestion.objects.get()
    assert kept.text == "My name is [name]. When is the library open?"
    assert [judgment.document.title for judgment in kept.judgments.all()] == ["Library"]
    assert (kept.status, kept.answerable) == ("accepted", True)
    assert kept.evaluation_set.assistant == question.conversation.assistant
    assert LogEntry.objects.get().object_id == str(kept.pk)
    back = admin_client.post(address, {"next": "/admin/chat/"})
    assert back["Location"] == "/admin/chat/"
    assert admin_client.post(address, {"next": "https://evil.example/"})["Location"] == reverse("admin:index")
    assert EvaluationQuestion.objects.count() == 1


def test_what_was_looked_up_is_kept() -> None:
    question = student_asks("And on Sundays?", rewritten="library open: And on Sundays?")
    kept = keep_as_regression(message=question, by=UserFactory())
    assert (kept.text, kept.answerable) == ("library open: And on Sundays?", None)


def test_a_question_of_another_team_is_not_kept(client: Client) -> None:
    question = student_asks("When is the library open?")
    signed_in(client, "analytics.add_evaluationquestion", teams=[Group.objects.create(name="Law")])
    assert client.post(reverse("admin:analytics_shadowtest_keep", args=[question.pk])).status_code == 404
    signed_in(client)
    assert client.post(reverse("admin:analytics_shadowtest_keep", args=[question.pk])).status_code == 403
    assert Message.objects.filter(pk=question.pk).exists()


def test_buttons_stand_where_a_change_is_made(admin_client: Client) -> None:
    profile = RetrievalProfile.objects.create(name="ours")
    library = document("Library")
    pages = {
        start("document", library.pk): reverse("admin:knowledge_document_change", args=[library.pk]),
        start("profile", profile.pk): reverse("admin:chat_retrievalprofile_change", args=[profile.pk]),
    }
    for target, page in pages.items():
        assert f'formaction="{target}"' in admin_client.get(page).content.decode()


def test_a_draft_in_the_database_is_worked_on(admin_client: Client) -> None:
    student_asks("When is the library open?")
    library = document("Library")
    by = UserFactory()
    from analytics.shadow.services import start_test

    draft = replace(DocumentDraft.of(library), text="# Opening hours\n\nThe library is open from 6 am on weekdays.")
    test = start_test(draft=draft, target_id=library.pk, title="Library", assistant=the_assistant(), by=by)
    work_on(test.pk)
    page = admin_client.get(url(test)).content.decode()
    assert "6 am" in page
    assert "diff__words" in page
