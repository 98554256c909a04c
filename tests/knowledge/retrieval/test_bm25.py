"""BM25 counts words in the collections that are searched, and in no others."""

import pytest

from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Document
from knowledge.retrieval.bm25.index import LexicalIndex
from knowledge.retrieval.bm25.weighing import measure_rarity
from knowledge.retrieval.types import Scope
from knowledge.services.documents import delete_document, save_document
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db

PARKING = [
    "A parking permit costs 12 euros.",
    "Parking is free for visitors of the library.",
    "The library lends books.",
]
QUESTIONS = ("parking permit", "library", "free parking at the library", "books", "")


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def fill(collection: Collection, *texts: str) -> list[Document]:
    documents: list[Document] = [DocumentFactory(text=text, collection=collection) for text in texts]
    for document in documents:
        sync_document(document.pk)
    return documents


def up_to_date() -> LexicalIndex:
    index = LexicalIndex(live_generation().pk)
    index.follow()
    return index


def search(index: LexicalIndex, text: str, *collections: Collection) -> list[tuple[int, int, float]]:
    return index.search(text, k=10, scope=Scope(tuple(each.pk for each in collections)))


def test_another_collection_changes_neither_results_nor_scores() -> None:
    ours, other = CollectionFactory(), CollectionFactory()
    fill(ours, *PARKING)
    index = up_to_date()
    alone = {question: search(index, question, ours) for question in QUESTIONS}
    fill(other, *["Parking, parking and more parking near the old bridge and the new one."] * 20)
    index.follow()
    assert {question: search(index, question, ours) for question in QUESTIONS} == alone
    assert {question: search(up_to_date(), question, ours) for question in QUESTIONS} == alone


def test_a_word_is_as_rare_as_it_is_in_all_collections_that_are_searched() -> None:
    ours, other = CollectionFactory(), CollectionFactory()
    (library,) = fill(ours, "library alpha")
    fill(ours, "parking beta")
    (parking,) = fill(other, "parking gamma")
    fill(other, *["library delta"] * 9)
    index = up_to_date()
    assert [hit[1] for hit in search(index, "library parking", ours)] == [library.pk, library.pk + 1]
    assert search(index, "library", ours)[0][2] == search(index, "parking", ours)[0][2]
    first, second, *rest = search(index, "library parking", ours, other)
    assert {first[1], second[1]} == {parking.pk, library.pk + 1}
    assert all(hit[2] < second[2] for hit in rest)


def test_several_collections_score_as_one_that_holds_all() -> None:
    first, second, whole = CollectionFactory(), CollectionFactory(), CollectionFactory()
    fill(first, "parking permit euros", "library books loan")
    fill(second, "parking ticket machine", "dormitory rooms rent", "library hours sunday")
    fill(
        whole,
        *("parking permit euros", "library books loan"),
        *("parking ticket machine", "dormitory rooms rent", "library hours sunday"),
    )
    index = up_to_date()
    for question in ("parking", "library sunday", "rent of rooms", "parking permit at the library"):
        apart = [score for *_, score in search(index, question, first, second)]
        assert apart == pytest.approx([score for *_, score in search(index, question, whole)], rel=1e-4)


def test_a_document_that_moves_is_found_in_its_new_collection_alone() -> None:
    ours, other = CollectionFactory(), CollectionFactory()
    document, *_ = fill(ours, *PARKING)
    index = up_to_date()
    document.collection = other
    save_document(document=document)
    sync_document(document.pk)
    index.follow()
    assert [hit[1] for hit in search(index, "permit", other)] == [document.pk]
    assert search(index, "permit", ours) == []
    delete_document(document=document)
    index.follow()
    assert search(index, "permit", ours, other) == []


def test_no_collection_and_an_unknown_one_have_nothing() -> None:
    fill(CollectionFactory(), *PARKING)
    index = up_to_date()
    assert index.search("parking", k=5, scope=Scope(())) == []
    assert index.search("parking", k=5, scope=Scope((0,))) == []


def test_a_rarer_word_weighs_more_and_a_frequent_one_still_something() -> None:
    assert measure_rarity(1, 10) > measure_rarity(5, 10) > measure_rarity(10, 10) > 0
    assert measure_rarity(12, 10) > 0  # deleted passages are still counted until Tantivy merges
