"""Marcel's conversations into ours: those of people who agreed, and that they did not hide."""

import datetime
import sqlite3
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit
from uuid import UUID

from django.db import transaction
from django.utils.crypto import salted_hmac

from chat.models import Assistant, Citation, Conversation, Feedback, Message, Visitor
from core.language import detect_language
from core.terms import make_title
from core.text import strip_nul
from knowledge.models import Document

TABLES = ("user", "conversation", "message", "document", "message_document_map")
#: Conversations that are read at once, with all that belongs to them.
BATCH = 200


class NotMarcel(Exception):
    """The given file cannot be read, or is no database of Marcel's; the message says why."""


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


@dataclass(slots=True)
class ImportReport:
    """The outcome of an import; `problems` are (conversation, what was wrong with a part of it)."""

    conversations: int = 0
    messages: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[tuple[UUID, str]] = field(default_factory=list)


def import_conversations(
    database: Database,
    assistant: Assistant,
    *,
    keep: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> ImportReport:
    """Add the conversations that are not there yet, a batch in a transaction: one that was stopped is begun again.

    A conversation keeps its id. Whoever talked gets a number made of Marcel's with this server's secret: the same
    person the next time, and nobody can be traced back. `keep=False` only says what it would do.
    """
    report, total = ImportReport(), database.count()
    talks, done = database.conversations(), 0
    while batch := list(islice(talks, BATCH)):
        with transaction.atomic():
            _add(batch, assistant, report)
            if not keep:
                transaction.set_rollback(True)
        done += len(batch)
        if progress:
            progress(done, total)
    return report


def imported_visitor(who: str) -> UUID:
    return UUID(salted_hmac("chat.importing", who, algorithm="sha256").hexdigest()[:32])


def _add(batch: Sequence[Talk], assistant: Assistant, report: ImportReport) -> None:
    there = set(Conversation.objects.filter(pk__in=[talk.id for talk in batch]).values_list("pk", flat=True))
    wanted = []
    for talk in batch:
        if talk.id in there:
            report.skipped["there already"] += 1
        elif talk.agreed_at is None:
            report.skipped["of people who never agreed"] += 1
        elif talk.is_hidden:
            report.skipped["hidden by who asked"] += 1
        elif not talk.messages:
            report.skipped["empty"] += 1
        else:
            wanted.append(talk)
    agreed = {imported_visitor(talk.who): talk.agreed_at for talk in wanted}
    new = set(agreed) - set(Visitor.objects.filter(pk__in=agreed).values_list("pk", flat=True))
    Visitor.objects.bulk_create(Visitor(pk=pk) for pk in new)
    for pk in new:
        Visitor.objects.filter(pk=pk).update(consented_at=agreed[pk])
    urls = {url for talk in wanted for said in talk.messages for _title, url in said.sources}
    documents = dict(Document.objects.of_university().filter(url__in=urls).values_list("url", "pk"))
    for talk in wanted:
        _add_one(talk, assistant, documents, report)


def _add_one(talk: Talk, assistant: Assistant, documents: dict[str, int], report: ImportReport) -> None:
    rating = talk.rating
    if rating is not None and not 1 <= rating <= 5:
        report.problems.append((talk.id, f"its rating {rating} is none of 1 to 5 and is left out"))
        rating = None
    first = next((said.text for said in talk.messages if said.role == "user"), "")
    conversation = Conversation.objects.create(
        pk=talk.id,
        visitor_id=imported_visitor(talk.who),
        assistant=assistant,
        title=make_title(strip_nul(first)),
        stars=rating,
    )
    for question, answer in pairs(talk.messages, talk.id, report):
        asked = _save(question, conversation, Message.Role.USER)
        replied = _save(answer, conversation, Message.Role.ASSISTANT, asked) if answer else None
        if answer is None or replied is None:
            Message.objects.create(
                conversation=conversation,
                role=Message.Role.ASSISTANT,
                question=asked,
                status=Message.Status.FAILED,
                reason="interrupted",
            )
            Message.objects.filter(question=asked).update(created_at=question.at, finished_at=question.at)
            continue
        if answer.thumbs:
            Feedback.objects.create(message=replied, value=answer.thumbs)
        # Marcel shows what was retrieved also where it did not know.
        cited = () if answer.abstained else answer.sources
        Citation.objects.bulk_create(
            Citation(message=replied, n=n, title=title or url, url=url, document_id=documents.get(url))
            for n, (title, url) in enumerate(cited, start=1)
        )
    Conversation.objects.filter(pk=talk.id).update(created_at=talk.began_at, updated_at=talk.last_at)
    report.conversations += 1
    report.messages += len(talk.messages)


def pairs(messages: Sequence[Said], talk: UUID, report: ImportReport) -> Iterator[tuple[Said, Said | None]]:
    """Each question with its answer; a question that never got one has None."""
    waiting: Said | None = None
    for said in messages:
        if said.role == "user":
            if waiting:
                yield waiting, None
            waiting = said
        elif waiting:
            yield waiting, said
            waiting = None
        else:
            report.problems.append((talk, f"message {said.id} answers no question and is left out"))
    if waiting:
        yield waiting, None


def _save(said: Said, conversation: Conversation, role: str, question: Message | None = None) -> Message:
    status = Message.Status.COMPLETE
    if question:
        status = Message.Status.STOPPED if said.stopped else status
        status = Message.Status.ABSTAINED if said.abstained else status
    text = strip_nul(said.text)
    row = Message.objects.create(
        conversation=conversation,
        role=role,
        question=question,
        text=text,
        status=status,
        strategy=Message.Strategy.GENERATED if question else Message.Strategy.NONE,
        language=detect_language(text) or "en",
        timings_ms={"total": round(said.seconds * 1000, 1)} if question and said.seconds else {},
    )
    Message.objects.filter(pk=row.pk).update(created_at=said.at, finished_at=said.at if question else None)
    return row
