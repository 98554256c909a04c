"""Celery's hinges of what belongs to no app."""

from celery import shared_task


@shared_task(soft_time_limit=10, time_limit=20, expires=60)
def sign_of_life() -> None:
    """Beat queues it and a worker runs it: the sign that both do their work."""
    from marcelcms.health.heartbeats import BEAT, record_heartbeat

    record_heartbeat(BEAT)
