"""Handing work to Celery once the transaction is safe."""

import logging
from functools import partial

from celery import Task
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


def delay_on_commit(task: Task, *args: int) -> None:
    """Queues `task` when the current transaction commits.

    A broker that is away must not turn a saved edit into an error page: the periodic task finds what was not
    queued, so this only logs.
    """
    transaction.on_commit(partial(_queue, task, *args))


def _queue(task: Task, *args: int) -> None:
    try:
        task.delay(*args)
    except OperationalError:
        logger.warning("broker away, left to the periodic task name=%s", task.name)
