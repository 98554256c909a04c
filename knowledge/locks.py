"""Locks between processes that a killed one lets go of at once."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import DatabaseError, connection

#: Advisory locks' numbers, the same in every process.
PENDING, BUILDING = 0x6D617263656D, 0x6D617263656E


@contextmanager
def only_one(number: int, *, wait: bool = False) -> Iterator[bool]:
    """Whether this process got the advisory lock, which it keeps until the block ends; with `wait` it gets it in turn.

    It is held by an open transaction on a connection of its own: a session's lock would be lost, or kept for ever,
    behind a pooler such as PgBouncer.
    """
    own = connection.copy()
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            if wait:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [number])
                is_mine = True
            else:
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [number])
                (is_mine,) = cursor.fetchone()
        yield is_mine
    finally:
        # Closing alone leaves it until PostgreSQL notices. A connection that was lost has let go of it already.
        with suppress(DatabaseError):
            own.rollback()
        own.close()
