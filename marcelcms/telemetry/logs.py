"""Log lines as one JSON object, or as text, each with its request's id; never with a person's words.

Our own lines follow one form, "what happened name=%s number=%d": the words become `event`, each name a field. Values
are scalars, and long ones are cut. Exceptions are told by their type and where they were raised; what they say is
told only of those that never quote what they worked on, since a database's error holds the row it refused.
"""

import logging
import re
import traceback
from collections.abc import Iterator, Mapping, MutableMapping
from types import TracebackType
from typing import Any

import structlog
from django.core.exceptions import ImproperlyConfigured
from django.db import InterfaceError, OperationalError
from redis.exceptions import ConnectionError as ValkeyAway

from knowledge.inference.chat_model import ModelUnavailable
from knowledge.inference.embedder import EmbeddingUnavailable

OURS = ("analytics", "chat", "faqs", "knowledge", "marcelcms")
#: Whose DEBUG and INFO lines hold requests, frames, statements or arguments: they never speak of less than a warning.
TALKATIVE = (
    *("openai", "httpx", "httpcore", "websockets", "uvicorn.access", "asyncio", "urllib3", "scrapy", "pdfminer"),
    *("django", "django.db.backends", "celery", "kombu", "amqp", "redis", "psycopg", "psycopg.pool", "daphne"),
)
#: Exceptions that say what is wrong with the machine, not with what it was given.
SPEAKING = (
    *(OSError, ImportError, OperationalError, InterfaceError, ValkeyAway, ImproperlyConfigured),
    *(EmbeddingUnavailable, ModelUnavailable),
)
VALUE = re.compile(r"(\w+)=%(?:\.\d+)?[sdrfi]")
MOST_CHARACTERS = 200

Line = MutableMapping[str, Any]


def parted(_logger: object, _method: str, line: Line) -> Line:
    """The words and the values of one of our own records, apart; others' exceptions by their type."""
    record: logging.LogRecord = line["_record"]
    line["logger"] = record.name
    if record.name == "celery.app.trace" and isinstance(record.args, Mapping):
        line["event"] = "task failed" if record.levelno >= logging.ERROR else "task did not finish"
        line |= {"task": record.args.get("name", ""), "task_id": record.args.get("id", "")}
    elif record.name.partition(".")[0] in OURS and isinstance(record.msg, str):
        names = VALUE.findall(record.msg)
        values = record.args if isinstance(record.args, tuple) else ()
        line["event"] = VALUE.split(record.msg, maxsplit=1)[0].strip() if names else record.getMessage()
        line |= {name: _scalar(value) for name, value in zip(names, values, strict=False)}
    else:
        if isinstance(record.args, tuple):
            record.args = tuple(_unsaid(value) for value in record.args)
        line["event"] = _scalar(record.getMessage())
    return line


def _unsaid(value: object) -> object:
    exception = getattr(value, "exception", value)  # what Celery wraps one in
    return type(exception).__name__ if isinstance(exception, BaseException) else value


def _scalar(value: object) -> object:
    if value is None or isinstance(value, (bool, int, float)):
        return value
    return str(value)[:MOST_CHARACTERS] if isinstance(value, str) else f"<{type(value).__name__}>"


def traced(_logger: object, _method: str, line: Line) -> Line:
    """The chain of exceptions and where each was raised, without what they say of data."""
    info = line.pop("exc_info", None)
    if isinstance(info, tuple) and info[1] is not None:
        line["exception"] = list(_told(info[1]))
    line.pop("stack_info", None)
    return line


def _told(error: BaseException) -> Iterator[str]:
    cause: BaseException | None = error
    seen: set[int] = set()
    while cause is not None and id(cause) not in seen:
        seen.add(id(cause))
        said = f": {_first_line(cause)}" if isinstance(cause, SPEAKING) else ""
        yield f"{type(cause).__module__}.{type(cause).__qualname__}{said}"
        yield from _places(cause.__traceback__)
        cause = cause.__cause__ or (None if cause.__suppress_context__ else cause.__context__)


def _places(trace: TracebackType | None) -> Iterator[str]:
    for frame in traceback.extract_tb(trace)[-12:]:
        yield f"  {frame.filename}:{frame.lineno} {frame.name}"


def _first_line(error: BaseException) -> str:
    return (str(error).splitlines() or [""])[0][:MOST_CHARACTERS]


def as_text(_logger: object, _method: str, line: Line) -> str:
    """For people: time, level, logger, event, fields, and an exception below."""
    trace = line.pop("exception", [])
    head = f"{line.pop('timestamp')} {line.pop('level').upper()} {line.pop('logger')} {line.pop('event')}"
    fields = "".join(f" {name}={value}" for name, value in line.items())
    return "\n".join([_on_one_line(head + fields), *map(_on_one_line, trace)])


def _on_one_line(text: str) -> str:
    """Nobody can add a line of their own to the log."""
    return "".join(character if character.isprintable() else " " for character in text)


RENDERERS: Mapping[str, Any] = {"line": as_text, "json": structlog.processors.JSONRenderer(ensure_ascii=False)}


def formatter(form: str) -> structlog.stdlib.ProcessorFormatter:
    """`form` is a key of RENDERERS."""
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[
            structlog.contextvars.merge_contextvars,
            structlog.stdlib.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
        ],
        processors=[parted, traced, structlog.stdlib.ProcessorFormatter.remove_processors_meta, RENDERERS[form]],
        keep_exc_info=True,
        pass_foreign_args=False,
    )


def configuration(*, form: str, level: str) -> dict[str, Any]:
    """Django's LOGGING: our own modules from `level` on, everybody else from warnings on."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"event": {"()": "marcelcms.telemetry.logs.formatter", "form": form}},
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "event"}},
        "root": {"handlers": ["console"], "level": "WARNING"},
        "loggers": {name: {"level": level} for name in OURS}
        | {name: {"level": "WARNING", "handlers": [], "propagate": True} for name in TALKATIVE}
        | {name: {"level": "INFO", "handlers": [], "propagate": True} for name in ("uvicorn", "uvicorn.error")},
    }
