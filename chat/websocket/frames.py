"""What a client sends over the websocket, read; pure."""

import json
from typing import Any
from uuid import UUID

from django.utils.translation import gettext as _

from chat.errors import Refused
from chat.sites.session_tokens import LANGUAGES

#: The longest question takes a tenth of it.
MOST_CHARACTERS = 64 * 1024


def read_frame(text: str | None) -> dict[str, Any]:
    """Raises Refused for anything but a JSON object with a type, and for what no page sends."""
    if text and len(text) > MOST_CHARACTERS:
        raise Refused("frame_too_large", _("This message is too long."))
    try:
        frame = json.loads(text or "")
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
        raise Refused("bad_frame", _("This message could not be read. Please reload the page."))
    return frame


def as_uuid(frame: dict[str, Any], key: str) -> UUID:
    """Raises Refused."""
    try:
        return UUID(frame[key])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Refused("bad_frame", _("This message could not be read. Please reload the page.")) from error


def as_seq(frame: dict[str, Any], key: str) -> int | None:
    """The number of an event; None where it cannot be one."""
    number = frame.get(key)
    return number if type(number) is int and 0 <= number < 2**53 else None


def as_language(frame: dict[str, Any], key: str) -> str:
    """Raises Refused."""
    language = frame.get(key)
    if not isinstance(language, str) or language not in LANGUAGES:
        raise Refused("bad_frame", _("This message could not be read. Please reload the page."))
    return language


def error_event(code: str, detail: str, *, about: dict[str, Any], retry_after: int | None = None) -> dict[str, Any]:
    """The reply to a frame that was refused, naming what it was about."""
    named = ((key, about.get(key)) for key in ("client_id", "message", "conversation"))
    echoed = {key: value for key, value in named if isinstance(value, (str, int))}
    return {"type": "error", "seq": None, "code": code, "detail": detail, "retry_after": retry_after, **echoed}
