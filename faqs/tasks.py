"""Celery tasks of the FAQs: ids in, one call, safe to run twice."""

from celery import shared_task


@shared_task(soft_time_limit=240, time_limit=300, autoretry_for=(OSError,), retry_backoff=True, max_retries=5)
def index_faq(faq_id: int) -> None:
    """Index one FAQ, then look for its duplicates, and have what is learned from it fitted anew."""
    from faqs.duplicates import compare
    from faqs.indexing import sync_faq
    from faqs.matching.changes import collections_of

    sync_faq(faq_id)
    compare(faq_id)
    for collection_id in collections_of([faq_id]):
        fit_matcher.delay_on_commit(collection_id)


@shared_task(soft_time_limit=840, time_limit=900)
def fit_matcher(collection_id: int) -> None:
    """Fit how a collection's FAQs are matched; nothing if no example has changed, as after each but the first of many
    edits at once."""
    from faqs.matching.refit import refit_pending

    refit_pending([collection_id])


@shared_task(soft_time_limit=3000, time_limit=3300)
def index_pending_faqs() -> None:
    """Index what a lost task, or a broker that was away, left behind."""
    from faqs.duplicates import compare_pending
    from faqs.indexing import sync_pending
    from faqs.matching.refit import refit_pending

    sync_pending()
    compare_pending()
    refit_pending()
