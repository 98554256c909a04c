"""Which database reads go to: a replica where what is read may lag behind a little, else the primary.

Everything reads from the primary unless it runs in one of the functions below. What they call need not know: Django's
queries follow the router, statements of one's own take the connection of `read_alias`.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, Error, InterfaceError, OperationalError, connections
from django.db.models import Model

from core.db.replica import ALIAS, is_configured, watch

logger = logging.getLogger(__name__)

T = TypeVar("T")
_alias: ContextVar[str] = ContextVar("read_alias", default=DEFAULT_DB_ALIAS)
#: Between two looks of a report at what the replica has replayed.
PAUSE_SECONDS = 0.05


class ReadRouter:
    """Sends Django's reads where the functions below say, and all else to the primary."""

    def db_for_read(self, model: type[Model], **hints: Any) -> str:
        return read_alias()

    def db_for_write(self, model: type[Model], **hints: Any) -> str:
        return DEFAULT_DB_ALIAS

    def allow_relation(self, first: Model, second: Model, **hints: Any) -> bool:
        return True

    def allow_migrate(self, db: str, app_label: str, **hints: Any) -> bool:
        return db == DEFAULT_DB_ALIAS


def read_alias() -> str:
    """Return the alias of the database to read from now; within a transaction that is the primary's."""
    alias = _alias.get()
    return DEFAULT_DB_ALIAS if alias == ALIAS and connections[DEFAULT_DB_ALIAS].in_atomic_block else alias


def reads_replica() -> bool:
    """Return whether reads go to the replica now."""
    return read_alias() == ALIAS


def read_recent(read: Callable[[], T], *, missing: tuple[type[Exception], ...] = ()) -> T:
    """Read from the replica if it answers and is recent enough, else from the primary.

    What fails on the replica is read again from the primary, and so is what raises one of `missing`: it may not have
    reached the replica yet. `read` may so run twice. Raises what `read` raises.
    """
    if not _may_leave() or not watch.serves():
        return read()
    try:
        with watch.reading(), _read_from(ALIAS):
            return read()
    except missing:
        pass
    except Error as error:
        _leave_alone(error)
    return read()


def read_current(read: Callable[[], T]) -> T:
    """Read from the primary; from the replica only while the primary is away.

    `read` may so run twice. Raises what `read` raises.
    """
    if not _may_leave():
        return read()
    try:
        if not watch.is_primary_away() or not watch.serves():
            return read()
    except (OperationalError, InterfaceError):
        if not watch.serves():
            raise
    with watch.reading(), _read_from(ALIAS):
        return read()


def read_complete(read: Callable[[str], T]) -> T:
    """Read from the replica once it has all that is committed now; from the primary if that takes too long.

    `read` gets the alias of the database, and may run twice. Raises what `read` raises.
    """
    if not _may_leave() or not watch.serves() or watch.is_primary_away():
        return read(DEFAULT_DB_ALIAS)
    try:
        if _catches_up(seconds=settings.DATABASE_REPLICA_LAG_SECONDS):
            return read(ALIAS)
    except Error as error:
        _leave_alone(error)
    return read(DEFAULT_DB_ALIAS)


def is_behind(has_more: Callable[[], bool]) -> bool:
    """Return whether the replica is read and lacks what the primary has; if that is away, whether the replica is read.

    `has_more` is asked of the primary.
    """
    if not reads_replica():
        return False
    if watch.is_primary_away():
        return True
    with _read_from(DEFAULT_DB_ALIAS):
        return has_more()


def _may_leave() -> bool:
    """Return whether these reads are free to go to the replica, if there is one."""
    return is_configured() and _alias.get() == DEFAULT_DB_ALIAS and not connections[DEFAULT_DB_ALIAS].in_atomic_block


@contextmanager
def _read_from(alias: str) -> Iterator[None]:
    token = _alias.set(alias)
    try:
        yield
    finally:
        _alias.reset(token)


def _leave_alone(error: Error) -> None:
    logger.warning("read again from the primary error=%s", type(error).__name__)
    watch.doubt()


def _catches_up(*, seconds: float) -> bool:
    """Wait until the replica has replayed the primary's log up to its present end."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()::text")
        (end,) = cursor.fetchone()
    deadline = time.monotonic() + seconds
    while True:
        with connections[ALIAS].cursor() as cursor:
            cursor.execute("SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [end])
            (is_there,) = cursor.fetchone()
        if is_there or time.monotonic() > deadline:
            return bool(is_there)
        time.sleep(PAUSE_SECONDS)
