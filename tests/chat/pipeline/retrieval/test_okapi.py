"""The baseline of published systems: BM25Okapi over passages and over whole pages."""

import pytest
from rank_bm25 import BM25Okapi

from chat.pipeline.retrieval.profiles import PROFILES, retrieve_with
from chat.pipeline.retrieval.retrievers.okapi import OkapiIndex, OkapiRetriever, words
from knowledge.indexing.documents import sync_document
from knowledge.models import Document, Passage
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import Retrieval
from tests.factories import CollectionFactory, DocumentFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def page(text: str, **values: object) -> Document:
    document: Document = DocumentFactory(text=text, **values)
    sync_document(document.pk)
    return document


def found(question: str, *, profile: str = "okapi") -> Retrieval:
    return retrieve_with(PROFILES[profile], question, scope=build_scope(), k=10)


def test_scores_are_those_of_the_library_with_lower_cased_words() -> None:
    texts = ["The Library opens at 8.", "Fees are due in July.", "Libraries lend books, fees apply."]
    library = BM25Okapi([words(text) for text in texts], k1=1.5, b=0.75)
    ranked = OkapiIndex(list(enumerate(texts))).search("library FEES", k=3)
    assert dict(ranked) == dict(enumerate(library.get_scores(["library", "fees"])))
    assert [text for text, _ in ranked] == sorted(dict(ranked), key=lambda text: -dict(ranked)[text])
    assert OkapiIndex([]).search("library", k=3) == []


def test_words_are_not_stemmed_and_a_change_is_found_by_the_next_question() -> None:
    first = page("The library lends books.")
    page("Fees are due in July.")
    page("Bicycles are parked in the yard.")
    assert found("lends").hits[0].document_id == first.pk
    changed = page("Nobody lends or borrows here; one lends nothing, lends never.")
    assert found("lends").hits[0].document_id == changed.pk


def test_only_the_scopes_passages_are_scored() -> None:
    inside = page("The library lends books.")
    page("The library lends ships.", collection=CollectionFactory(searched_by_default=False))
    page("The library lends cars.", valid_until="2001-01-01")
    withheld = page("The library lends everything.")
    Passage.objects.filter(document=withheld).update(is_withheld=True)
    assert {hit.document_id for hit in found("What does the library lend?").hits} == {inside.pk}


def test_marcels_profile_ranks_whole_pages_by_their_best_passage() -> None:
    section = "Words about nothing of this kind fill a section. " * 60
    long = page(f"# Rules\n\n{section}\n\n# Loans\n\nThe library lends bicycles and laptops for a week.")
    page("Fees are due in July.")
    page("The canteen is open at noon.")
    retrieval = found("Does the library lend laptops?", profile="marcel")
    assert set(retrieval.runs) == {"okapi-pages", "faq"}
    run = retrieval.runs["okapi-pages"]
    assert [hit.document_id for hit in run].count(long.pk) == 1
    assert "laptops" in Passage.objects.get(pk=run[0].passage_id).text
    assert run[0].document_id == long.pk
    assert Passage.objects.filter(document=long).count() > 1


def test_an_index_is_built_once_for_questions_about_the_same_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    page("The library lends books.")
    built: list[int] = []
    monkeypatch.setattr(
        "chat.pipeline.retrieval.retrievers.okapi.OkapiIndex.__init__",
        lambda self, texts: (built.append(len(texts)), setattr(self, "_bm25", None))[0],
    )
    retriever = OkapiRetriever()
    query = found("books", profile="bm25").query
    for _ in range(2):
        retriever.retrieve(query, k=5, scope=build_scope())
    assert built == [1]
