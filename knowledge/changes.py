"""The change log that lexical indexes follow."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db import connection

from knowledge.models import IndexChange

#: An advisory lock's number, the same in every process.
CHANGE_LOCK = 0x6D61726365
_is_recorded: ContextVar[bool] = ContextVar("is_recorded", default=True)


def record_change(document_id: int) -> None:
    """Tells every lexical index that this document's passages changed; call it last in a transaction.

    The lock, held to the end of the transaction, makes numbers appear in the order of commits.
    """
    if not _is_recorded.get():
        return
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CHANGE_LOCK])
    IndexChange.objects.create(document_id=document_id)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Inside, no change is told, and nobody waits for the lock: for a transaction that is rolled back."""
    token = _is_recorded.set(False)
    try:
        yield
    finally:
        _is_recorded.reset(token)
