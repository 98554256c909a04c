"""Celery tasks that belong to no app."""

from celery import shared_task


@shared_task(soft_time_limit=10, time_limit=20, expires=60)
def sign_of_life() -> None:
    """Record the heartbeat of beat: beat queues this and a worker runs it."""
    from marcelcms.health.heartbeats import BEAT, record_heartbeat

    record_heartbeat(BEAT)


@shared_task(soft_time_limit=60, time_limit=120)
def requeue_lost_jobs() -> None:
    """Queue the jobs of every kind that a lost worker or an unreachable broker left behind."""
    from django.apps import apps
    from django.utils.module_loading import import_string

    from core.jobs import Job

    for model in apps.get_models():
        if issubclass(model, Job):
            for job_id in model.requeue_lost():
                import_string(model.TASK).delay(job_id)


@shared_task(soft_time_limit=60, time_limit=120)
def clear_sessions() -> None:
    """Delete the sessions of staff that have ended by themselves."""
    from marcelcms.accounts.sessions import SessionStore

    SessionStore.clear_expired()
