"""Celery's hinges: one call, safe to run twice."""

from celery import shared_task


@shared_task(soft_time_limit=3000, time_limit=3300)
def delete_old_conversations() -> None:
    from chat.retention import delete_old_conversations as delete

    delete()
