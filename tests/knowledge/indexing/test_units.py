"""Sentences and propositions follow their passages, and a question finds passages by them."""

import json
import threading
from datetime import timedelta
from io import StringIO
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from core.hashing import fingerprint
from core.inference.embeddings import get_embedder
from knowledge.chunking.sentences import in_context, sentences
from knowledge.indexing.documents import sync_document, sync_pending
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Document, Granularity, IndexedDocument, PropositionSet, Unit
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Hit, Query, Scope
from knowledge.services.documents import save_collection
from knowledge.tasks import index_pending_documents, make_propositions
from tests.factories import CollectionFactory, DocumentFactory
from tests.knowledge.embedders import Instant, Watched, using

pytestmark = pytest.mark.django_db

TEXT = (
    "# Lending\n\nBooks are lent for four weeks. A loan is renewed online.\n\n"
    "# Fees\n\nA late book costs 2 euros. A lost one is paid for."
)


@pytest.fixture
def document() -> Document:
    collection = CollectionFactory(slug="library", granularities=["sentence"])
    document: Document = DocumentFactory(title="Library", text=TEXT, collection=collection)
    sync_document(document.pk)
    return document


def texts(granularity: str = "sentence") -> list[str]:
    units = Unit.objects.filter(granularity=granularity).order_by("passage__position", "position")
    return list(units.values_list("text", flat=True))


def killed_unless(call: str | None) -> None:
    if call:
        raise OSError("killed")


def is_whole(document: Document) -> bool:
    return not Document.objects.needing_index(live_generation().pk).filter(pk=document.pk).exists()


def propose(title: str, path: tuple[str, ...], text: str, propositions: list[str]) -> None:
    PropositionSet.objects.create(
        input_hash=fingerprint(in_context(title, path, text)), prompt_version="1", propositions=propositions
    )


def ask(text: str, granularity: Granularity, *, k: int = 10, scope: Scope | None = None) -> list[Hit]:
    query = Query(text=text, vector=get_embedder().embed([text])[0], generation_id=live_generation().pk)
    return DenseRetriever(granularity).retrieve(query, k=k, scope=scope or build_scope())


# --- sentences of a passage ---


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("It costs 2 euros. It is due in May.", ["It costs 2 euros.", "It is due in May."]),
        ("- Bring your card.\n- Be on time.\n1. Sign it.", ["Bring your card.", "Be on time.", "Sign it."]),
        ("> Quoted words.", ["Quoted words."]),
        ("See [the **fees**](https://www.uni.example/fees).", ["See [the **fees**](https://www.uni.example/fees)."]),
        ("## A heading\n\nIts text.", ["Its text."]),
        ("| Room | Price |\n|:---|---:|\n| Single | 290 € |", ["| Single | 290 € |"]),
        ("-\n\n***\n\n| --- |\n\n42.\n\n[](https://www.uni.example/page)", []),
        ("", []),
    ],
)
def test_a_passage_has_the_sentences_that_say_something(text: str, expected: list[str]) -> None:
    found = sentences(text)
    assert [each.text for each in found] == expected
    assert [text[each.begin : each.end] for each in found] == expected


def test_a_heading_that_stands_alone_is_no_sentence() -> None:
    assert sentences("Opening hours", ("Library", "Opening hours")) == []


# --- units follow ---


def test_every_sentence_has_a_unit_with_its_place_and_a_vector_that_knows_the_context(document: Document) -> None:
    assert texts() == [
        "Books are lent for four weeks.",
        "A loan is renewed online.",
        "A late book costs 2 euros.",
        "A lost one is paid for.",
    ]
    unit = Unit.objects.select_related("passage").get(text="A loan is renewed online.")
    assert unit.passage.text[unit.begin : unit.end] == unit.text
    (expected,) = get_embedder().embed(["Library\nLending\nA loan is renewed online."])
    assert expected @ unit.embedding > 0.98
    assert is_whole(document)


def test_only_the_sentences_of_changed_passages_are_embedded(document: Document) -> None:
    kept = set(Unit.objects.filter(passage__heading_path=["Lending"]).values_list("pk", flat=True))
    document.text = TEXT.replace("2 euros", "3 euros")
    document.save()
    with using(Watched()) as watched:
        sync_document(document.pk)
    assert [text.rpartition("\n")[2] for text in watched.seen] == [
        "A late book costs 3 euros. A lost one is paid for.",
        "A late book costs 3 euros.",
        "A lost one is paid for.",
    ]
    assert kept < set(Unit.objects.values_list("pk", flat=True))
    assert len(texts()) == 4
    with using(Watched()) as watched:
        sync_document(document.pk)
    assert watched.seen == []


def test_a_document_is_not_whole_before_its_sentences_are_there(
    document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    document.text = TEXT.replace("2 euros", "3 euros")
    document.save()
    calls = iter([None])
    with pytest.raises(OSError, match="killed"), using(Watched(before=lambda: killed_unless(next(calls, "2nd")))):
        sync_document(document.pk)
    assert document.passages.filter(text__contains="3 euros").exists()
    assert not is_whole(document)
    assert sync_pending() == 1
    assert is_whole(document)
    assert "A late book costs 3 euros." in texts()


def test_sentences_come_and_go_with_what_the_collection_asks_for(
    document: Document, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    queued, proposing = Mock(), Mock()
    monkeypatch.setattr(index_pending_documents, "delay", queued)
    monkeypatch.setattr(make_propositions, "delay", proposing)
    collection = document.collection
    for granularities, expected in (([], 0), (["sentence"], 4)):
        collection.granularities = granularities
        with django_capture_on_commit_callbacks(execute=True):
            save_collection(collection=collection)
        assert not is_whole(document)
        with using(Watched()) as watched:
            sync_pending()
        assert (len(texts()), len(watched.seen)) == (expected, expected)
        assert is_whole(document)
    with django_capture_on_commit_callbacks(execute=True):
        save_collection(collection=collection)
    assert (queued.call_count, proposing.call_count) == (2, 0)
    collection.granularities = ["proposition", "sentence"]
    with django_capture_on_commit_callbacks(execute=True):
        save_collection(collection=collection)
    assert collection.granularities == ["sentence", "proposition"]
    proposing.assert_called_once_with(collection.pk)


def test_propositions_not_made_yet_keep_nothing_waiting(document: Document) -> None:
    propose(
        "Library", ("Fees",), "A late book costs 2 euros. A lost one is paid for.", ["Returning late costs 2 euros."]
    )
    Collection.objects.update(granularities=["sentence", "proposition"])
    sync_pending()
    assert texts("proposition") == ["Returning late costs 2 euros."]
    assert (len(texts()), is_whole(document)) == (4, True)


def test_an_edit_during_embedding_starts_it_again(document: Document) -> None:
    document.text = TEXT.replace("2 euros", "3 euros")
    document.save()
    edits = iter([None, lambda: Document.objects.get(pk=document.pk)])

    def edit() -> None:
        if load := next(edits, None):
            fresh = load()
            fresh.text = TEXT.replace("2 euros", "4 euros")
            fresh.save()
            sync_document(fresh.pk)

    with using(Watched(before=edit)):
        sync_document(document.pk)
    assert texts()[2] == "A late book costs 4 euros."
    assert len(texts()) == 4
    assert is_whole(document)


def test_an_edit_just_before_its_sentences_are_recorded_is_not_taken_for_whole(document: Document) -> None:
    IndexedDocument.objects.update(granularities=[])
    edits = iter([None])

    def edit_first(execute: Any, statement: str, *arguments: Any) -> Any:
        if "FOR UPDATE OF" in statement and next(edits, "done") is None:
            document.text = TEXT.replace("2 euros", "3 euros")
            document.save()
            calls = iter([None])
            with (
                pytest.raises(OSError, match="killed"),
                using(Watched(before=lambda: killed_unless(next(calls, "2nd")))),
            ):
                sync_document(document.pk)
        return execute(statement, *arguments)

    with connection.execute_wrapper(edit_first):
        sync_document(document.pk)
    assert next(edits, "edited") == "edited"
    assert texts()[2] == "A late book costs 3 euros."
    assert is_whole(document)


def test_a_long_document_is_embedded_in_bounded_batches() -> None:
    many = "\n\n".join(
        f"# Part {n}\n\n" + " ".join(f"It costs {n} euros at place {m}." for m in range(8)) for n in range(90)
    )
    document = DocumentFactory(text=many, collection__granularities=["sentence"])
    sizes: list[int] = []

    class Counting(Instant):
        def embed(self, texts: Any) -> Any:
            sizes.append(len(texts))
            return super().embed(texts)

    with using(Counting()):
        sync_document(document.pk)
    assert Unit.objects.count() == 720
    assert max(sizes[1:]) <= 300
    assert sum(sizes[1:]) == 720


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_make_each_sentence_once() -> None:
    collection = CollectionFactory(granularities=["sentence"])
    document: Document = DocumentFactory(title="Library", text=TEXT, collection=collection)
    live_generation()
    together = threading.Barrier(2, timeout=10)
    meetings = iter([1] * 4)
    failures: list[BaseException] = []

    def work() -> None:
        try:
            sync_document(document.pk)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    def meet() -> None:
        if next(meetings, 0):
            together.wait()

    threads = [threading.Thread(target=work) for _ in range(2)]
    with using(Watched(before=meet)):
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert not failures, failures
    assert len(texts()) == 4
    assert is_whole(document)


# --- a question finds ---


def test_a_passage_is_found_by_its_nearest_sentence(document: Document) -> None:
    hits = ask("How much is a late book?", Granularity.SENTENCE)
    assert [(hit.rank, hit.origin.value) for hit in hits] == [(1, "dense-sentence"), (2, "dense-sentence")]
    assert hits[0].matched == "A late book costs 2 euros."
    assert hits[0].passage_id == document.passages.get(heading_path=["Fees"]).pk
    assert hits[0].score > hits[1].score


def test_many_near_sentences_of_one_passage_do_not_crowd_out_the_others() -> None:
    collection = CollectionFactory(granularities=["sentence"])
    near = " ".join(f"A parking permit costs {n} euros." for n in range(14))
    documents = [
        DocumentFactory(collection=collection, title=f"{n}", text=text)
        for n, text in enumerate([near, "Bicycles may be left anywhere.", "Soup is served at noon."])
    ]
    sync_pending()
    hits = ask("What is a parking permit?", Granularity.SENTENCE, k=3)
    assert {hit.document_id for hit in hits} == {document.pk for document in documents}
    assert hits[0].document_id == documents[0].pk


@pytest.mark.parametrize("granularity", Granularity)
def test_finer_parts_heed_the_whole_scope(granularity: Granularity) -> None:
    text, today = "A parking permit costs 12 euros.", timezone.localdate()
    collection = CollectionFactory(granularities=["sentence", "proposition"])
    propose("Parking", (), text, ["Parking costs 12 euros."])
    values = {
        "valid": {},
        "archived": {"status": "archived"},
        "past": {"valid_until": today - timedelta(days=1)},
        "future": {"valid_from": today + timedelta(days=1)},
        "mine": {"audience": ["regulation:2024"]},
        "theirs": {"audience": ["regulation:2019"]},
        "german": {"language": "de"},
    }
    by_name = {
        name: DocumentFactory(title="Parking", text=text, collection=collection, **each).pk
        for name, each in values.items()
    }
    sync_pending()
    assert Unit.objects.filter(granularity=granularity).count() == len(values)
    found = ask("parking permit", granularity, scope=build_scope(language="en", audience=["regulation:2024"]))
    assert {hit.document_id for hit in found} == {by_name["valid"], by_name["mine"]}
    assert ask("parking permit", granularity, scope=Scope(())) == []


# --- doors ---


def search(*arguments: str) -> tuple[str, str]:
    out, err = StringIO(), StringIO()
    call_command("search", "How much is a late book?", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def test_search_marks_the_sentence(document: Document) -> None:
    shown, said = search("--profile", "dense-sentence")
    assert "»A late book costs 2 euros.« A lost one" in shown
    assert said == ""
    rows = json.loads(search("--profile", "dense-sentence", "--json")[0])
    assert rows[0]["matched"] == "A late book costs 2 euros."
    assert list(rows[0])[:-1] == list(json.loads(search("--profile", "dense", "--json")[0])[0])


def test_search_says_that_there_are_no_propositions(document: Document) -> None:
    shown, said = search("--profile", "dense-proposition")
    assert shown.strip() == "Nothing was found."
    assert "have no propositions" in said


@pytest.mark.django_db(transaction=True)
def test_the_page_to_try_a_question_marks_the_sentence_and_nothing_else(
    admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(connection.settings_dict, "CONN_MAX_AGE", 0)
    collection = CollectionFactory(granularities=["sentence"])
    DocumentFactory(collection=collection, text="Hello there. A late book costs <b>2</b> euros. Bye.")
    sync_pending()
    query = {"question": "How much is a late book?", "profile": "dense-sentence"}
    page = admin_client.get("/admin/try/", query).content.decode()
    assert "Hello there. <mark>A late book costs &lt;b&gt;2&lt;/b&gt; euros.</mark> Bye." in page
    assert "<b>2</b>" not in page


def test_staff_choose_the_parts_of_a_collection_and_see_how_many_there_are(
    admin_client: Client, document: Document, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: Any
) -> None:
    queued = Mock()
    monkeypatch.setattr(index_pending_documents, "delay", queued)
    monkeypatch.setattr(make_propositions, "delay", Mock())
    address = reverse("admin:knowledge_collection_change", args=[document.collection_id])
    assert "Sentences: 4" in admin_client.get(address).content.decode()
    form = {"name": "Library", "slug": "library", "granularities": ["proposition", "sentence"]}
    form |= {"abbreviations-TOTAL_FORMS": "0", "abbreviations-INITIAL_FORMS": "0"}
    with django_capture_on_commit_callbacks(execute=True):
        assert admin_client.post(address, form).status_code == 302
    assert Collection.objects.get().granularities == ["sentence", "proposition"]
    queued.assert_called_once_with()
    page = admin_client.get(address).content.decode()
    assert "Propositions: 0" in page
    assert "Passages without propositions: 2" in page
    assert "need a language model" in page
    assert admin_client.post(address, form | {"granularities": ["words"]}).status_code == 200


def test_the_list_of_collections_takes_as_many_queries_for_20_as_for_2(admin_client: Client) -> None:
    counts = []
    for more in (2, 18):
        for _ in range(more):
            DocumentFactory(collection__granularities=["sentence"])
        with CaptureQueriesContext(connection) as queries:
            page = admin_client.get(reverse("admin:knowledge_collection_changelist"))
        assert "sentences" in page.content.decode()
        counts.append(len(queries))
    assert counts[0] == counts[1]
