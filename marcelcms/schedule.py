"""Celery's schedule in the database, which goes on where the machine's clock is set back."""

import datetime
import time
from typing import Any

from django_celery_beat.schedulers import DatabaseScheduler, ModelEntry

#: What a clock may be wrong by without anybody noticing.
TOLERANCE = datetime.timedelta(seconds=5)


class Entry(ModelEntry):
    """A task of the schedule; one that ran at a time that is yet to come counts as having run just now."""

    last_run_at: datetime.datetime

    def is_due(self) -> Any:
        now = datetime.datetime.now(datetime.UTC)
        if self.last_run_at > now + TOLERANCE:
            self.last_run_at = self.model.last_run_at = now
        return super().is_due()


class Scheduler(DatabaseScheduler):
    """Celery plans by the time of day: set back an hour, it would queue nothing for an hour."""

    Entry = Entry
    _ahead = 0.0

    def tick(self, *args: Any, **kwargs: Any) -> Any:
        ahead = time.time() - time.monotonic()
        if ahead < self._ahead - TOLERANCE.total_seconds():
            # Read too long ago, the schedule is planned anew. Its times of this kind have no zone.
            self._last_full_sync = datetime.datetime.min  # noqa: DTZ901
        self._ahead = ahead
        return super().tick(*args, **kwargs)
