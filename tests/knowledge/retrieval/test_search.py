"""What a question finds: words, meanings, and both together, always as the documents are now."""

import email
import json
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import OperationalError

from chat.pipeline.retrieval.profiles import PROFILES, get_profile, retrieve_with
from chat.pipeline.retrieval.retrievers.okapi import OkapiIndex
from core.db.cursors import stream_rows
from core.db.prepared import fetch_all
from core.hashing import fingerprint
from core.inference.embeddings import get_embedder
from core.terms import content_words
from knowledge.chunking.sentences import in_context
from knowledge.indexing.documents import sync_document
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Document, IndexChange, Passage, PropositionSet
from knowledge.retrieval.bm25.index import LexicalIndex
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.live_index import lexical_index
from knowledge.retrieval.scope import UnknownCollection, build_scope
from knowledge.retrieval.types import Origin, Query, Scope
from knowledge.services.documents import delete_document, save_document, set_document_status
from tests.factories import CollectionFactory, DocumentFactory
from tests.knowledge.embedders import Instant, use

pytestmark = pytest.mark.django_db

DEMO = Path(__file__).resolve().parents[3] / "marcelcms" / "demo"


@pytest.fixture(scope="module")
def demo_pages() -> list[dict[str, str]]:
    pages = [email.message_from_string(path.read_text("utf-8")) for path in sorted((DEMO / "pages").glob("*.md"))]
    return [
        {"url": page["URL"], "title": page["Title"], "language": page["Language"], "text": str(page.get_payload())}
        for page in pages
    ]


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def page(text: str, **values: object) -> Document:
    document: Document = DocumentFactory(text=text, **values)
    sync_document(document.pk)
    return document


def query(text: str) -> Query:
    embedder = get_embedder()
    return Query(text=text, vector=embedder.embed([text])[0], generation_id=live_generation().pk)


def lexical(text: str, scope: Scope | None = None, k: int = 10) -> list[int]:
    """Search documents by words, best first."""
    asked = Query(text=text, vector=None, generation_id=live_generation().pk)
    return [hit.document_id for hit in LexicalRetriever().retrieve(asked, k=k, scope=scope or build_scope())]


def dense(text: str, scope: Scope | None = None, k: int = 10) -> list[int]:
    return [hit.document_id for hit in DenseRetriever().retrieve(query(text), k=k, scope=scope or build_scope())]


# --- words ---


def test_words_find_their_pages_best_first() -> None:
    parking, library = page("A parking permit costs 12 euros."), page("The library lends books. Parking is nearby.")
    assert lexical("parking permit") == [parking.pk, library.pk]
    assert lexical("books") == [library.pk]
    assert lexical("swimming") == []


def test_words_of_title_and_headings_count() -> None:
    titled, headed = page("It costs 12 euros.", title="Parking"), page("# Dormitories\n\nIt costs 290 euros.")
    assert lexical("parking") == [titled.pk]
    assert lexical("dormitory") == [headed.pk]


def test_the_index_follows_edits_statuses_and_deletions_at_once() -> None:
    document = page("A parking permit costs 12 euros.")
    assert lexical("parking") == [document.pk]
    document.text = "A swimming course costs 12 euros."
    save_document(document=document)
    sync_document(document.pk)
    assert (lexical("parking"), lexical("swimming")) == ([], [document.pk])
    for status in ("archived", "draft"):
        set_document_status(documents=[document], status=status)
        sync_document(document.pk)
        assert lexical("swimming") == []
        set_document_status(documents=[document], status="published")
        sync_document(document.pk)
        assert lexical("swimming") == [document.pk]
    delete_document(document=document)
    assert lexical("swimming") == []


def test_every_process_follows() -> None:
    document = page("A parking permit costs 12 euros.")
    ours, other = (LexicalIndex(live_generation().pk) for _ in range(2))
    scope = build_scope()

    def found(index: LexicalIndex) -> int:
        index.follow()
        return len(index.search("parking", k=5, scope=scope))

    assert (found(ours), found(other)) == (1, 1)
    second = page("Parking is free for visitors.", collection=document.collection)
    assert (found(ours), found(other)) == (2, 2)
    delete_document(document=second)
    assert (found(ours), found(other)) == (1, 1)


def test_an_index_whose_first_loading_broke_off_has_nothing_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    first = page("Parking is free for visitors.")
    page("A parking permit costs 12 euros.", collection=first.collection)
    index = LexicalIndex(live_generation().pk)

    def broken(*arguments: Any, **options: Any) -> Iterator[Any]:
        yield next(iter(stream_rows(*arguments, **options)))
        raise OperationalError("server closed the connection unexpectedly")

    with monkeypatch.context() as patched:
        patched.setattr("knowledge.retrieval.bm25.index.stream_rows", broken)
        with pytest.raises(OperationalError):
            index.follow()
    index.follow()
    assert len(index.search("parking", k=5, scope=build_scope())) == 2


@pytest.mark.parametrize("asked", ["NFC", "NFD"])
@pytest.mark.parametrize("written", ["NFC", "NFD"])
def test_a_letter_with_a_mark_is_one_letter_however_it_is_spelled(asked: str, written: str) -> None:
    """Find NFD, which a Mac writes into names of files, and some pages have."""
    text = unicodedata.normalize(written, "Die Anmeldung läuft über das Prüfungsbüro.")  # type: ignore[arg-type]
    document = page(text, language="de")
    question = unicodedata.normalize(asked, "Prüfungsbüro")  # type: ignore[arg-type]
    assert lexical(question) == [document.pk]
    assert content_words(question) <= content_words(text)


def test_an_unchanged_index_costs_one_query(monkeypatch: pytest.MonkeyPatch) -> None:
    page("A parking permit costs 12 euros.")
    scope, asked = build_scope(), query("parking")
    lexical("parking", scope)
    statements: list[str] = []

    def counting(statement: str, *parameters: object) -> list[tuple[object, ...]]:
        statements.append(statement)
        return fetch_all(statement, *parameters)  # type: ignore[arg-type]

    monkeypatch.setattr("knowledge.retrieval.bm25.index.fetch_all", counting)
    assert LexicalRetriever().retrieve(asked, k=10, scope=scope)
    assert len(statements) == 1


def test_german_words_are_stemmed() -> None:
    document = page("Die Rückmeldungen der Studierenden enden am 15. Januar.", language="de")
    assert lexical("Rückmeldung") == lexical("RÜCKMELDUNGEN") == lexical("rückmeldungen?") == [document.pk]
    english = page("Applications are assessed by committees.")
    assert lexical("application committee") == [english.pk]


def test_another_language_is_found_by_its_very_words() -> None:
    document = page("L'inscription coûte douze euros à l'université.", language="fr")
    assert lexical("inscription université") == [document.pk]


@pytest.mark.parametrize(
    "text", ["the of and is a", "der die das und ist", "?!", " ", "🎓", "\x00", '+ - && || ! ( ) {} [] ^ " ~ * : \\ /']
)
def test_a_question_of_nothing_finds_nothing(text: str) -> None:
    page("A parking permit costs 12 euros.")
    assert lexical(text) == []


@pytest.mark.parametrize(
    "text", ["parking AND permit", "title:parking", "parking^5 ~2", '"parking permit', "park* (", "-parking"]
)
def test_query_syntax_is_only_words(text: str) -> None:
    document = page("A parking permit costs 12 euros.")
    lexical(text)
    assert lexical(f"{text} parking") == [document.pk]


def test_a_pasted_page_as_a_question_is_answered_like_any() -> None:
    document = page("A parking permit costs 12 euros.")
    assert lexical("parking " + "word " * 10_000) == [document.pk]
    assert lexical(" ".join(f"parking{number}" for number in range(10_000))) == []
    assert lexical("x" * 100_000) == []


def test_words_are_searched_within_the_scope_only() -> None:
    one, two = page("A parking permit costs 12 euros."), page("Another parking permit costs 13 euros.")
    assert lexical("parking", build_scope([one.collection.slug])) == [one.pk]
    assert lexical("parking", build_scope([two.collection.slug])) == [two.pk]
    assert sorted(lexical("parking", build_scope([one.collection.slug, two.collection.slug]))) == [one.pk, two.pk]
    assert lexical("parking", Scope(())) == []


def test_the_index_ranks_much_as_the_papers_engine_does(
    demo_pages: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    collection = CollectionFactory()
    use(monkeypatch, Instant())
    for values in demo_pages:
        if values["language"] == "en":
            sync_document(DocumentFactory(collection=collection, **values).pk)
    rows = Passage.objects.values_list("pk", "document__url", "document__title", "heading_path", "text")
    reference = OkapiIndex([(pk, "\n".join((title, *path, text))) for pk, _, title, path, text in rows])
    address = {pk: url for pk, url, *_ in rows}
    questions = [json.loads(line) for line in (DEMO / "questions.jsonl").read_text("utf-8").splitlines()]
    asked = [each for each in questions if each["answerable"] and set(each["urls"]) <= set(address.values())]
    index = lexical_index(live_generation().pk)
    index.follow()
    scope, agree, ours_right, theirs_right = build_scope(), 0, 0, 0
    for each in asked:
        ours = [pk for pk, _, _ in index.search(each["text"], k=5, scope=scope)]
        theirs = [pk for pk, _ in reference.search(each["text"], k=5)]
        agree += len({address[pk] for pk in ours} & {address[pk] for pk in theirs}) > 0
        ours_right += bool({address[pk] for pk in ours} & set(each["urls"]))
        theirs_right += bool({address[pk] for pk in theirs} & set(each["urls"]))
    assert len(asked) > 30
    assert agree / len(asked) > 0.85
    assert ours_right >= theirs_right  # stemming and stop words help, at least they do not harm
    assert ours_right / len(asked) > 0.7


# --- meanings ---


def test_meanings_find_their_pages_best_first() -> None:
    fees, library = page("Tuition fees are not charged."), page("Books can be borrowed for four weeks.")
    assert dense("What does studying cost?") == [fees.pk, library.pk]
    hits = DenseRetriever().retrieve(query("What does studying cost?"), k=1, scope=build_scope())
    assert [(hit.rank, hit.origin, hit.document_id) for hit in hits] == [(1, Origin.DENSE, fees.pk)]
    (passage,) = fees.passages.all()
    assert hits[0].score == pytest.approx(float(query("What does studying cost?").vector @ passage.embedding), abs=1e-4)


def test_meanings_heed_scope_and_status() -> None:
    one, two = page("A parking permit costs 12 euros."), page("Another parking permit costs 13 euros.")
    hidden = page("A third parking permit.", collection__searched_by_default=False)
    assert sorted(dense("parking permit")) == [one.pk, two.pk]
    assert dense("parking permit", build_scope([hidden.collection.slug])) == [hidden.pk]
    for status in ("draft", "archived"):
        Document.objects.filter(pk=one.pk).update(status=status)
        assert dense("parking permit") == [two.pk]
    assert dense("parking permit", Scope(())) == []


# --- both ---


def test_a_passage_that_both_find_comes_first() -> None:
    both = page("A parking permit costs 12 euros.")
    page("Leaving your car on campus needs a card.")
    page("A permit to stay, a work permit and a building permit: what each permit is.")
    result = retrieve_with(get_profile("bm25+dense"), "parking permit", scope=build_scope(), k=3)
    assert result.hits[0].document_id == both.pk
    assert result.hits[0].ranks == {Origin.LEXICAL: 1, Origin.DENSE: 1}
    assert [hit.rank for hit in result.hits] == [1, 2, 3]
    assert {"embed", "lexical", "dense"} <= set(result.timings_ms)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_every_profile_answers_and_says_where_from(name: str, word_reranker: None) -> None:
    text = "A parking permit costs 12 euros."
    PropositionSet.objects.create(input_hash=fingerprint(in_context("Parking", (), text)), propositions=[text])
    document = page(text, title="Parking", collection__granularities=["sentence", "proposition"])
    result = retrieve_with(get_profile(name), "parking permit", scope=build_scope(), k=5)
    assert [hit.document_id for hit in result.hits] == [document.pk]
    assert set(result.runs) == set(get_profile(name).origins)


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_no_documents_are_no_error(name: str, word_reranker: None) -> None:
    assert retrieve_with(get_profile(name), "parking permit", scope=build_scope(), k=5).hits == []


@pytest.mark.parametrize(
    "text",
    [
        "the of and is a",
        "der die das und ist",
        "parking " + "word " * 10_000,
        "Parken парковка 駐車場 موقف 🎓",
        "?!",
        "\x00",
    ],
    ids=["stop words", "Stoppwörter", "10,000 words", "many scripts", "signs", "NUL"],
)
def test_whatever_is_asked_is_ranked_or_finds_nothing(text: str, word_reranker: None) -> None:
    document = page("A parking permit costs 12 euros.")
    for name in ("default", "bm25", "bm25+faq", "bm25+dense+rerank"):
        hits = retrieve_with(get_profile(name), text, scope=build_scope(), k=5).hits
        assert {hit.document_id for hit in hits} <= {document.pk}
        assert hits or name.startswith("bm25")  # meanings always rank, words may match nothing


def test_the_scope_is_what_is_named_or_searched_by_default() -> None:
    shown, hidden = CollectionFactory(slug="a"), CollectionFactory(slug="b", searched_by_default=False)
    assert build_scope() == Scope((shown.pk,))
    assert set(build_scope(["a", "b"]).collection_ids) == {shown.pk, hidden.pk}
    with pytest.raises(UnknownCollection, match=r"called x, y. There are: a, b\."):
        build_scope(["x", "a", "y"])
    Collection.objects.all().delete()
    assert build_scope() == Scope(())
    with pytest.raises(UnknownCollection, match="none yet"):
        build_scope(["x"])


def test_an_unknown_profile_is_named_with_those_that_are_there() -> None:
    with pytest.raises(ValueError, match=r"called best. There are: default, bm25"):
        get_profile("best")


def test_a_number_of_a_change_is_there_for_every_change() -> None:
    document = page("A parking permit costs 12 euros.")
    changes = IndexChange.objects.count()
    assert changes == 1
    delete_document(document=Document.objects.get(pk=document.pk))
    assert list(IndexChange.objects.values_list("document_id", flat=True)) == [document.pk] * 2
