"""One id for everything that one request, socket or task causes, in every log line of it."""

import re
import uuid

from structlog.contextvars import bind_contextvars, clear_contextvars, get_contextvars

#: What a proxy may send; anything else could forge lines of a log.
ACCEPTED = re.compile(r"[A-Za-z0-9._-]{8,64}")
NAME = "request_id"


def begin(given: str = "") -> str:
    """The id of what begins now: the given one where it is fit, else a new one."""
    clear_contextvars()
    request_id = given if ACCEPTED.fullmatch(given) else uuid.uuid4().hex
    bind_contextvars(**{NAME: request_id})
    return request_id


def current() -> str:
    """Empty outside of all requests."""
    return str(get_contextvars().get(NAME, ""))


def end() -> None:
    clear_contextvars()
