"""Base class of all Celery tasks."""

import logging
from functools import partial
from typing import Any

from celery.contrib.django.task import DjangoTask
from django.db import transaction
from kombu.exceptions import OperationalError

logger = logging.getLogger(__name__)


class Task(DjangoTask):
    """Celery's task for Django, except that saving works while the broker is down."""

    def delay_on_commit(self, *args: Any, **kwargs: Any) -> None:
        """Queue the task when the current transaction commits.

        Celery's own raises if the broker is down: a saved edit would show an error page, and later callbacks of the
        commit would not run. The periodic tasks find work that was not queued, so this only logs.
        """
        transaction.on_commit(partial(self._delay_or_log, *args, **kwargs))

    def _delay_or_log(self, *args: Any, **kwargs: Any) -> None:
        try:
            self.delay(*args, **kwargs)
        except OperationalError:
            logger.warning("broker away, left to the periodic task name=%s", self.name)
