"""Checks what somebody writes into a case."""

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chat.errors import Refused
from chat.pipeline.guardrails.input import CONTROLS, LONE_SURROGATES

MESSAGE_CHARACTERS = 8000


def check_words(text: str, *, most: int = MESSAGE_CHARACTERS) -> str:
    """Return the text without control characters and blanks around it. Raise Refused if it is empty or too long."""
    cleaned = LONE_SURROGATES.sub("\ufffd", CONTROLS.sub("", text.replace("\r\n", "\n"))).strip()
    if not cleaned:
        raise Refused("empty_message", _("Please write something first."))
    if len(cleaned) > most:
        over = len(cleaned) - most
        raise Refused(
            "message_too_long",
            ngettext(
                "Please shorten your text by %(over)d character.",
                "Please shorten your text by %(over)d characters.",
                over,
            )
            % {"over": over},
        )
    return cleaned
