"""Celery's hinges of what belongs to no app."""

from celery import shared_task


@shared_task(soft_time_limit=10, time_limit=20, expires=60)
def sign_of_life() -> None:
    """Beat queues it and a worker runs it: the sign that both do their work."""
    from marcelcms.signs_of_life import BEAT, leave_sign

    leave_sign(BEAT)
