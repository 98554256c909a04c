"""A change tried before it goes live: nothing of it is seen by anybody, and what it shows is what is served then."""

from dataclasses import replace
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from analytics.models import ShadowTest
from analytics.shadow import run as shadow_run
from analytics.shadow.drafts import DRAFTS, DocumentDraft, FAQDraft, ProfileDraft, PromptDraft
from analytics.shadow.overlays import DocumentOverlay, FAQOverlay, ProfileOverlay
from analytics.shadow.run import work_on
from analytics.shadow.services import cancel_test, discard_test, publish_test, repeat_test, start_test
from analytics.tasks import run_shadow_test
from chat.models import PromptVersion, RetrievalProfile
from faqs.indexing import sync_faq
from faqs.models import FAQ, FAQSource, FAQVector, Phrasing
from faqs.tasks import index_faq
from knowledge.indexing.documents import sync_document
from knowledge.models import Document, DocumentRevision, IndexChange, Passage
from knowledge.retrieval.bm25.index import newest_change
from knowledge.tasks import index_document
from tests.analytics.shadow.rows import (
    QUESTIONS,
    keep,
    list_sources,
    looked_up,
    run_test,
    served,
    student_asks,
    the_assistant,
)
from tests.factories import FAQFactory, UserFactory

pytestmark = [pytest.mark.slow, pytest.mark.django_db, pytest.mark.usefixtures("pages")]
TABLES = (FAQ, Phrasing, FAQSource, FAQVector, Document, DocumentRevision, Passage, IndexChange)


@pytest.fixture(autouse=True)
def queued(monkeypatch: pytest.MonkeyPatch) -> None:
    for task in (run_shadow_test, index_faq, index_document):
        monkeypatch.setattr(task, "delay", Mock())


@pytest.fixture
def asked() -> None:
    for text in QUESTIONS:
        student_asks(text)


def document(title: str) -> Document:
    return Document.objects.get(title=title)


def contents() -> dict[str, list[tuple[Any, ...]]]:
    """Every row that a change could touch."""
    return {
        model.__name__: sorted((tuple(map(str, row)) for row in model.objects.values_list()), key=str)
        for model in TABLES
    }


def pool_faq(**values: Any) -> FAQ:
    """Leads whoever asks for the pool to the library."""
    faq: FAQ = FAQFactory(
        question="Is there a pool?",
        phrasings=["Where can I swim?"],
        documents=[document("Library")],
        reference_answer="The library is open from 8 am.",
        **values,
    )
    sync_faq(faq.pk)
    return faq


def new_text(text: str) -> DocumentDraft:
    draft = DocumentDraft.of(document("Library"))
    return replace(draft, text=text)


POOL = (
    "# Opening hours\n\nThe library is closed on Sundays.\n\n# Swimming pool\n\nThe swimming pool is open every day.\n"
)


# --- nothing of it is seen ---


@pytest.mark.usefixtures("asked")
def test_a_test_changes_no_row_and_no_index() -> None:
    faq = pool_faq(status="published")
    before, number, now_served = contents(), newest_change(), list_sources(served())
    looked_up(FAQOverlay(replace(FAQDraft.of(faq), status="retired", phrasings=("Where do I park?",)), faq.pk))
    looked_up(FAQOverlay(replace(FAQDraft.of(faq), question="What does a room cost?"), None))
    looked_up(DocumentOverlay(new_text(POOL), document("Library").pk))
    assert contents() == before
    assert newest_change() == number
    assert list_sources(served()) == now_served


def test_a_short_question_after_another_topic_is_looked_up_as_it_is_served() -> None:
    question = keep("Dormitory room?")
    question.history = [["user", "How do I get a refund of the semester ticket?"], ["assistant", "By 30 April."]]
    question.save()
    now_served = served()
    assert now_served[0].turn.begins_anew
    found = looked_up(DocumentOverlay(new_text(POOL), document("Library").pk))
    assert list_sources([each.before for each in found]) == list_sources(now_served)
    assert found[0].before.turn == now_served[0].turn


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("asked")
def test_others_are_served_as_before_while_a_change_is_laid() -> None:
    faq = pool_faq(status="published")
    now_served = list_sources(served())
    draft = replace(FAQDraft.of(faq), status="retired")
    changes = (FAQOverlay(draft, faq.pk), DocumentOverlay(new_text(POOL), document("Library").pk))
    for overlay in changes:
        seen: list[Any] = []
        lay = overlay.lay

        def laid(lay: Any = lay, seen: list[Any] = seen) -> None:
            lay()
            seen.append(in_another_thread(lambda: list_sources(served())))

        overlay.lay = laid  # type: ignore[method-assign]
        looked_up(overlay)
        assert seen
        assert all(each == now_served for each in seen)


def in_another_thread(work: Any) -> Any:
    """On a connection of its own, as another request."""
    from concurrent.futures import ThreadPoolExecutor

    def close_after() -> Any:
        try:
            return work()
        finally:
            connection.close()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(close_after).result()


# --- it shows what is served then ---


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "change",
    [
        {"status": "published"},
        {"status": "published", "question": "What does a dormitory cost?", "phrasings": ()},
        {"status": "published", "reference_answer": "A loan is renewed online."},
    ],
)
def test_an_faq_published_is_served_as_its_test_showed(change: dict[str, Any]) -> None:
    faq = pool_faq(status="draft")
    draft = replace(FAQDraft.of(faq), **change)
    shown = list_sources([each.after for each in looked_up(FAQOverlay(draft, faq.pk))])
    assert shown != list_sources(served())
    publish_test(test=run_test(draft, faq.pk), by=UserFactory())
    sync_faq(faq.pk)
    assert list_sources(served()) == shown


@pytest.mark.usefixtures("asked")
def test_an_faq_retired_or_newly_written_is_served_as_its_test_showed() -> None:
    faq = pool_faq(status="published")
    draft = replace(FAQDraft.of(faq), status="retired")
    shown = list_sources([each.after for each in looked_up(FAQOverlay(draft, faq.pk))])
    publish_test(test=run_test(draft, faq.pk), by=UserFactory())
    assert list_sources(served()) == shown
    fresh = replace(draft, status="published", question="When may I swim?", phrasings=())
    shown = list_sources([each.after for each in looked_up(FAQOverlay(fresh, None))])
    made = FAQ()
    fresh.onto(made)
    made.save()
    fresh.write_parts(made)
    sync_faq(made.pk)
    assert list_sources(served()) == shown


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    "change",
    [
        {"text": POOL},
        {"text": "# Lending\n\nA dormitory lends books for four weeks."},
        {"title": "Swimming pool and library"},
        {"status": "archived"},
        {"valid_until": "2020-01-01"},
        {"audience": ("programme:law",)},
        {"language": "de"},
    ],
    ids=lambda change: "-".join(change),
)
def test_a_document_published_is_served_as_its_test_showed(change: dict[str, Any]) -> None:
    library = document("Library")
    served()  # the shared index is there before the change, as in a process that answers
    draft = DocumentDraft.load(DocumentDraft.of(library).dump() | change)
    shown = list_sources([each.after for each in looked_up(DocumentOverlay(draft, library.pk))])
    publish_test(test=run_test(draft, library.pk), by=UserFactory())
    sync_document(library.pk)
    assert list_sources(served()) == shown


@pytest.mark.usefixtures("asked")
def test_a_draft_document_is_served_as_its_test_showed() -> None:
    library = document("Library")
    Document.objects.filter(pk=library.pk).update(status="draft", state_hash="")
    sync_document(library.pk)
    served()
    draft = replace(DocumentDraft.of(document("Library")), status="published")
    found = looked_up(DocumentOverlay(draft, library.pk))
    shown = list_sources([each.after for each in found])
    assert shown != list_sources([each.before for each in found]) == list_sources(served())
    publish_test(test=run_test(draft, library.pk), by=UserFactory())
    sync_document(library.pk)
    assert list_sources(served()) == shown


@pytest.mark.usefixtures("asked")
def test_sentences_of_a_changed_document_are_compared_too() -> None:
    library = document("Library")
    library.collection.granularities = ["sentence"]
    library.collection.save()
    sync_document(library.pk)
    assistant = the_assistant()
    assistant.profile = RetrievalProfile.objects.create(name="sentences")
    assistant.profile.legs.create(retriever="dense-sentence", weight=1, k=20)
    assistant.save()
    shown = list_sources([each.after for each in looked_up(DocumentOverlay(new_text(POOL), library.pk))])
    assert any("swimming pool is open" in str(each) for each in shown)
    publish_test(test=run_test(new_text(POOL), library.pk), by=UserFactory())
    sync_document(library.pk)
    assert list_sources(served()) == shown


@pytest.mark.usefixtures("asked")
def test_a_profile_published_is_served_as_its_test_showed() -> None:
    profile = RetrievalProfile.objects.create(name="ours", threshold=0.0, sources=6)
    profile.legs.create(retriever="lexical", weight=1, k=50)
    assistant = the_assistant()
    assistant.profile = profile
    assistant.save()
    live = ProfileDraft.of(profile)
    draft = replace(live, sources=2, threshold=0.5, legs=(("dense", 1.0, 30),))
    shown = list_sources([each.after for each in looked_up(ProfileOverlay(draft, live))])
    test = run_test(draft, profile.pk)
    assert test.changed
    publish_test(test=test, by=UserFactory())
    assert list_sources(served()) == shown


# --- the whole set ---


def test_better_and_worse_are_told_where_somebody_said_what_is_right() -> None:
    library, housing = document("Library"), document("Housing")
    keep("What does a room in a dormitory cost?", housing)
    keep("Is there a pool on campus?", library)
    keep("Who is the dean of chemistry?", answerable=False)
    student_asks("Where is a pool?")
    faq = pool_faq(status="draft")
    ways = ("Where can I swim?", "What does a room in a dormitory cost?")
    test = run_test(replace(FAQDraft.of(faq), status="published", phrasings=ways), faq.pk)
    assert (test.state, test.done, test.total) == ("finished", 4, 4), test.message
    verdicts = {result.question.text if result.question else "asked": result for result in test.results.all()}
    assert verdicts["What does a room in a dormitory cost?"].verdict == "worse"
    assert test.results.order_by("-severity").first() == verdicts["What does a room in a dormitory cost?"]
    assert verdicts["Is there a pool on campus?"].verdict == "better"
    assert verdicts["Who is the dean of chemistry?"].severity == 0
    assert verdicts["asked"].verdict == "unknown"
    assert (test.worse, test.better) == (1, 1)
    first = verdicts["Is there a pool on campus?"].after["sources"][0]
    assert first == {"document": library.pk, "title": "Library", "url": library.url}


def test_a_quoted_answer_that_changes_is_shown() -> None:
    keep("When is the library open?", document("Library"))
    draft = new_text(POOL.replace("closed on Sundays", "open from 6 am to midnight on weekdays"))
    test = run_test(draft, document("Library").pk)
    result = test.results.get()
    assert result.answer_changed
    assert "8 am" in result.before["answer"]
    assert "6 am" in result.after["answer"]


def test_without_a_question_a_test_ends_at_once() -> None:
    test = run_test(new_text(POOL), document("Library").pk)
    assert (test.state, test.total) == ("finished", 0)


def test_a_test_goes_on_where_its_worker_died(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in QUESTIONS:
        keep(text, document("Library"))
    monkeypatch.setattr("analytics.shadow.comparison.BATCH", 2)
    real, calls = shadow_run.with_answers, []

    def dies_once(found: Any) -> Any:
        calls.append(found)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return real(found)

    monkeypatch.setattr(shadow_run, "with_answers", dies_once)
    with pytest.raises(KeyboardInterrupt):
        run_test(new_text(POOL), document("Library").pk)
    test = ShadowTest.objects.get()
    assert (test.state, test.results.count()) == ("running", 3)
    assert list(ShadowTest.requeue_lost()) == []
    ShadowTest.objects.update(heartbeat_at=test.created_at - 2 * ShadowTest.LOST_AFTER)
    assert list(ShadowTest.requeue_lost()) == [test.pk]
    work_on(test.pk)
    test.refresh_from_db()
    assert (test.state, test.done, test.results.count()) == ("finished", 6, 6)
    assert len(calls) == 7


def test_a_stopped_test_stays_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    for text in QUESTIONS[:3]:
        keep(text, document("Library"))
    real = shadow_run.with_answers

    def stopped(found: Any) -> Any:
        cancel_test(test=ShadowTest.objects.get())
        return real(found)

    monkeypatch.setattr(shadow_run, "with_answers", stopped)
    test = run_test(new_text(POOL), document("Library").pk)
    assert (test.state, test.results.count()) == ("cancelled", 0)


def test_a_target_that_changes_meanwhile_ends_the_test() -> None:
    test = start_test(
        draft=new_text(POOL),
        target_id=document("Library").pk,
        title="A change",
        assistant=the_assistant(),
        by=UserFactory(),
    )
    Document.objects.filter(title="Library").update(text="# Another text")
    work_on(test.pk)
    test.refresh_from_db()
    assert test.state == "failed"
    assert "changed by somebody" in test.message


# --- publish or go back ---


def test_what_changed_since_is_not_published() -> None:
    faq = pool_faq(status="draft")
    test = run_test(replace(FAQDraft.of(faq), status="published"), faq.pk)
    Phrasing.objects.create(faq=faq, text="Can one swim here?")
    with pytest.raises(ValidationError, match="changed by somebody"):
        publish_test(test=test, by=UserFactory())
    test.refresh_from_db()
    faq.refresh_from_db()
    assert (test.decision, faq.status) == ("", "draft")
    with pytest.raises(ValidationError, match="changed by somebody"):
        repeat_test(test=test, assistant=the_assistant(), asks_model=False, by=UserFactory())
    faq.delete()
    with pytest.raises(ValidationError, match="gone"):
        publish_test(test=test, by=UserFactory())


def test_a_decision_is_made_once() -> None:
    faq, by = pool_faq(status="draft"), UserFactory()
    test = run_test(replace(FAQDraft.of(faq), status="published"), faq.pk)
    discard_test(test=test, by=by)
    with pytest.raises(ValidationError, match="decided"):
        publish_test(test=test, by=by)
    test.refresh_from_db()
    faq.refresh_from_db()
    assert (test.decision, test.decided_by, faq.status) == ("discarded", by, "draft")


def test_an_faq_without_a_document_is_not_published() -> None:
    faq = pool_faq(status="draft")
    test = run_test(replace(FAQDraft.of(faq), status="published", documents=()), faq.pk)
    with pytest.raises(ValidationError, match="has no answer yet"):
        publish_test(test=test, by=UserFactory())


def test_nothing_is_tested_where_nothing_changed() -> None:
    with pytest.raises(ValidationError, match="nothing to test"):
        run_test(DocumentDraft.of(document("Library")), document("Library").pk)


# --- prompts ---


def test_a_prompt_changes_nothing_without_a_model() -> None:
    version = new_version()
    with pytest.raises(ValidationError, match="no language model"):
        run_test(PromptDraft(version.pk), version.pk)


def test_a_prompt_is_tried_by_asking_the_model_twice(llm: Any) -> None:
    keep("How much is the semester contribution?", document("Fees"))
    version = new_version()
    llm.answers = []
    test = run_test(PromptDraft(version.pk), version.pk)
    assert (test.state, test.done) == ("finished", 1), test.message
    assert test.prompt_tokens > 0
    publish_test(test=test, by=UserFactory())
    assert the_assistant().prompt == version


def new_version() -> PromptVersion:
    from chat.prompt_template import BUILT_IN

    version: PromptVersion = PromptVersion.objects.create(
        comment="Shorter", system=BUILT_IN.system + "\nBe brief.", question=BUILT_IN.question
    )
    return version


def test_drafts_survive_the_database() -> None:
    faq = pool_faq(status="draft", valid_from="2026-01-01")
    faq.refresh_from_db()
    profile = RetrievalProfile.objects.create(name="ours")
    profile.legs.create(retriever="lexical", weight=1.5, k=50)
    drafts = (
        FAQDraft.of(faq),
        DocumentDraft.of(document("Library")),
        ProfileDraft.of(profile),
        PromptDraft.of(the_assistant()),
    )
    for draft in drafts:
        assert DRAFTS[draft.kind].load(draft.dump()) == draft
