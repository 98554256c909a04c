"""The change log that lexical indexes read."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from core.db.locks import Lock, hold_until_commit
from knowledge.models import IndexChange

#: No document has this number.
ABBREVIATIONS = 0
_is_recorded: ContextVar[bool] = ContextVar("is_recorded", default=True)


def record_change(document_id: int) -> None:
    """Announce to every lexical index that this document's passages changed; call it last in a transaction.

    `ABBREVIATIONS` in the place of a document announces that their list changed.

    The lock, held to the end of the transaction, makes numbers appear in the order of commits.
    """
    if not _is_recorded.get():
        return
    hold_until_commit(Lock.INDEX_CHANGE)
    IndexChange.objects.create(document_id=document_id)


@contextmanager
def unrecorded() -> Iterator[None]:
    """Record no change inside the block, and wait for no lock: for a transaction that is rolled back."""
    token = _is_recorded.set(False)
    try:
        yield
    finally:
        _is_recorded.reset(token)
