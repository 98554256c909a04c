"""Every version of a document is kept, whoever changes it."""

import pytest

from knowledge.ingest.importer import document_record, import_records
from knowledge.models import Document, DocumentRevision
from knowledge.services.documents import save_document, set_document_status
from tests.factories import DocumentFactory

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _nothing_is_queued(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("knowledge.tasks.index_document.delay", lambda _id: None)


def versions(document: Document) -> list[tuple[str, str]]:
    return list(document.revisions.order_by("pk").values_list("title", "text"))


def test_a_new_document_has_no_versions_and_an_edit_keeps_the_one_before() -> None:
    document = DocumentFactory(title="Fees", text="It is 300 euros.")
    assert versions(document) == []
    document.text = "It is 318 euros."
    save_document(document=document)
    document.title = "All fees"
    save_document(document=document)
    assert versions(document) == [("Fees", "It is 300 euros."), ("Fees", "It is 318 euros.")]
    first, second = document.revisions.order_by("pk")
    assert first.made_at == document.created_at
    assert first.replaced_at <= second.made_at <= second.replaced_at


def test_what_is_not_the_text_makes_no_version() -> None:
    document = DocumentFactory()
    document.language = "de"
    save_document(document=document)
    set_document_status(documents=[document], status="archived")
    assert versions(document) == []


def test_an_import_keeps_the_version_it_replaces() -> None:
    document = DocumentFactory(url="https://www.uni.example/fees", title="Fees", text="It is 300 euros.")
    record = document_record({"url": document.url, "title": "Fees", "text": "It is 318 euros."})
    import_records([(1, record)], collection=document.collection)
    import_records([(1, record)], collection=document.collection)
    assert versions(document) == [("Fees", "It is 300 euros.")]


def test_text_and_status_changes_are_dated_for_what_relies_on_the_document() -> None:
    document = DocumentFactory()
    assert document.altered_at is None
    document.language = "de"
    save_document(document=document)
    document.refresh_from_db()
    assert document.altered_at is None
    set_document_status(documents=[document], status="archived")
    document.refresh_from_db()
    assert (archived := document.altered_at)
    document.text = "New."
    save_document(document=document)
    assert document.altered_at > archived


def test_versions_go_with_their_document() -> None:
    document = DocumentFactory()
    document.text = "New."
    document.save()
    document.delete()
    assert not DocumentRevision.objects.exists()
