"""Advisory locks of PostgreSQL between processes; the locks of a killed process are released at once."""

import enum
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import DatabaseError, connection


@enum.unique
class Lock(enum.IntEnum):
    """The numbers of all advisory locks of the product.

    A number stays as it is: during an upgrade, processes of two versions work beside each other. A row's id is added
    to those of `PER_ROW`, which are `ROWS` apart.
    """

    INDEX_CHANGE = 0x6D61726365
    GENERATION = 0x6D617263656C
    PENDING_DOCUMENTS = 0x6D617263656D
    NEW_GENERATION = 0x6D617263656E
    PROPOSITIONS = 0x6D617263656F
    USAGE_COUNTS = 0x6D6172636570
    RETENTION = 0x6D6172636571
    REPORT_ERASURE = 0x6D6172636572
    GAPS = 0x6D6172636573
    QUESTION_PROPOSALS = 0x6D6172636574
    STAFF_MAILS = 0x6D6172636575
    ASKED_AGAIN = 0x6D6172636576
    CONTRADICTIONS = 0x6D6172636577
    CASES = 0x6D6172636578
    CASE_MAILBOX = 0x6D6172636579
    TOPICS = 0x6D617263657A
    EDITIONS = 0x6D617263657B
    PICTURES = 0x6D617263657C
    EVALUATION_RUN = 0x6D61720000000000
    SHADOW_TEST = 0x6D61730000000000
    REPORT = 0x6D72700000000000
    MODEL_TRIAL = 0x6D74720000000000
    MATCHER = 0x6D74750000000000


ROWS = 2**40
#: Locks of which every row of a table has its own.
PER_ROW = frozenset({Lock.EVALUATION_RUN, Lock.SHADOW_TEST, Lock.REPORT, Lock.MODEL_TRIAL, Lock.MATCHER})


@contextmanager
def advisory_lock(lock: Lock, *, row: int = 0, wait: bool = False) -> Iterator[bool]:
    """Try to get the lock, and yield whether this process holds it until the block ends; with `wait`, wait for it.

    It is held by an open transaction on a connection of its own: a session's lock would be lost, or kept for ever,
    behind a pooler such as PgBouncer. `row` is the id of the row that is locked, for a lock of `PER_ROW`.
    """
    own = connection.copy()
    try:
        own.set_autocommit(False)
        with own.cursor() as cursor:
            if wait:
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [lock + row])
                acquired = True
            else:
                cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [lock + row])
                (acquired,) = cursor.fetchone()
        yield acquired
    finally:
        # Closing alone leaves the lock until PostgreSQL notices. A lost connection has released it already.
        with suppress(DatabaseError):
            own.rollback()
        own.close()


def hold_until_commit(lock: Lock, *, shared: bool = False) -> None:
    """Wait for the lock, and keep it until the present transaction ends. Who shares it waits only for who does not."""
    take = "SELECT pg_advisory_xact_lock_shared(%s)" if shared else "SELECT pg_advisory_xact_lock(%s)"
    with connection.cursor() as cursor:
        cursor.execute(take, [lock.value])
