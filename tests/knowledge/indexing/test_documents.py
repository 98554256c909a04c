"""Passages and vectors follow their documents, and nothing is embedded twice."""

import threading

import pytest
from django.db import connection

from core.inference.embeddings import EmbeddingUnavailable, get_embedder
from knowledge.indexing.documents import sync_document, sync_pending
from knowledge.indexing.generations import live_generation
from knowledge.models import Document, IndexChange, Passage
from knowledge.services.documents import delete_document, save_document, set_document_status
from knowledge.tasks import index_document, index_pending_documents
from tests.factories import DocumentFactory, is_indexed
from tests.knowledge.embedders import Instant, Watched, using

pytestmark = pytest.mark.django_db

TEXT = "# One\n\nFirst part.\n\n# Two\n\nSecond part.\n\n# Three\n\nThird part."


@pytest.fixture
def document() -> Document:
    document: Document = DocumentFactory(title="Page", text=TEXT)
    sync_document(document.pk)
    return document


def edit(document: Document, **values: str) -> None:
    fresh = Document.objects.get(pk=document.pk)
    for name, value in values.items():
        setattr(fresh, name, value)
    fresh.save()


def ids() -> dict[str, int]:
    return dict(Passage.objects.values_list("text", "pk"))


def test_a_document_is_cut_and_every_passage_has_its_vector(document: Document) -> None:
    passages = list(document.passages.all())
    assert [(passage.position, passage.heading_path, passage.text) for passage in passages] == [
        (0, ["One"], "First part."),
        (1, ["Two"], "Second part."),
        (2, ["Three"], "Third part."),
    ]
    (expected,) = get_embedder().embed(["Page\nTwo\nSecond part."])
    assert expected @ passages[1].embedding > 0.98
    document.refresh_from_db()
    assert is_indexed(document)


def test_an_unchanged_document_is_left_alone(document: Document) -> None:
    watched, changes = Watched(), IndexChange.objects.count()
    with using(watched):
        report = sync_document(document.pk)
    assert (report.embedded, watched.seen) == (0, [])
    assert IndexChange.objects.count() == changes


def test_only_what_changed_is_embedded_and_the_other_rows_stay(document: Document) -> None:
    before, watched = ids(), Watched()
    edit(document, text=TEXT.replace("Second", "Another"))
    with using(watched):
        report = sync_document(document.pk)
    assert watched.seen == ["Page\nTwo\nAnother part."]
    assert (report.embedded, report.kept, report.removed) == (1, 2, 1)
    after = ids()
    assert {text: after[text] for text in ("First part.", "Third part.")} == {
        text: before[text] for text in ("First part.", "Third part.")
    }


def test_moved_parts_keep_their_rows_and_vectors(document: Document) -> None:
    before, watched = ids(), Watched()
    edit(document, text="# Three\n\nThird part.\n\n# One\n\nFirst part.\n\n# Two\n\nSecond part.")
    with using(watched):
        sync_document(document.pk)
    assert watched.seen == []
    assert ids() == before
    assert document.passages.get(position=0).text == "Third part."


def test_a_part_that_stands_there_twice_is_embedded_once(document: Document) -> None:
    watched = Watched()
    edit(document, text="# A\n\nThe same.\n\n# A\n\nThe same.\n\n# One\n\nFirst part.")
    with using(watched):
        sync_document(document.pk)
    assert watched.seen == ["Page\nA\nThe same."]
    assert document.passages.count() == 3


def test_a_new_title_is_embedded_with_every_part(document: Document) -> None:
    watched = Watched()
    edit(document, title="New")
    with using(watched):
        assert sync_document(document.pk).embedded == 3
    assert all(text.startswith("New\n") for text in watched.seen)


def test_a_document_that_became_empty_has_no_passages(document: Document) -> None:
    edit(document, text=" \n")
    assert sync_document(document.pk).removed == 3
    document.refresh_from_db()
    assert is_indexed(document)


@pytest.mark.slow
def test_a_page_of_one_long_line_is_cut_to_the_embedders_window() -> None:
    line = "The semester contribution is 318.40 euros and it is due in May " * 3200
    assert len(line) > 200_000
    document, embedder = DocumentFactory(text=line), Instant()
    with using(embedder):
        sync_document(document.pk)
    texts = list(document.passages.order_by("position").values_list("text", flat=True))
    assert len(texts) > 200
    assert max(map(embedder.count_tokens, texts)) <= 200
    assert max(map(embedder.count_tokens, embedder.seen)) <= 254
    assert "".join("".join(texts).split()) == "".join(line.split())


def test_an_edit_while_it_is_embedded_is_not_lost(document: Document) -> None:
    edit(document, text="# One\n\nSecond version.")
    edits = iter(["# One\n\nThird version."])
    watched = Watched(before=lambda: [edit(document, text=text) for text in edits])
    with using(watched):
        sync_document(document.pk)
    assert list(ids()) == ["Third version."]
    assert [text.rpartition("\n")[2] for text in watched.seen] == ["Second version.", "Third version."]
    document.refresh_from_db()
    assert is_indexed(document)


def test_a_document_deleted_while_it_is_embedded_is_gone(document: Document) -> None:
    edit(document, text="# One\n\nSecond version.")
    watched = Watched(before=lambda: delete_document(document=Document.objects.get(pk=document.pk)))
    with using(watched):
        sync_document(document.pk)
    assert not Passage.objects.exists()
    assert sync_document(document.pk).embedded == 0


def test_an_embedder_that_fails_leaves_what_was_there(document: Document) -> None:
    def fail() -> None:
        raise EmbeddingUnavailable("no")

    before = ids()
    edit(document, text="# One\n\nSecond version.")
    with pytest.raises(EmbeddingUnavailable), using(Watched(before=fail)):
        sync_document(document.pk)
    assert ids() == before
    assert sync_pending() == 1


@pytest.mark.django_db(transaction=True)
def test_two_workers_at_once_make_each_passage_once() -> None:
    document: Document = DocumentFactory(title="Page", text=TEXT)
    together = threading.Barrier(2, timeout=10)
    failures: list[BaseException] = []
    met = iter([None, None])
    live_generation()

    def work() -> None:
        try:
            sync_document(document.pk)
        except BaseException as error:
            failures.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(2)]
    with using(Watched(before=lambda: next(met, "both met") or together.wait())):  # type: ignore[arg-type, return-value]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(20)
    assert not failures, failures
    assert sorted(Passage.objects.values_list("position", "text")) == [
        (0, "First part."),
        (1, "Second part."),
        (2, "Third part."),
    ]


def test_what_was_left_is_indexed_from_the_newest_on_while_a_queue_has_the_oldest_first() -> None:
    documents = DocumentFactory.create_batch(4)
    sync_pending()
    order = IndexChange.objects.order_by("pk").values_list("document_id", flat=True)
    assert list(order) == [document.pk for document in reversed(documents)]


@pytest.mark.django_db(transaction=True)
def test_changes_are_numbered_in_the_order_of_their_commits() -> None:
    documents = DocumentFactory.create_batch(6)

    def work(pk: int) -> None:
        try:
            sync_document(pk)
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=[document.pk]) for document in documents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert IndexChange.objects.count() == 6


def test_tasks_may_run_twice_and_after_the_document_is_gone(document: Document) -> None:
    index_document(document.pk)
    index_document(document.pk)
    index_document(document.pk + 1000)
    index_pending_documents()
    assert Passage.objects.count() == 3


def test_saving_queues_the_indexing_only_after_the_commit(
    document: Document, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    queued: list[int] = []
    monkeypatch.setattr(index_document, "delay", queued.append)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        document.text = "New."
        save_document(document=document)
        assert queued == []
    assert queued == [document.pk]


def test_a_broker_that_is_away_does_not_lose_an_edit(
    document: Document, monkeypatch: pytest.MonkeyPatch, django_capture_on_commit_callbacks: object
) -> None:
    from kombu.exceptions import OperationalError

    def away(_id: int) -> None:
        raise OperationalError("away")

    monkeypatch.setattr(index_document, "delay", away)
    with django_capture_on_commit_callbacks(execute=True):  # type: ignore[operator]
        document.text = "# One\n\nNew."
        save_document(document=document)
    index_pending_documents()
    assert list(ids()) == ["New."]


def test_a_status_says_how_many_it_changed(document: Document) -> None:
    assert set_document_status(documents=[document], status="archived") == 1
    assert set_document_status(documents=[document], status="archived") == 0
    document.refresh_from_db()
    assert document.status == "archived"
