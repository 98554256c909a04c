"""Probes that never hang and never pile up: each runs in a thread of its own, one at a time, and its result is kept."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from enum import IntEnum

from django.db import Error as DatabaseError
from django.db import connections
from redis import RedisError

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
    """What a probe found; `figures` are numbers by name, shown to everybody who asks."""

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
        """The next one who asks has it looked at anew."""
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
