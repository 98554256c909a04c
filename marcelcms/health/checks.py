"""Probes of what a process needs: without database or Valkey it cannot answer, without the rest less well."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum

from django.conf import settings
from django.db import Error as DatabaseError
from django.db import connection, connections
from django.db.models import Min
from django.utils import timezone
from redis import RedisError

from core import redis
from core.db.replica import is_configured, watch
from core.inference import verifier
from core.inference.llm import client
from knowledge.models import Document, Generation
from knowledge.retrieval.bm25.index import newest_change
from knowledge.retrieval.live_index import loaded_indexes
from marcelcms.health import heartbeats

logger = logging.getLogger(__name__)
#: A probe that takes longer has failed; it goes on in its thread, and no second one is begun meanwhile.
LIMIT_SECONDS = 1.5


class Status(IntEnum):
    """In order of gravity: `DEGRADED` answers, but less well; `FAILING` cannot answer."""

    OK = 0
    DEGRADED = 1
    FAILING = 2


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of a probe; `figures` are numbers by name, shown to everybody who asks."""

    status: Status
    figures: Mapping[str, float] = field(default_factory=dict)

    def to_wire(self) -> dict[str, object]:
        return {"status": self.status.name.lower(), **self.figures}


class Probe:
    """One thing to look at. `worst` is what its absence means; a reading is kept for `kept_seconds`.

    `look` may raise errors of the database, of Valkey, or OSError.
    """

    def __init__(self, name: str, look: Callable[[], Reading], *, worst: Status, kept_seconds: float = 2.0) -> None:
        self.name, self.worst = name, worst
        self._look, self._kept_seconds = look, kept_seconds
        self._pool = ThreadPoolExecutor(1, f"health-{name}")
        self._lock = threading.Lock()
        self._running: Future[Reading] | None = None
        self._read_at = -kept_seconds
        self._last = Reading(worst)

    async def read(self) -> Reading:
        with self._lock:
            if time.monotonic() < self._read_at + self._kept_seconds:
                return self._last
            if self._running is None:
                self._running = self._pool.submit(self._run)
            running = self._running
        try:
            return await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(running)), LIMIT_SECONDS)
        except TimeoutError:
            return Reading(self.worst)

    def forget(self) -> None:
        """Forget the last result, so that the next call checks anew."""
        self._read_at = -self._kept_seconds

    def _run(self) -> Reading:
        try:
            reading = self._look()
        except (DatabaseError, RedisError, OSError) as error:
            logger.warning("health probe failed probe=%s error=%s", self.name, type(error).__name__)
            reading = Reading(self.worst)
        finally:
            connections.close_all()
            with self._lock:
                self._running = None
        self._last, self._read_at = reading, time.monotonic()
        return reading


#: An edit counts within seconds; a longer wait means that nobody takes it in.
STALE_SECONDS = 300
#: Workers leave a sign every 10 s, beat every 30 s.
WORKER_SECONDS, BEAT_SECONDS = 60, 180


def database() -> Reading:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
    return Reading(Status.OK)


def valkey() -> Reading:
    redis.valkey(settings.REDIS_URL).ping()
    return Reading(Status.OK)


def index() -> Reading:
    """Return how long the oldest change waits for the index, and by how many changes this process's words lag behind.

    It reads them with its next question.
    """
    live = Generation.objects.filter(state=Generation.State.LIVE).first()
    pending = Document.objects.needing_index(live.pk) if live else Document.objects.all()
    oldest = pending.aggregate(oldest=Min("updated_at"))["oldest"]
    seconds = max(0.0, (timezone.now() - oldest).total_seconds()) if oldest else 0.0
    figures = {"oldest_change_seconds": round(seconds), "changes_behind": changes_behind()}
    return Reading(Status.DEGRADED if seconds > STALE_SECONDS else Status.OK, figures)


def changes_behind() -> int:
    """Return how many changes the answering lexical index lags behind; 0 if none is loaded yet."""
    indexes = loaded_indexes()
    return max(0, newest_change() - indexes[max(indexes)].at) if indexes else 0


def workers() -> Reading:
    """Check that every queue has a worker."""
    names = [heartbeats.name_worker(queue) for queue in heartbeats.queues()]
    ages = heartbeats.seconds_since(names)
    is_well = all(age is not None and age <= WORKER_SECONDS for age in ages.values())
    return Reading(Status.OK if is_well else Status.DEGRADED)


def beat() -> Reading:
    """Check that beat queued a task, and a worker ran it, not long ago."""
    age = heartbeats.seconds_since([heartbeats.BEAT])[heartbeats.BEAT]
    return Reading(Status.OK if age is not None and age <= BEAT_SECONDS else Status.DEGRADED)


def language_model() -> Reading:
    """Judge by the last calls, since a call of its own would cost; answers are quoted where it is away."""
    return Reading(Status.DEGRADED if client.has_failed() else Status.OK)


def database_replica() -> Reading:
    """Return whether reads go to the replica; the primary does its work where not."""
    state = watch.state()
    figures = {} if state.lag_seconds is None else {"lag_seconds": round(state.lag_seconds, 1)}
    return Reading(Status.OK if watch.serves() else Status.DEGRADED, figures)


def second_judge() -> Reading:
    """Judge by the last calls; the check of sentences decides alone where it is away."""
    return Reading(Status.DEGRADED if verifier.has_failed() else Status.OK)


PROBES = (
    Probe("database", database, worst=Status.FAILING),
    Probe("valkey", valkey, worst=Status.FAILING),
    Probe("index", index, worst=Status.DEGRADED, kept_seconds=10),
    Probe("workers", workers, worst=Status.DEGRADED),
    Probe("beat", beat, worst=Status.DEGRADED),
    Probe("llm", language_model, worst=Status.DEGRADED),
    Probe("verifier", second_judge, worst=Status.DEGRADED),
    *([Probe("replica", database_replica, worst=Status.DEGRADED)] if is_configured() else ()),
)
