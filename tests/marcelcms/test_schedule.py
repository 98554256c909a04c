"""The schedule goes on where the machine's clock is set back."""

import time
from datetime import timedelta
from unittest.mock import Mock

import pytest
from django.utils import timezone
from django_celery_beat.models import IntervalSchedule, PeriodicTask

from marcelcms.celery import app
from marcelcms.schedule import Scheduler

pytestmark = pytest.mark.django_db(transaction=True)
HOUR = 3600.0


@pytest.fixture
def scheduler(monkeypatch: pytest.MonkeyPatch) -> Scheduler:
    """One with a single task, every minute, that ran half a minute ago."""
    PeriodicTask.objects.all().delete()
    PeriodicTask.objects.create(
        name="look",
        task="marcelcms.tasks.sign_of_life",
        interval=IntervalSchedule.objects.create(every=60, period="seconds"),
        last_run_at=timezone.now() - timedelta(seconds=30),
    )
    monkeypatch.setattr(Scheduler, "setup_schedule", Mock())
    made = Scheduler(app=app)
    monkeypatch.setattr(made, "apply_entry", Mock())
    return made


def test_a_task_that_ran_at_a_time_that_is_yet_to_come_is_due_when_its_interval_has_passed(
    scheduler: Scheduler,
) -> None:
    PeriodicTask.objects.update(last_run_at=timezone.now() + timedelta(seconds=HOUR))
    (entry,) = scheduler.schedule.values()
    is_due, seconds = entry.is_due()
    assert not is_due
    assert 50 < seconds <= 60


def test_what_was_planned_before_the_clock_was_set_back_is_planned_anew(
    scheduler: Scheduler, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler.tick()
    (planned, _priority, _entry), *_ = scheduler._heap
    # What a clock that goes an hour ahead would have left.
    scheduler._heap = [(planned + HOUR, 5, scheduler._heap[0][2])]
    monkeypatch.setattr(scheduler, "_ahead", time.time() - time.monotonic() + HOUR)
    scheduler.tick()
    (again, _priority, _entry), *_ = scheduler._heap
    assert again < planned + 5
    scheduler.apply_entry.assert_not_called()  # type: ignore[attr-defined]
