"""Reads the conversations in Marcel's database, a SQLite file or a MariaDB; changes nothing there.

Marcel keeps times without a zone, in UTC, and ids of conversations as 32 hexadecimal digits.
"""

import datetime
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

TABLES = ("user", "conversation", "message", "document", "message_document_map")
#: Conversations that are read at once, with all that belongs to them.
BATCH = 200


class NotMarcel(Exception):
    """What was given cannot be read, or is no database of Marcel's; the message says why."""


@dataclass(frozen=True, slots=True)
class Said:
    """A message; `sources` are (title, address), the best first."""

    id: int
    role: str
    text: str
    at: datetime.datetime
    abstained: bool
    stopped: bool
    thumbs: int
    seconds: float | None
    sources: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation; `who` is the browser's number, `agreed_at` None for somebody who never agreed to anything."""

    id: UUID
    who: str
    agreed_at: datetime.datetime | None
    is_hidden: bool
    rating: int | None
    began_at: datetime.datetime
    last_at: datetime.datetime
    messages: Sequence[Said]


class Database:
    """To be closed by its reader; raises NotMarcel."""

    def __init__(self, place: str) -> None:
        """`place` is a file of SQLite's, or `mysql://user:password@host:port/name`."""
        self._mark = "%s" if place.startswith("mysql://") else "?"
        self._connection: Any = _mysql(place) if place.startswith("mysql://") else _sqlite(place)
        try:
            for table in TABLES:
                self._all(f"SELECT 1 FROM {table} WHERE 1 = 0")
        except Exception as error:  # each driver has its own; all of them say the table's name
            self.close()
            raise NotMarcel(f"it has not Marcel's tables {', '.join(TABLES)} ({error})") from error

    def close(self) -> None:
        self._connection.close()

    def count(self) -> int:
        return int(self._all("SELECT count(*) FROM conversation")[0][0])

    def conversations(self) -> Iterator[Talk]:
        """In order of their ids, a batch in memory at a time."""
        last = ""
        while rows := self._all(
            "SELECT conversation.id, client_id, consent_given, consent_given_at, visible, rating, created_at,"
            " updated_at"
            f" FROM conversation JOIN user ON user.id = user_id WHERE conversation.id > {self._mark}"
            f" ORDER BY conversation.id LIMIT {BATCH}",
            last,
        ):
            last = rows[-1][0]
            messages = self._messages([row[0] for row in rows])
            for key, who, agreed, agreed_at, visible, rating, began, ended in rows:
                yield Talk(
                    id=_id(key),
                    who=_id(who).hex,
                    agreed_at=(_time(agreed_at) if agreed_at else _time(began)) if agreed else None,
                    is_hidden=not visible,
                    rating=rating,
                    began_at=_time(began),
                    last_at=_time(ended),
                    messages=messages.get(key, ()),
                )

    def _messages(self, conversations: Sequence[Any]) -> dict[Any, list[Said]]:
        marks = ", ".join([self._mark] * len(conversations))
        within = f"conversation_id IN ({marks})"
        sources: dict[int, list[tuple[str, str]]] = {}
        for key, title, url in self._all(
            "SELECT message_id, title, url FROM message_document_map JOIN document ON document.id = document_id"
            f" JOIN message ON message.id = message_id WHERE {within} ORDER BY score DESC, document_id",
            *conversations,
        ):
            sources.setdefault(key, []).append((title or "", url or ""))
        found: dict[Any, list[Said]] = {}
        for key, conversation, role, text, non_answer, cancelled, feedback, seconds, at in self._all(
            "SELECT id, conversation_id, role, content, non_answer, cancelled_answer, feedback, e2e_latency, created_at"
            f" FROM message WHERE {within} ORDER BY id",
            *conversations,
        ):
            found.setdefault(conversation, []).append(
                Said(
                    id=key,
                    role=role,
                    text=text or "",
                    at=_time(at),
                    abstained=bool(non_answer),
                    stopped=bool(cancelled),
                    thumbs={"good": 1, "bad": -1}.get(feedback or "", 0),
                    seconds=seconds,
                    sources=tuple(sources.get(key, ())),
                )
            )
        return found

    def _all(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        with closing(self._connection.cursor()) as cursor:
            cursor.execute(statement, values)
            return list(cursor.fetchall())


def _sqlite(place: str) -> sqlite3.Connection:
    path = Path(place.removeprefix("sqlite:///"))
    if not path.is_file():
        raise NotMarcel(f"there is no file {path}")
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _mysql(place: str) -> Any:
    try:
        import pymysql
    except ImportError as error:
        raise NotMarcel("reading MariaDB takes PyMySQL: `pip install pymysql`") from error
    parts = urlsplit(place)
    try:
        return pymysql.connect(
            host=parts.hostname or "localhost",
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            database=parts.path.strip("/"),
            charset="utf8mb4",
        )
    except pymysql.MySQLError as error:
        raise NotMarcel(f"MariaDB cannot be reached or refuses: {error}") from error


def _id(value: Any) -> UUID:
    return UUID(bytes=value) if isinstance(value, bytes) and len(value) == 16 else UUID(str(value))


def _time(value: Any) -> datetime.datetime:
    read = value if isinstance(value, datetime.datetime) else datetime.datetime.fromisoformat(str(value))
    return read if read.tzinfo else read.replace(tzinfo=datetime.UTC)
