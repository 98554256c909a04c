"""Checks a question before anything is done with it; pure."""

import re
import unicodedata

from django.utils.translation import gettext as _

from chat.errors import Refused

#: Controls but for tab and newline: they have no meaning in a question, and PostgreSQL refuses NUL.
CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
#: Half a surrogate pair, which JSON can carry and UTF-8 cannot.
LONE_SURROGATES = re.compile(r"[\ud800-\udfff]")


def clean_question(text: object, *, limit: int) -> str:
    """Return the question without control characters and outer space. Raise Refused."""
    if not isinstance(text, str):
        raise Refused("bad_question", _("Please type your question as text."))
    cleaned = LONE_SURROGATES.sub("\ufffd", CONTROLS.sub("", text.replace("\r\n", "\n"))).strip()
    if not cleaned:
        raise Refused("empty_question", _("Please type a question first."))
    if len(cleaned) > limit:
        raise Refused(
            "question_too_long",
            _("Your question has %(length)d characters. Please shorten it to %(limit)d.")
            % {"length": len(cleaned), "limit": limit},
        )
    if not any(unicodedata.category(character)[0] in "LN" for character in cleaned):
        raise Refused("no_words", _("There are no words in it that could be looked up. Please ask in a sentence."))
    return cleaned
