"""Changes to documents, courses and collections: check, save, queue after commit."""

import uuid
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from django.core.exceptions import ValidationError
from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from knowledge.corrections.readings import note_edit
from knowledge.courses.codes import code_key
from knowledge.courses.sync import CODES, lock_and_read, relink
from knowledge.editions.grouping import drop_small_groups
from knowledge.editions.terms import check_term
from knowledge.indexing.change_log import ABBREVIATIONS, record_change
from knowledge.indexing.flags import withhold_passages
from knowledge.ingest.files import drop_unused
from knowledge.ingest.formats.registry import suffix_of
from knowledge.models import (
    Collection,
    Course,
    Document,
    DocumentRevision,
    FlaggedText,
    Granularity,
    IndexedDocument,
    PdfUpload,
)
from knowledge.tasks import (
    import_uploaded_file,
    index_document,
    index_pending_documents,
    make_propositions,
    place_edition,
)


@transaction.atomic
def save_document(*, document: Document) -> Document:
    """Save a document and queue its indexing; raises ValidationError.

    What it changes in a text that was read from a source is a correction, which later readings keep.
    """
    document.full_clean(exclude=["collection"] if document.collection_id else None)
    try:
        check_term(document.term)
    except ValidationError as error:
        raise ValidationError({"term": error}) from error
    moved = Document.objects.filter(pk=document.pk).exclude(url=document.url).exists()
    with _sync_courses([document]):
        note_edit(document)
        document.save()
    index_document.delay_on_commit(document.pk)
    if moved:
        place_edition.delay_on_commit(document.pk)
    return document


@transaction.atomic
def set_document_status(*, documents: Iterable[Document], status: str) -> int:
    """Publish, archive or return documents to draft, with effect on the next question. Return how many changed."""
    changed = [document for document in documents if document.status != status]
    with _sync_courses(changed):
        for document in changed:
            document.status = status
            document.save(update_fields=["status", "state_hash", "content_hash", "updated_at"])
            index_document.delay_on_commit(document.pk)
    return len(changed)


@transaction.atomic
def restore_revision(*, revision: DocumentRevision) -> Document:
    """Restore an earlier version; the present one is kept as a version too. Raises ValidationError."""
    document = Document.objects.select_for_update().get(pk=revision.document_id)
    document.title, document.text = revision.title, revision.text
    return save_document(document=document)


@transaction.atomic
def reindex_documents(*, documents: Iterable[Document]) -> int:
    """Queue documents to be cut anew, changed or not; until then the old passages are searched. Return how many."""
    ids = [document.pk for document in documents]
    IndexedDocument.objects.filter(document__in=ids).delete()
    for document_id in ids:
        index_document.delay_on_commit(document_id)
    return len(ids)


@transaction.atomic
def decide_flagged(*, flagged: Iterable[FlaggedText], state: str) -> list[FlaggedText]:
    """Clear flagged texts or keep them hidden; the next question heeds it. Return those that changed."""
    chosen = {row.pk: row for row in flagged}
    # Locked like indexing does it, so that no passage is written meanwhile with what was decided before.
    documents = {row.document_id for row in chosen.values()}
    locked = list(Document.objects.filter(pk__in=documents).order_by("pk").select_for_update())
    changed = list(FlaggedText.objects.filter(pk__in=chosen).exclude(state=state).order_by("pk"))
    FlaggedText.objects.filter(pk__in=[row.pk for row in changed]).update(state=state)
    altered = {row.document_id for row in changed}
    for document in locked:
        if document.pk in altered:
            withhold_passages(document)
    for document_id in sorted(altered):
        record_change(document_id)
    return changed


@transaction.atomic
def delete_document(*, document: Document) -> None:
    """Delete a document with its passages and announce that to every lexical index."""
    document_id = document.pk
    _forget_files([document])
    with _sync_courses([document]):
        document.delete()
    drop_small_groups()
    record_change(document_id)


@transaction.atomic
def delete_documents(*, documents: Iterable[Document]) -> int:
    """Delete several documents at once, as `delete_document` does one. Return how many."""
    documents = list(documents)
    ids = [document.pk for document in documents]
    _forget_files(documents)
    with _sync_courses(documents):
        Document.objects.filter(pk__in=ids).delete()
    drop_small_groups()
    for document_id in ids:
        record_change(document_id)
    return len(ids)


@transaction.atomic
def save_collection(*, collection: Collection) -> Collection:
    """Save a collection, and queue its indexing if its granularities changed; raises ValidationError."""
    collection.granularities = [name for name in Granularity.values if name in collection.granularities]
    collection.full_clean()
    before = Collection.objects.filter(pk=collection.pk).values_list("granularities", flat=True).first() or []
    collection.save()
    if before != collection.granularities:
        index_pending_documents.delay_on_commit()
    if Granularity.PROPOSITION in set(collection.granularities) - set(before):
        make_propositions.delay_on_commit(collection.pk)
    return collection


@transaction.atomic
def announce_abbreviations() -> None:
    """Have every lexical index read the list of abbreviations anew."""
    record_change(ABBREVIATIONS)


@transaction.atomic
def save_course(*, course: Course, document: Document, required: Iterable[Course] | None = None) -> Course:
    """Save a course with its document, and update its siblings.

    The document has its address, language, collection and status. `required` are the courses that it needs besides
    those that its prerequisites name. Raises ValidationError.
    """
    collections = Document.objects.filter(pk=document.pk).values_list("collection_id", flat=True)
    before = lock_and_read({document.collection_id, *collections})
    document.title = str(course)
    if required is not None:  # from now on people say what the file's list said; what it may still find stays
        known = {code_key(entry.code) for entry in before.entries.values()}
        waiting = [code for code in document.metadata.get(CODES, ()) if code_key(code) not in known]
        document.metadata = {key: value for key, value in document.metadata.items() if key != CODES}
        document.metadata |= {CODES: waiting} if waiting else {}
    document.full_clean(exclude=["text"])
    document.save()
    course.document = document
    course.full_clean()
    course.save()
    chosen = None if required is None else {course.pk: frozenset(other.pk for other in required)}
    for document_id in {document.pk, *relink(before, changed={course.pk}, chosen=chosen)}:
        index_document.delay_on_commit(document_id)
    return course


@transaction.atomic
def upload_files(*, files: "Iterable[File[bytes]]", collection: Collection) -> list[PdfUpload]:
    """Store the files and queue their import; each upload's state shows the result.

    Raises OSError, with none of them stored.
    """
    uploads: list[PdfUpload] = []
    kept: list[str] = []
    for file in files:
        name = Path((file.name or "").replace("\\", "/")).name[-255:] or "document"
        upload = PdfUpload(name=name, collection=collection)
        own = f"{uuid.uuid4()}{suffix_of(name)}"
        kept.append(upload.file.field.generate_filename(upload, own))
        try:
            upload.file.save(own, file, save=False)
        except OSError:
            for each in kept:  # the last one half written
                default_storage.delete(each)
            raise
        upload.save()
        import_uploaded_file.delay_on_commit(upload.pk)
        uploads.append(upload)
    return uploads


@transaction.atomic
def read_files_again(*, documents: Iterable[Document]) -> int:
    """Queue the documents' own files to be read as if they had just been uploaded. Return how many have one."""
    uploads = [
        PdfUpload(name=document.metadata["file_name"][-255:], collection=document.collection, document=document)
        for document in documents
        if document.file
    ]
    for upload in uploads:
        upload.save()
        import_uploaded_file.delay_on_commit(upload.pk)
    return len(uploads)


def delete_courses(*, courses: Iterable[Course]) -> int:
    """Delete courses with their documents; their siblings no longer name them. Return how many."""
    return delete_documents(documents=[course.document for course in courses])


def _forget_files(documents: Iterable[Document]) -> None:
    """Delete the documents' files after the commit, except those that another document uses too."""
    for name in {str(document.file) for document in documents if document.file}:
        transaction.on_commit(partial(drop_unused, name))


@contextmanager
def _sync_courses(documents: Iterable[Document]) -> Iterator[None]:
    """Update the documents of sibling courses after changes to documents of courses inside the block."""
    affected = list(Course.objects.filter(document__in=[document.pk for document in documents if document.pk]))
    if not affected:
        yield
        return
    places = Document.objects.filter(course__in=affected).values_list("collection_id", flat=True)
    before = lock_and_read({*places, *(document.collection_id for document in documents)})
    yield
    for document_id in relink(before, changed={course.pk for course in affected}):
        index_document.delay_on_commit(document_id)


#: Fields of a document that its course's record writes.
WRITTEN_BY_COURSE = ["title", "url", "collection", "language", "text"]


def read_version(document: Document) -> str:
    return document.updated_at.isoformat()
