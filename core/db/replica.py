"""The watch on a replica: whether it answers, and how old what it has is.

PostgreSQL's own figure, the age of the last replayed transaction, grows while nobody writes. So a thread of the process
notes the end of the primary's log every second: a replica that has replayed up to there has all that was committed
before. Clocks of several machines are not compared.
"""

import asyncio
import logging
import os
import socket
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import psycopg
from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

logger = logging.getLogger(__name__)

ALIAS = "replica"
EVERY_SECONDS = 1.0
#: A server that takes longer for a reply is treated as away. Its reply is still waited for, and not asked for twice.
LIMIT_SECONDS = 2.0
#: A look at both servers that is older than this counts no more.
KEPT_SECONDS = 2 * (LIMIT_SECONDS + EVERY_SECONDS)
#: Noted ends of the primary's log: those of an hour.
NOTED = 3_600
#: Which cluster a server is of; a standby is of its primary's.
CLUSTER = "SELECT system_identifier FROM pg_control_system()"
WRITTEN = f"SELECT (pg_current_wal_lsn() - '0/0'::pg_lsn)::bigint, ({CLUSTER})"
REPLAYED = f"SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0'::pg_lsn)::bigint, ({CLUSTER})"


def is_configured() -> bool:
    """Return whether the settings name a replica."""
    return ALIAS in settings.DATABASES


@dataclass(frozen=True, slots=True)
class ReplicaState:
    """Holds what the last look found. Times are of the monotonic clock. The replica has everything up to `as_of`.

    `answers` is false too for a server that is no replica of the primary, such as one that was promoted.
    `primary_failed` is whether the primary refused the last look; `primary_at` when it last replied. `behind` are bytes
    of the log to be replayed.
    """

    at: float
    answers: bool = False
    as_of: float | None = None
    behind: int | None = None
    primary_at: float | None = None
    primary_failed: bool = False

    @property
    def lag_seconds(self) -> float | None:
        """Return by how much the replica lagged behind at most; None if it never caught up since the watch began."""
        return None if self.as_of is None else max(0.0, self.at - self.as_of)


class _Server:
    """A connection that is kept, and made anew after an error."""

    def __init__(self, alias: str, statement: str) -> None:
        self._alias, self._statement = alias, statement
        self._connection: psycopg.AsyncConnection[tuple[Any, ...]] | None = None
        self._asking: asyncio.Task[tuple[float, tuple[Any, ...] | None]] | None = None

    async def ask(self) -> tuple[float, tuple[Any, ...] | None] | None:
        """Return when the server was asked, and the row; no row if it failed, and None if it does not reply in time."""
        if self._asking is None:
            self._asking = asyncio.ensure_future(self._ask())
        # No cancellation: psycopg would wait for the server to confirm it.
        done, _pending = await asyncio.wait({self._asking}, timeout=LIMIT_SECONDS)
        if not done:
            return None
        asked, self._asking = self._asking, None
        return asked.result()

    async def _ask(self) -> tuple[float, tuple[Any, ...] | None]:
        asked = time.monotonic()
        try:
            if self._connection is None:
                parameters = connections[self._alias].get_connection_params()
                for name in ("cursor_factory", "context", "prepare_threshold"):
                    parameters.pop(name, None)
                parameters["connect_timeout"] = max(2, round(LIMIT_SECONDS))
                self._connection = await psycopg.AsyncConnection.connect(
                    **parameters, autocommit=True, prepare_threshold=None
                )
            row = await (await self._connection.execute(self._statement)).fetchone()
        except (psycopg.Error, OSError):
            if self._connection is not None:
                await self._connection.close()
            self._connection = None
            return asked, None
        return asked, row


class ReplicaWatch:
    """One thread of a process that looks at both servers; it begins with the first question for its state."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Begin anew, as in a process that was just forked: threads do not come along."""
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._has_looked = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._due = asyncio.Event()
        self._noted: deque[tuple[float, int]] = deque(maxlen=NOTED)
        self._cluster: int | None = None
        self._reading: set[BaseDatabaseWrapper] = set()
        self._state = ReplicaState(at=time.monotonic())

    def state(self) -> ReplicaState:
        """Return what was found last. The first call of a process waits for it, a few seconds at most."""
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._run, name="replica-watch", daemon=True)
                    self._thread.start()
        self._has_looked.wait(2 * LIMIT_SECONDS)
        return self._state

    def is_primary_away(self) -> bool:
        """Return whether the primary refuses, or has been silent for as long as the replica may lag behind."""
        state = self.state()
        if state.primary_failed or state.primary_at is None:
            return True
        return time.monotonic() - state.primary_at > settings.DATABASE_REPLICA_LAG_SECONDS

    def serves(self) -> bool:
        """Return whether reads may go to the replica: it answers, and is recent enough or all that there is."""
        state, now = self.state(), time.monotonic()
        if not state.answers or now - state.at > KEPT_SECONDS:
            return False
        is_recent = state.as_of is not None and now - state.as_of <= settings.DATABASE_REPLICA_LAG_SECONDS
        return is_recent or self.is_primary_away()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Have this thread's reads from the replica break off if it falls silent, instead of waiting for it."""
        own = connections[ALIAS]
        self._reading.add(own)
        try:
            yield
        finally:
            self._reading.discard(own)

    def doubt(self) -> None:
        """Leave the replica alone until a look finds it well again, which begins now."""
        self._state = replace(self._state, answers=False)
        if loop := self._loop:
            with suppress(RuntimeError):  # it ended just now
                loop.call_soon_threadsafe(self._due.set)

    def _run(self) -> None:
        try:
            asyncio.run(self._follow())
        except Exception:
            logger.exception("the watch on the replica ended and begins again with the next question")
        finally:
            self._state, self._loop, self._thread = replace(self._state, answers=False), None, None

    async def _follow(self) -> None:
        self._loop, self._due = asyncio.get_running_loop(), asyncio.Event()
        primary, standby = _Server(DEFAULT_DB_ALIAS, WRITTEN), _Server(ALIAS, REPLAYED)
        while True:
            self._due.clear()
            state = await self._look(primary, standby)
            if self._state.answers and not state.answers:
                logger.warning("replica does not answer and is left alone")
            self._state = state
            self._has_looked.set()
            try:
                await asyncio.wait_for(self._due.wait(), EVERY_SECONDS)
            except TimeoutError:
                continue

    async def _look(self, primary: _Server, standby: _Server) -> ReplicaState:
        """Look at the primary first, so that a replica without lag has what was noted a moment ago."""
        primary_at, failed = self._state.primary_at, False
        if (replied := await primary.ask()) is not None:
            asked, row = replied
            failed = row is None
            if row:
                end, self._cluster = row
                self._noted.append((asked, end))
                primary_at = time.monotonic()
        if (replied := await standby.ask()) is None:
            for reader in list(self._reading):
                _hang_up(reader)
        is_replica, replayed, cluster = (replied and replied[1]) or (False, 0, None)
        if not is_replica or self._cluster not in (None, cluster):
            return ReplicaState(time.monotonic(), primary_at=primary_at, primary_failed=failed)
        as_of = next((asked for asked, end in reversed(self._noted) if end <= replayed), None)
        behind = max(0, self._noted[-1][1] - replayed) if self._noted else None
        return ReplicaState(time.monotonic(), True, as_of, behind, primary_at, failed)


def _hang_up(reader: BaseDatabaseWrapper) -> None:
    """End a connection whose thread waits for the server: closing it would not wake that."""
    connection = reader.connection
    with suppress(psycopg.Error, OSError):
        if connection is not None:
            with socket.socket(fileno=os.dup(connection.pgconn.socket)) as line:
                line.shutdown(socket.SHUT_RDWR)


watch = ReplicaWatch()
os.register_at_fork(after_in_child=watch.forget)
