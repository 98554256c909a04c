"""Celery tasks that belong to no app."""

from celery import shared_task


@shared_task(soft_time_limit=10, time_limit=20, expires=60)
def sign_of_life() -> None:
    """Record the heartbeat of beat: beat queues this and a worker runs it."""
    from marcelcms.health.heartbeats import BEAT, record_heartbeat

    record_heartbeat(BEAT)
