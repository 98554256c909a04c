"""Background jobs: rows that wait in a queue, are worked on by one worker, and never stay behind when that dies.

A job goes from QUEUED to RUNNING to an end. While it runs, its worker writes a heartbeat; a running job without one has
lost its worker, and `requeue_lost` settles it. Every write of a worker asks for the state RUNNING, so that a job that
was cancelled or taken for lost is not written over.
"""

import logging
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from types import TracebackType
from typing import Any, ClassVar, Self, TypeVar

from django.conf import settings
from django.db import Error, IntegrityError, connection, models, transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

logger = logging.getLogger(__name__)


class JobState(models.TextChoices):
    """The states that every kind of job has; a kind with more of them has choices of its own."""

    QUEUED = "queued", _("waiting")
    RUNNING = "running", _("running")
    FINISHED = "finished", _("finished")
    FAILED = "failed", _("failed")
    CANCELLED = "cancelled", _("cancelled")


ACTIVE = (JobState.QUEUED, JobState.RUNNING)
INTERNAL_ERROR = gettext_noop("An error of ours ended it; whoever runs this server finds it in the log.")


class JobStopped(Exception):
    """The job is not this worker's any more: it was cancelled, deleted or taken for lost."""


J = TypeVar("J", bound="Job")


class JobQuerySet(models.QuerySet[J]):
    """A queryset of jobs."""

    def active(self) -> Self:
        """Keep the jobs that wait or run."""
        return self.filter(state__in=ACTIVE)

    def enqueue(self, **values: Any) -> J | None:
        """Create a job that waits; return None if the table's constraints allow no further one."""
        try:
            with transaction.atomic():
                return self.create(**values)
        except IntegrityError:
            return None


class Job(models.Model):
    """A row that a worker works on. `TASK` is the dotted name of the Celery task that takes its id."""

    TASK: ClassVar[str]
    #: A running job that is silent for so long has lost its worker.
    LOST_AFTER: ClassVar[timedelta] = timedelta(minutes=5)
    #: A job that waits for so long may never have reached the broker: it is queued again, ...
    UNBEGUN_AFTER: ClassVar[timedelta] = timedelta(minutes=5)
    #: ... and again after so long, since it may only wait behind others.
    REQUEUED_EVERY: ClassVar[timedelta] = timedelta(minutes=5)

    state = models.CharField(_("state"), max_length=12, choices=JobState, default=JobState.QUEUED)
    created_at = models.DateTimeField(_("begun"), auto_now_add=True)
    heartbeat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)

    class Meta:
        abstract = True

    @property
    def is_active(self) -> bool:
        """Return whether the job waits or runs."""
        return self.state in ACTIVE

    @property
    def is_cancelled(self) -> bool:
        """Return whether somebody cancelled the job."""
        return self.state == JobState.CANCELLED

    def claim(self, **values: Any) -> bool:
        """Take a waiting job for this worker; return False if another one has it or it has ended."""
        return self._write(Q(state=JobState.QUEUED), state=JobState.RUNNING, **values)

    def beat(self, **values: Any) -> None:
        """Write a heartbeat and `values` of a running job. Raise JobStopped if it does not run any more."""
        if not self._write(Q(state=JobState.RUNNING), **values) or self.is_cancelled:
            raise JobStopped

    def finish(self, **values: Any) -> None:
        """End a running job well. Raise JobStopped if it does not run any more."""
        self.beat(**{"state": JobState.FINISHED, "finished_at": timezone.now()} | values)

    def fail(self, message: str) -> bool:
        """End the job with a message; return False if it had ended."""
        values = {"state": JobState.FAILED, "message": message, "finished_at": timezone.now()}
        return self._write(Q(state__in=ACTIVE), **values)

    def cancel(self) -> bool:
        """Cancel a job that waits or runs; return False if it had ended. Its worker stops within seconds."""
        return self._write(Q(state__in=ACTIVE), state=JobState.CANCELLED, finished_at=timezone.now())

    def requeue(self, **values: Any) -> bool:
        """Have the job wait again; return False if it has changed its state meanwhile."""
        return self._write(Q(state=self.state), state=JobState.QUEUED, finished_at=None, **values)

    def recover(self) -> Self | None:
        """Settle a running job whose worker died; return the job to queue, this one or another, or None."""
        return self if self.requeue() else None

    @classmethod
    def requeue_lost(cls) -> Iterator[int]:
        """Settle the jobs whose worker died or that no worker began; yield the ids to queue."""
        now = timezone.now()
        # One that is yet to come is of a clock that was set back: who lives writes another one soon.
        is_stale = Q(heartbeat_at__lt=now - cls.LOST_AFTER) | Q(heartbeat_at__gt=now + cls.LOST_AFTER)
        lost = Q(is_stale, state=JobState.RUNNING)
        unbegun = Q(state=JobState.QUEUED, created_at__lte=now - cls.UNBEGUN_AFTER)
        unbegun &= ~Q(heartbeat_at__gt=now - cls.REQUEUED_EVERY)
        for job in list(cls._default_manager.filter(lost | unbegun).order_by("pk")):
            # The heartbeat is part of the condition: another process, or the worker itself, may have been faster.
            if not job._write(Q(state=job.state, heartbeat_at=job.heartbeat_at)):
                continue
            again = job if job.state == JobState.QUEUED else job.recover()
            if again:
                yield again.pk

    @contextmanager
    def closing(self, *expected: type[Exception]) -> Iterator[None]:
        """End the job whatever the block raises: `expected` errors are its message, others are raised as well."""
        try:
            yield
        except JobStopped:
            logger.info("job stopped kind=%s id=%d", self._meta.model_name, self.pk)
        except expected as error:
            self.fail(str(error))
        except Exception:
            self.fail(INTERNAL_ERROR)
            raise

    def _write(self, condition: Q, **values: Any) -> bool:
        """Write a heartbeat and `values` to the row if `condition` holds for it, and to this object."""
        values["heartbeat_at"] = timezone.now()
        if not type(self)._base_manager.filter(condition, pk=self.pk).update(**values):
            return False
        for name, value in values.items():
            setattr(self, name, value)
        return True


class RequestedJob(Job):
    """A job that a member of staff asks for, and that says how far it is: `done` of `total`."""

    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("started by")
    )
    message = models.TextField(_("message"), blank=True)
    done = models.PositiveIntegerField(default=0)
    total = models.PositiveIntegerField(default=0)

    class Meta:
        abstract = True


class Heartbeat:
    """Keeps a running job alive while its block runs, by a thread, and writes its progress once a second at most.

    The thread is for steps that report no progress, such as embedding a book at a slow endpoint. It has a database
    connection of its own; if the database is away, it tries again the next time.
    Entering the block raises JobStopped if the job does not run.
    """

    SECONDS: ClassVar[float] = 1.0

    def __init__(self, job: Job, on_progress: Callable[[int, int], None] | None = None) -> None:
        self._job, self._on_progress, self._written = job, on_progress, 0.0
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._repeat, daemon=True)

    def __enter__(self) -> Self:
        self._job.beat()
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._ended.set()
        self._thread.join()

    def step(self, done: int, total: int) -> None:
        """Report that `done` of `total` steps are done. Raise JobStopped."""
        if self._on_progress:
            self._on_progress(done, total)
        self.beat(done=done, total=total)

    def beat(self, *, at_once: bool = False, **values: Any) -> None:
        """Write a heartbeat and `values`, once a second at most unless `at_once`. Raise JobStopped."""
        if at_once or time.monotonic() - self._written >= self.SECONDS:
            self._written = time.monotonic()
            self._job.beat(**values)

    def _repeat(self) -> None:
        rows = type(self._job)._base_manager.filter(pk=self._job.pk, state=JobState.RUNNING)
        while not self._ended.wait(self._job.LOST_AFTER.total_seconds() / 4):
            try:
                rows.update(heartbeat_at=timezone.now())
            except Error as error:
                logger.warning("no heartbeat error=%s", type(error).__name__)
            finally:
                connection.close()
