"""A question finds the curated one it means, and that one's documents come first."""

import datetime

import pytest
from django.core.exceptions import ValidationError
from django.utils import timezone
from hypothesis import given
from hypothesis import strategies as st

from chat.pipeline.retrieval.profiles import get_profile, retrieve_with
from core.inference.embeddings import get_embedder
from faqs.indexing import sync_faq, sync_pending
from faqs.models import FAQ, FAQVector
from faqs.retriever import PASSAGES_A_DOCUMENT, FAQRetriever, Match, confidence, match
from faqs.services import set_faq_status
from faqs.tasks import index_faq, index_pending_faqs
from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Document
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Query, Scope
from tests.factories import CollectionFactory, DocumentFactory, FAQFactory
from tests.knowledge.embedders import Watched, using

pytestmark = pytest.mark.django_db
ASKED = "How much is the semester contribution?"


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqs.tasks.index_faq.delay", lambda _id: None)
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def page(text: str, **values: object) -> Document:
    document: Document = DocumentFactory(text=text, **values)
    sync_document(document.pk)
    return document


def faq(question: str, *documents: Document, phrasings: tuple[str, ...] = (), **values: object) -> FAQ:
    made: FAQ = FAQFactory(
        question=question, documents=documents, phrasings=phrasings, **{"status": "published", **values}
    )
    sync_faq(made.pk)
    return made


def query(text: str) -> Query:
    embedder = get_embedder()
    return Query(text=text, vector=embedder.embed([text])[0], generation_id=live_generation().pk)


def found(text: str = ASKED, **options: object) -> list[Match]:
    return match(query(text), scope=options.pop("scope", None) or build_scope(), **options)  # type: ignore[arg-type]


def ranked(text: str = ASKED) -> list[int]:
    """Documents by the default profile, best first."""
    hits = retrieve_with(get_profile("default"), text, scope=build_scope(), k=10).hits
    return list(dict.fromkeys(hit.document_id for hit in hits))


def test_the_closest_faq_is_found_with_its_documents_in_their_order() -> None:
    fees, ticket, other = page("It is 318.40 euros."), page("The ticket is part of it."), page("Other things.")
    close = faq("What does the semester contribution cost?", ticket, fees)
    faq("When does the library open?", other)
    matches = found()
    assert [(each.faq_id, each.document_id) for each in matches] == [(close.pk, ticket.pk), (close.pk, fees.pk)]
    assert matches[0].similarity > 0.7
    assert len({each.faq_id for each in found(faqs=2)}) == 2


def test_the_best_of_question_and_phrasings_counts() -> None:
    fees, library = page("It is 318.40 euros."), page("Opening hours.")
    phrased = faq("Money matters?", fees, phrasings=("Whatever.", ASKED))
    faq("How much is a semester ticket?", library)
    (best,) = found()
    assert (best.faq_id, best.question) == (phrased.pk, "Money matters?")
    assert best.similarity > 0.97


@pytest.mark.parametrize("status", ["draft", "in_review", "retired"])
def test_only_a_published_faq_is_found(status: str) -> None:
    faq(ASKED, page("It is 318.40 euros."), status=status)
    assert found() == []


@pytest.mark.parametrize(
    ("begins", "ends", "counts"),
    [
        (None, None, True),
        (0, 0, True),
        (-1, 1, True),
        (1, None, False),
        (None, -1, False),
        (1, 2, False),
        (-2, -1, False),
    ],
)
def test_only_a_valid_faq_is_found(begins: int | None, ends: int | None, counts: bool) -> None:
    def day(offset: int | None) -> datetime.date | None:
        return None if offset is None else timezone.localdate() + datetime.timedelta(days=offset)

    made = faq(ASKED, page("It is 318.40 euros."), valid_from=day(begins), valid_until=day(ends))
    assert bool(found()) is counts
    assert (made in FAQ.objects.published().valid_on(timezone.localdate())) is counts


def test_an_faq_counts_to_the_end_of_its_last_day_here(monkeypatch: pytest.MonkeyPatch) -> None:
    faq(ASKED, page("It is 318.40 euros."), valid_until=datetime.date(2027, 3, 31))
    for moment, counts in (("2027-03-31T21:59:00+00:00", True), ("2027-03-31T22:01:00+00:00", False)):
        monkeypatch.setattr("django.utils.timezone.now", lambda at=moment: datetime.datetime.fromisoformat(at))
        assert bool(found()) is counts


@pytest.mark.parametrize("status", ["draft", "archived"])
def test_a_document_that_is_not_published_is_never_found(status: str) -> None:
    hidden, shown = page("It is 318.40 euros."), page("A ticket is included.")
    faq(ASKED, hidden, shown)
    second = faq("How much is the contribution each semester?", shown)
    Document.objects.filter(pk=hidden.pk).update(status=status)
    assert [each.document_id for each in found()] == [shown.pk]
    Document.objects.filter(pk=shown.pk).update(status=status)
    assert found() == []
    assert second.sources.exists()


def test_an_faq_whose_documents_are_all_out_of_scope_makes_room_for_the_next() -> None:
    here, there = (
        page("It is 318.40 euros."),
        page("A ticket.", collection=CollectionFactory(searched_by_default=False)),
    )
    faq(ASKED, there)
    next_best = faq("What is the semester contribution?", here)
    assert [each.faq_id for each in found()] == [next_best.pk]
    assert [each.document_id for each in found(scope=build_scope([there.collection.slug]))] == [there.pk]
    assert found(scope=Scope(())) == []


def test_a_handbook_does_not_fill_the_list_and_its_closest_passages_count() -> None:
    parts = "\n\n".join(f"# Part {number}\n\nSome rule about matter {number}." for number in range(9))
    book = page(f"{parts}\n\n# Fees\n\nThe semester contribution is 318.40 euros.")
    faq(ASKED, book)
    passages = [each.passage_id for each in found()]
    assert len(passages) == PASSAGES_A_DOCUMENT
    assert book.passages.get(pk=passages[0]).heading == "Fees"


def test_a_match_steers_by_how_sure_it_is() -> None:
    assert [confidence(value) for value in (-1, 0.0, 0.3, 0.7, 0.9, 1.0)] == pytest.approx([0, 0, 0, 1, 1, 1])
    assert confidence(0.55) == pytest.approx(0.25)
    fees = page("It is 318.40 euros.")
    faq(ASKED, fees)
    for text, least, most in ((ASKED, 1.0, 1.0), ("Where may I park my bicycle?", 0.0, 0.05)):
        (hit,) = FAQRetriever().retrieve(query(text), k=5, scope=build_scope())
        assert least <= hit.confidence <= most
        (hard,) = FAQRetriever(steering=False).retrieve(query(text), k=5, scope=build_scope())
        assert hard.confidence == 1.0


@given(st.floats(-1, 1), st.floats(-1, 1))
def test_a_closer_match_never_steers_less(one: float, other: float) -> None:
    low, high = sorted((one, other))
    assert 0 <= confidence(low) <= confidence(high) <= 1


# --- what staff do shows in the next search ---


def test_publishing_retiring_and_editing_show_in_the_next_search() -> None:
    said, curated = page("The semester contribution is 318.40 euros."), page("All about money.", title="Money")
    made = faq(ASKED, curated, status="draft")
    assert ranked()[0] == said.pk
    set_faq_status(faqs=[made], status="published")
    assert ranked()[0] == curated.pk
    set_faq_status(faqs=[made], status="retired")
    assert ranked()[0] == said.pk
    set_faq_status(faqs=[made], status="published")
    made.question = "Where may I park my bicycle?"
    made.save()
    sync_faq(made.pk)
    assert ranked()[0] == said.pk
    assert ranked("Where may I park my bicycle?")[0] == curated.pk


def test_a_new_phrasing_shows_in_the_next_search() -> None:
    page("The semester contribution is 318.40 euros.")
    curated = page("All about money.", title="Money")
    made = faq("Money matters?", curated)
    made.phrasings.create(text=ASKED)
    watched = Watched()
    with using(watched):
        assert sync_faq(made.pk) == 1
    assert watched.seen == [ASKED]
    assert ranked()[0] == curated.pk
    made.phrasings.all().delete()
    assert sync_pending() == 1
    assert ranked()[0] != curated.pk


def test_an_faq_without_documents_cannot_be_published_and_nothing_else_is() -> None:
    good, bad = faq("A?", page("It."), status="draft"), faq("B?", status="draft")
    with pytest.raises(ValidationError, match="B"):
        set_faq_status(faqs=[good, bad], status="published")
    assert set(FAQ.objects.values_list("status", flat=True)) == {"draft"}
    assert set_faq_status(faqs=[bad], status="retired") == 1


def test_a_status_says_how_many_it_changed() -> None:
    made = faq("A?", page("It."), status="draft")
    assert set_faq_status(faqs=[made], status="published") == 1
    assert set_faq_status(faqs=[made], status="published") == 0


def test_publishing_queues_the_indexing_only_after_the_commit(
    monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    queued: list[int] = []
    monkeypatch.setattr("faqs.tasks.index_faq.delay", queued.append)
    made = faq("A?", page("It."), status="draft")
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        set_faq_status(faqs=[made], status="published")
        assert queued == []
    assert queued == [made.pk]


def test_an_unchanged_faq_is_not_embedded_again() -> None:
    made = faq("A?", page("It."), phrasings=("B?",))
    with using(Watched()) as watched:
        assert (sync_faq(made.pk), watched.seen) == (0, [])


def test_an_edit_while_it_is_embedded_is_not_lost() -> None:
    faq = FAQFactory(question="How much is the old fee?")

    def edit() -> None:
        FAQ.objects.filter(pk=faq.pk).update(question="When does the library open?")

    edits = iter([edit])
    with using(Watched(before=lambda: [each() for each in edits])):
        sync_faq(faq.pk)
    assert [vector.text for vector in FAQVector.objects.filter(faq=faq)] == ["When does the library open?"]


def test_tasks_may_run_twice_and_after_the_faq_is_gone() -> None:
    made = faq("A?", page("It."))
    index_faq(made.pk)
    index_faq(made.pk + 1000)
    index_pending_faqs()
    assert FAQVector.objects.count() == 1
