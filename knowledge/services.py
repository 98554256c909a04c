"""What staff and imports do to documents: check, save, queue after commit."""

from collections.abc import Iterable

from django.db import transaction

from knowledge.changes import record_change
from knowledge.models import Document
from knowledge.queueing import queue_after_commit
from knowledge.tasks import index_document


@transaction.atomic
def save_document(*, document: Document) -> Document:
    """Saves it and has it indexed; raises ValidationError."""
    document.full_clean(exclude=["collection"] if document.collection_id else None)
    document.save()
    queue_after_commit(index_document, document.pk)
    return document


@transaction.atomic
def set_document_status(*, documents: Iterable[Document], status: str) -> int:
    """Publishes, archives or returns to draft; retrieval heeds it at once. Returns how many changed."""
    changed = [document for document in documents if document.status != status]
    for document in changed:
        document.status = status
        document.save(update_fields=["status", "state_hash", "content_hash", "updated_at"])
        queue_after_commit(index_document, document.pk)
    return len(changed)


@transaction.atomic
def delete_document(*, document: Document) -> None:
    """Deletes it with its passages and tells every lexical index."""
    document_id = document.pk
    document.delete()
    record_change(document_id)


@transaction.atomic
def delete_documents(*, documents: Iterable[Document]) -> int:
    """Deletes several at once, as `delete_document` does one. Returns how many."""
    ids = [document.pk for document in documents]
    Document.objects.filter(pk__in=ids).delete()
    for document_id in ids:
        record_change(document_id)
    return len(ids)
