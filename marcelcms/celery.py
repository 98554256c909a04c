"""The Celery application: `celery -A marcelcms worker` and `celery -A marcelcms beat`."""

import logging.config
import os
import time

from billiard.process import active_children
from celery import Celery
from celery.signals import heartbeat_sent, setup_logging, worker_process_init, worker_ready, worker_shutting_down
from redis import RedisError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "marcelcms.settings")

app = Celery("marcelcms", task_cls="core.tasks:Task")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()

SIGN_SECONDS = 10.0
#: Queues whose tasks embed every minute.
WARM = {"celery", "long"}
#: Tasks that find what a lost worker left behind; each does nothing where another one is at it.
LOOKS = (
    "marcelcms.tasks.requeue_lost_jobs",
    "knowledge.tasks.index_pending_documents",
    "knowledge.tasks.import_pending_uploads",
    "faqs.tasks.index_pending_faqs",
)
_signed_at = 0.0


@setup_logging.connect
def configure_logs(**_: object) -> None:
    """Configure logging from the settings; Celery would add handlers of its own."""
    from django.conf import settings

    logging.config.dictConfig(settings.LOGGING)


@worker_process_init.connect
def warm_up(**_: object) -> None:
    """Load the embedding model before the first edit needs it: an edit must count within a second.

    A worker that only crawls loads it with the first page; one that only makes reports never does: it takes memory.
    """
    if not WARM & set(app.amqp.queues.consume_from):
        return
    from core.inference.embeddings import get_embedder

    get_embedder()


@worker_ready.connect
def look_for_lost_work(**_: object) -> None:
    """Queue at once what beat queues by the clock: a worker that starts may follow one that was killed at work."""
    for name in LOOKS:
        app.send_task(name)


@heartbeat_sent.connect
def record_worker_heartbeat(**_: object) -> None:
    """Record a heartbeat from the worker's own loop, which goes on while its processes are busy for hours."""
    global _signed_at
    if time.monotonic() < _signed_at + SIGN_SECONDS:
        return
    from marcelcms.health import heartbeats

    _signed_at = time.monotonic()
    try:
        heartbeats.record_heartbeat(*(heartbeats.name_worker(queue) for queue in app.amqp.queues.consume_from))
    except RedisError as error:
        logging.getLogger(__name__).warning("no heartbeat recorded error=%s", type(error).__name__)


@worker_shutting_down.connect
def drop_tasks(how: str, **_: object) -> None:
    """End tasks that had only just been handed out when the worker was stopped: Celery has forgotten them, and
    would wait for their end while it drops the others at a first SIGQUIT. This is reached at the second one.
    Unacknowledged, they go back to the queue."""
    if how == "Cold":
        for process in active_children():
            process.terminate()


# Connects its receivers.
from marcelcms.observability import celery as _tasks  # noqa: E402, F401
