"""Reads the frames that a client sends over the websocket; pure."""

import json
from typing import Any

from django.conf import settings
from django.utils.translation import gettext as _
from pydantic import ValidationError

from chat.errors import NotFound, Refused
from chat.pipeline.guardrails.input import clean_question
from chat.protocol.answer_events import Error
from chat.protocol.frames import FRAMES, Ask, Frame

#: The longest question takes a tenth of it.
MOST_CHARACTERS = 64 * 1024


def read_frame(text: str | None) -> dict[str, Any]:
    """Read a JSON object with a type; raise Refused for anything else, and for what no page sends."""
    if text and len(text) > MOST_CHARACTERS:
        raise Refused("frame_too_large", _("This message is too long."))
    try:
        frame = json.loads(text or "")
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
        raise _unreadable()
    return frame


def parse_frame(frame: dict[str, Any]) -> Frame:
    """Check a frame against the protocol, and clean a question. Raise Refused, or NotFound for what is no answer."""
    model = FRAMES.get(frame["type"])
    if model is None:
        raise Refused("unknown_event", _("This page is out of date. Please reload it."))
    # The token was checked before, and a later frame may hold anything in its place.
    checked = {key: value for key, value in frame.items() if key != "token"}
    if model is Ask:
        checked["text"] = clean_question(frame.get("text"), limit=settings.QUESTION_MAX_CHARACTERS)
    try:
        return model.model_validate(checked)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise _refusal(frame["type"], str(first["loc"][0])) from error


def _refusal(frame: str, field: str) -> Exception:
    """Return what is said about the first field that is wrong."""
    match frame, field:
        case (("stop" | "contact"), "message"):
            return NotFound()
        case "feedback", "value" | "message":
            return Refused("bad_feedback", _("A rating is 1, -1 or 0."))
        case "feedback", "reasons":
            return Refused("bad_feedback", _("The reasons could not be read. Please reload the page."))
        case "feedback", "comment":
            return Refused("bad_feedback", _("Please type your comment as text."))
        case "rating", "stars":
            return Refused("bad_rating", _("A rating is 1 to 5 stars."))
    return _unreadable()


def _unreadable() -> Refused:
    return Refused("bad_frame", _("This message could not be read. Please reload the page."))


def error_reply(code: str, detail: str, *, about: dict[str, Any], retry_after: int | None = None) -> dict[str, Any]:
    """Return the reply to a frame that was refused, naming what it was about."""
    named = ((key, about.get(key)) for key in ("client_id", "message", "conversation"))
    echoed = {key: value for key, value in named if isinstance(value, (str, int))}
    return {**Error(code, detail, retry_after).to_wire(), "seq": None, **echoed}
