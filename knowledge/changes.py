"""The change log that lexical indexes follow."""

from django.db import connection

from knowledge.models import IndexChange

#: An advisory lock's number, the same in every process.
CHANGE_LOCK = 0x6D61726365


def record_change(document_id: int) -> None:
    """Tells every lexical index that this document's passages changed; call it last in a transaction.

    The lock, held to the end of the transaction, makes numbers appear in the order of commits.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [CHANGE_LOCK])
    IndexChange.objects.create(document_id=document_id)
