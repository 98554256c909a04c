"""Log lines as one JSON object, or as text, each with its request's id; never with a person's words.

Our own lines follow one form, "what happened name=%s number=%d": the words become `event`, each name a field. Values
are scalars, and long ones are cut. Exceptions are told by their type and where they were raised; what they say is
told only of those that never quote what they worked on, since a database's error holds the row it refused.
"""

import logging
import re
import sys
import traceback
import uuid
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from types import TracebackType
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, OperationalError
from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars
from structlog.processors import JSONRenderer

OURS = ("analytics", "chat", "core", "faqs", "knowledge", "marcelcms")
#: Whose DEBUG and INFO lines hold requests, frames, statements or arguments: they never speak of less than a warning.
TALKATIVE = (
    *("openai", "httpx", "httpcore", "websockets", "uvicorn.access", "asyncio", "urllib3", "scrapy", "pdfminer"),
    *("django", "django.db.backends", "celery", "kombu", "amqp", "redis", "psycopg", "psycopg.pool", "daphne"),
)
#: Exceptions that say what is wrong with the machine, not with what it was given.
SPEAKING = (OSError, ImportError, OperationalError, InterfaceError, ImproperlyConfigured)
#: More of them, by name: the settings must not load a model's or a broker's library.
SPEAKING_NAMES = frozenset(
    {
        "redis.exceptions.ConnectionError",
        "redis.exceptions.TimeoutError",
        "kombu.exceptions.OperationalError",
        "core.inference.embeddings.base.EmbeddingUnavailable",
        "core.inference.llm.client.ModelUnavailable",
    }
)
VALUE = re.compile(r"(\w+)=%(?:\.\d+)?[sdrfi]")
MOST_CHARACTERS = 200
#: How uvicorn's lines about single sockets begin; the first names the visitor's address.
ABOUT_SOCKETS = ('%s - "WebSocket', "connection open", "connection closed", "connection rejected")
#: Shorter words of an exception would be found in any line.
SHORTEST_QUOTE = 4


class EventFormatter(logging.Formatter):
    """Renders a record; `form` is a key of RENDERERS."""

    def __init__(self, form: str) -> None:
        super().__init__()
        self._render = RENDERERS[form]

    def format(self, record: logging.LogRecord) -> str:
        event, fields = parted(record)
        # Libraries write an error's words into a line of text, some without naming the error that they handle.
        error = record.exc_info[1] if record.exc_info else sys.exc_info()[1]
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": unquoted(event, error),
            **fields,
            **get_contextvars(),
        }
        if record.exc_info and record.exc_info[1] is not None:
            line["exception"] = list(told(record.exc_info[1]))
        return str(self._render(line))


class OneWarning(logging.Filter):
    """Makes one warning, without a traceback, of what a client did wrong, and passes over sockets that come and go.

    Django tells a refused request as an error with a traceback, and again as a bad request.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if record.name == "uvicorn.error" and record.levelno == logging.INFO:
            return not str(record.msg).startswith(ABOUT_SOCKETS)
        is_refusal = record.name.startswith("django.security")
        if not is_refusal and (record.name != "django.request" or record.levelno >= logging.ERROR):
            return True
        request = getattr(record, "request", None)
        if hasattr(request, "is_refusal_told"):
            return False
        if is_refusal and request is not None:
            request.is_refusal_told = True
        record.levelno, record.levelname = logging.WARNING, "WARNING"
        record.msg, record.args = parted(record)[0][:MOST_CHARACTERS], ()
        record.exc_info = record.exc_text = None
        return True


def parted(record: logging.LogRecord) -> tuple[str, dict[str, Any]]:
    """Split one of our own records into its words and its values; in others, name exceptions by their type."""
    if record.name == "celery.app.trace" and isinstance(record.args, Mapping):
        event = "task failed" if record.levelno >= logging.ERROR else "task did not finish"
        return event, {"task": record.args.get("name", ""), "task_id": record.args.get("id", "")}
    is_ours = record.name.partition(".")[0] in OURS
    values = record.args if isinstance(record.args, tuple) else ()
    names = VALUE.findall(str(record.msg)) if is_ours else []
    if names and len(names) == len(values):
        event = VALUE.split(str(record.msg), maxsplit=1)[0].strip()
        return event, {name: _scalar(value) for name, value in zip(names, values, strict=True)}
    if values:
        return str(record.msg) % tuple(map(_unsaid, values)), {}
    if isinstance(record.args, Mapping) and record.args:
        return str(record.msg) % {name: _unsaid(value) for name, value in record.args.items()}, {}
    return record.getMessage(), {}


def unquoted(event: str, error: BaseException | None) -> str:
    """Put an exception's type where a line quotes what it says of data, such as a row that the database refused."""
    for each in _chain(error):
        words = str(each)
        if len(words) >= SHORTEST_QUOTE and not _speaks(each):
            event = event.replace(words, type(each).__name__).replace(repr(words)[1:-1], type(each).__name__)
    return event


def _unsaid(value: object) -> object:
    exception = getattr(value, "exception", value)  # what Celery wraps one in
    return type(exception).__name__ if isinstance(exception, BaseException) else value


def _scalar(value: object) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)[:MOST_CHARACTERS] if isinstance(value, str) else f"<{type(value).__name__}>"


def told(error: BaseException) -> Iterator[str]:
    """Yield the chain of exceptions and where each was raised, without their messages, which may hold data."""
    for cause in _chain(error):
        name = _name(cause)
        yield f"{name}: {_first_line(cause)}" if _speaks(cause) else name
        yield from _places(cause.__traceback__)


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


def _speaks(error: BaseException) -> bool:
    return isinstance(error, SPEAKING) or _name(error) in SPEAKING_NAMES


def _name(error: BaseException) -> str:
    return f"{type(error).__module__}.{type(error).__qualname__}"


def _places(trace: TracebackType | None) -> Iterator[str]:
    for frame in traceback.extract_tb(trace)[-12:]:
        yield f"  {frame.filename}:{frame.lineno} {frame.name}"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:MOST_CHARACTERS]


def as_text(line: dict[str, Any]) -> str:
    """Format for people: time, level, logger, event, fields, and an exception below."""
    trace = line.pop("exception", [])
    head = f"{line.pop('time')} {line.pop('level').upper()} {line.pop('logger')} {line.pop('event')}"
    fields = "".join(f" {name}={value}" for name, value in line.items())
    return "\n".join(map(_on_one_line, [head + fields, *trace]))


def _on_one_line(text: str) -> str:
    """Escape line breaks, so that nobody can add a line to the log."""
    return "".join(character if character.isprintable() else " " for character in text)


def as_json(line: dict[str, Any]) -> str:
    return str(_json(None, "", line))


_json = JSONRenderer(ensure_ascii=False)
RENDERERS = {"line": as_text, "json": as_json}


def configuration(*, form: str, level: str) -> dict[str, Any]:
    """Return Django's LOGGING: our own modules from `level` on, everybody else from warnings on."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"event": {"()": "marcelcms.observability.logs.EventFormatter", "form": form}},
        "filters": {"one_warning": {"()": "marcelcms.observability.logs.OneWarning"}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "event", "filters": ["one_warning"]}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {name: {"level": level} for name in OURS}
        | {name: {"level": "WARNING", "handlers": [], "propagate": True} for name in TALKATIVE}
        | {name: {"level": "INFO", "handlers": [], "propagate": True} for name in ("uvicorn", "uvicorn.error")},
    }


#: What a proxy may send; anything else could forge lines of a log.
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")
NAME = "request_id"


def begin(given: str = "") -> str:
    """Begin a request or task; return its id: the given one if it is valid, else a new one."""
    clear_contextvars()
    request_id = given if ACCEPTED.fullmatch(given) else uuid.uuid4().hex
    bind_contextvars(**{NAME: request_id})
    return request_id


def current() -> str:
    """Return the present id; empty outside of all requests."""
    return str(get_contextvars().get(NAME, ""))


def end() -> None:
    clear_contextvars()
