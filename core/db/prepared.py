"""Statements of the hot path: prepared once a connection, with vectors in binary.

Django's own cursors put parameters into the text of a query, which PostgreSQL then parses and plans every time; for a
vector of 384 numbers and four joins that is most of the time. A number that decides the plan (a LIMIT) must stand in
the statement itself, else PostgreSQL plans every call anew.
"""

import struct
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import psycopg
from channels.db import database_sync_to_async
from django.db import connections
from psycopg.adapt import Dumper
from psycopg.pq import Format

from core.db.reading import read_alias

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class BinaryVector:
    """A vector as a parameter, in the binary form of pgvector's half precision; write it `%(name)b::halfvec`."""

    def __init__(self, vector: "NDArray[np.float32]") -> None:
        self.data = struct.pack(">HH", len(vector), 0) + vector.astype(">f2").tobytes()


class _BinaryVectorDumper(Dumper):
    format = Format.BINARY

    def dump(self, obj: BinaryVector) -> bytes:
        return obj.data


psycopg.adapters.register_dumper(BinaryVector, _BinaryVectorDumper)


def fetch_all(statement: str, parameters: Mapping[str, Any] | Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Fetch all rows of a prepared statement, from the database to read from; raises django.db's errors.

    Statements are the code's own, never built from user input.
    """
    connection = connections[read_alias()]
    connection.ensure_connection()
    with connection.wrap_database_errors, psycopg.Cursor(connection.connection) as cursor:
        return cursor.execute(statement, parameters, prepare=True).fetchall()


#: Runs a function in a thread and returns its connection afterwards; threads run in parallel.
in_database = partial(database_sync_to_async, thread_sensitive=False)
