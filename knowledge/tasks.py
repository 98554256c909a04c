"""Celery tasks: ids in, one call, safe to run twice. Nothing heavy is imported until a task runs."""

from celery import shared_task


@shared_task(soft_time_limit=1500, time_limit=1800, autoretry_for=(OSError,), retry_backoff=True, max_retries=5)
def index_document(document_id: int) -> None:
    from knowledge.indexing.documents import sync_document

    sync_document(document_id)


@shared_task(soft_time_limit=1500, time_limit=1800)
def import_uploaded_file(upload_id: int) -> None:
    from knowledge.indexing.documents import sync_document
    from knowledge.ingest.file_importer import import_upload

    document_id = import_upload(upload_id)
    if document_id is not None:
        sync_document(document_id)


@shared_task(soft_time_limit=1500, time_limit=1800)
def import_pending_uploads() -> None:
    """Import the uploads that a lost task, or a broker that was down, left behind."""
    from knowledge.ingest.file_importer import lost_uploads

    for upload_id in lost_uploads():
        import_uploaded_file(upload_id)


#: A run of OCR: short, so that uploads need not wait long for the worker.
PICTURE_SECONDS = 120


@shared_task(soft_time_limit=1500, time_limit=1800)
def read_pictures() -> None:
    """Read some of the pages that are pictures by OCR, one at a time, if it is installed; the next run goes on."""
    from core.db.locks import Lock, advisory_lock
    from knowledge.indexing.documents import sync_document
    from knowledge.ingest.ocr.reader import is_installed
    from knowledge.ingest.recognition import read_waiting

    if not is_installed():
        return
    with advisory_lock(Lock.PICTURES) as acquired:
        if acquired:
            for document_id in read_waiting(seconds=PICTURE_SECONDS):
                sync_document(document_id)


@shared_task(soft_time_limit=3000, time_limit=3300)
def index_pending_documents() -> None:
    """Index what a lost task, or a broker that was down, left behind, and find the editions among what was there."""
    from core.db.locks import Lock, advisory_lock
    from knowledge.editions.grouping import place_pending
    from knowledge.indexing.documents import sync_pending

    with advisory_lock(Lock.PENDING_DOCUMENTS) as acquired:
        if acquired:
            sync_pending()
            place_pending()


@shared_task(soft_time_limit=240, time_limit=300)
def place_edition(document_id: int) -> None:
    """Find the editions of a document anew, whose address changed and nothing that is indexed."""
    from knowledge.editions.grouping import place_document
    from knowledge.models import Document

    if document := Document.objects.filter(pk=document_id).first():
        place_document(document)


@shared_task(soft_time_limit=3000, time_limit=3300)
def build_generation() -> None:
    """Build the generation that the settings ask for, and delete retired ones."""
    from core.db.locks import Lock, advisory_lock
    from knowledge.indexing.documents import build_pending
    from knowledge.indexing.generations import delete_retired

    with advisory_lock(Lock.NEW_GENERATION) as acquired:
        if acquired:
            build_pending()
            delete_retired()


#: A run of propositions: short, so that edits need not wait long for the worker.
PROPOSITION_SECONDS = 120


@shared_task(soft_time_limit=1500, time_limit=1800)
def make_propositions(collection_id: int | None = None) -> None:
    """Make some missing propositions, in one collection or in all; nothing without a language model."""
    from core.inference.llm.client import is_configured
    from knowledge.indexing.propositions import make

    if is_configured():
        make(collection_id, seconds=PROPOSITION_SECONDS)


#: A crawl takes as long as the pages of a site and the politeness towards it ask for.
CRAWL_SECONDS = 24 * 3600


@shared_task(time_limit=CRAWL_SECONDS)
def run_crawl(run_id: int) -> None:
    from knowledge.indexing.documents import sync_document
    from knowledge.ingest.crawl_jobs.runs import crawl

    crawl(run_id, index=sync_document)


@shared_task(time_limit=CRAWL_SECONDS)
def crawl_source(source_id: int) -> None:
    """Crawl a source on schedule; nothing if a crawl of it is running."""
    from knowledge.ingest.crawl_jobs.runs import queue_run

    run_id = queue_run(source_id)
    if run_id is not None:
        run_crawl(run_id)
