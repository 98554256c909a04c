"""Celery tasks of the FAQs: ids in, one call, safe to run twice."""

from celery import shared_task


@shared_task(soft_time_limit=240, time_limit=300, autoretry_for=(OSError,), retry_backoff=True, max_retries=5)
def index_faq(faq_id: int) -> None:
    """Index one FAQ, then look for its duplicates."""
    from faqs.duplicates import compare
    from faqs.indexing import sync_faq

    sync_faq(faq_id)
    compare(faq_id)


@shared_task(soft_time_limit=3000, time_limit=3300)
def index_pending_faqs() -> None:
    """Index what a lost task, or a broker that was away, left behind."""
    from faqs.duplicates import compare_pending
    from faqs.indexing import sync_pending

    sync_pending()
    compare_pending()
