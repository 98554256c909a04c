"""Metrics of workers: tasks' counts and seconds in Valkey, and the id of the request that caused each task.

A worker's processes come and go and listen on no port, so their figures are summed up where `collecting` reads them.
"""

import logging
import time
from collections.abc import Mapping
from typing import Any

from celery.signals import before_task_publish, task_postrun, task_prerun
from django.conf import settings
from redis import RedisError
from structlog.contextvars import bind_contextvars

from core.redis import valkey
from marcelcms.observability import logs

logger = logging.getLogger(__name__)

#: Hashes by `task|state`: how many, and how many seconds.
COUNTS, SECONDS = "marcelcms:tasks:count", "marcelcms:tasks:seconds"
HEADER = "marcelcms_request_id"
_started: dict[str, float] = {}


@before_task_publish.connect
def send_request_id(headers: dict[str, Any] | None = None, **_: object) -> None:
    if headers is not None and (request_id := logs.current()):
        headers[HEADER] = request_id


@task_prerun.connect
def begin_task(task_id: str = "", task: Any = None, **_: object) -> None:
    logs.begin(str(getattr(task.request, HEADER, None) or ""))
    bind_contextvars(task=task.name)
    _started[task_id] = time.perf_counter()


@task_postrun.connect
def end_task(task_id: str = "", task: Any = None, state: str | None = None, **_: object) -> None:
    seconds = time.perf_counter() - _started.pop(task_id, time.perf_counter())
    field = f"{task.name}|{state or 'UNKNOWN'}"
    try:
        with valkey(settings.REDIS_URL).pipeline(transaction=False) as pipeline:
            pipeline.hincrby(COUNTS, field, 1)
            pipeline.hincrbyfloat(SECONDS, field, seconds)
            pipeline.execute()
    except RedisError as error:
        logger.warning("task not counted error=%s", type(error).__name__)
    logs.end()


def task_figures() -> Mapping[tuple[str, str], tuple[int, float]]:
    """Return by (task, state) how many and how many seconds, of all workers since Valkey was emptied last; raises
    redis.RedisError."""
    with valkey(settings.REDIS_URL).pipeline(transaction=False) as pipeline:
        pipeline.hgetall(COUNTS)
        pipeline.hgetall(SECONDS)
        counts, seconds = pipeline.execute()
    figures = {}
    for field, count in counts.items():
        name, _, state = field.rpartition("|")
        figures[name, state] = (int(count), float(seconds.get(field, 0)))
    return figures
