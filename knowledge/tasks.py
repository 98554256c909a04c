"""Celery's hinges: ids in, one call, safe to run twice. Nothing heavy is imported until a task runs."""

from celery import shared_task


@shared_task(soft_time_limit=1500, time_limit=1800, autoretry_for=(OSError,), retry_backoff=True, max_retries=5)
def index_document(document_id: int) -> None:
    from knowledge.indexing import sync_document

    sync_document(document_id)


@shared_task(soft_time_limit=3000, time_limit=3300)
def index_pending_documents() -> None:
    """Picks up what a lost task, or a broker that was away, left behind."""
    from knowledge.indexing import sync_pending

    sync_pending()
