"""Streaming of many rows, also behind a pooler such as PgBouncer in transaction mode.

There Django's `iterator` holds all rows in memory, since its cursors outlive their transaction.
"""

from collections.abc import Iterator
from typing import Any

from django.db import connections, transaction
from django.db.models import QuerySet

from core.db.reading import read_alias


def stream_rows(found: QuerySet[Any, tuple[Any, ...]], *, size: int) -> Iterator[tuple[Any, ...]]:
    """Yield the rows of a `values_list` in tuples, `size` fetched at a time.

    All rows are as they were when the first was read, with PostgreSQL's values, not those of Django's fields. The
    transaction stays open until the last row is read.
    """
    alias = read_alias()
    connection = connections[alias]
    sql, parameters = found.query.get_compiler(connection=connection).as_sql()
    with transaction.atomic(using=alias), connection.chunked_cursor() as cursor:
        cursor.execute(sql, parameters)
        while batch := cursor.fetchmany(size):
            yield from batch
