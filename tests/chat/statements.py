"""What is sent to PostgreSQL, Django's own cursors and prepared statements alike."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import psycopg


@contextmanager
def statements() -> Iterator[list[str]]:
    """Those of all threads while the block runs, in order, without the beginnings and ends of transactions."""
    sent: list[str] = []
    execute = psycopg.Cursor.execute

    def noted(self: Any, query: Any, *arguments: Any, **options: Any) -> Any:
        sent.append(str(query))
        return execute(self, query, *arguments, **options)

    with patch.object(psycopg.Cursor, "execute", noted):
        yield sent
