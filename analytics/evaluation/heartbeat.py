"""How a run tells that it lives, and hears that somebody stopped it."""

import time
from collections.abc import Callable
from typing import Any

from django.utils import timezone

from analytics.models import EvaluationRun

State = EvaluationRun.State
SECONDS = 1


class Cancelled(Exception):
    """Somebody stopped the run."""


def save(run: EvaluationRun, **values: Any) -> None:
    run.heartbeat_at = timezone.now()
    for name, value in values.items():
        setattr(run, name, value)
    run.save(update_fields=["heartbeat_at", *values])


class Heartbeat:
    """Told of every question, writes no more often than once a second; `progress` gets (done, of) questions."""

    def __init__(self, run: EvaluationRun, total: int, progress: Callable[[int, int], None] | None) -> None:
        self._run, self._total, self._progress = run, total, progress
        self._written = time.monotonic()

    def beat(self, done: int) -> None:
        """Raises Cancelled."""
        if self._progress:
            self._progress(done, self._total)
        if time.monotonic() - self._written <= SECONDS:
            return
        if EvaluationRun.objects.filter(pk=self._run.pk, state=State.CANCELLED).exists():
            raise Cancelled
        save(self._run, done=done)
        self._written = time.monotonic()
