"""Rows without what tells who asked; pure.

A student's own words are masked as everywhere (`analytics.masking`), and what they said of themselves once is taken out
wherever it is said again, by them or in an answer. What else an answer says it has from pages, whose names and
addresses are public: they stay.
"""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from analytics.masking import (
    E_MAIL,
    IBAN,
    INTRODUCED,
    LABELLED_NUMBER,
    LONG_NUMBER,
    PHONE,
    PRESENTED,
    SIGNED,
    TITLED,
    TYPED,
    masked,
)
from analytics.reports.answers import MADE_BY, OWN_WORDS, SAID, Row
from chat.models import Message

#: Which group of a pattern tells who asked, and what is said in its place.
TELLING: tuple[tuple[re.Pattern[str], int | str, str], ...] = (
    (E_MAIL, 0, "[e-mail]"),
    (IBAN, 0, "[number]"),
    (LABELLED_NUMBER, "number", "[number]"),
    (PHONE, 0, "[phone]"),
    (LONG_NUMBER, 0, "[number]"),
    *((pattern, "name", "[name]") for pattern in (SIGNED, INTRODUCED, PRESENTED, TITLED, TYPED)),
)
#: Shorter parts of a name, such as “de”, are words of the language too.
LEAST_OF_A_NAME = 3


def protect(row: Row) -> None:
    """Masks the row in place."""
    for key in OWN_WORDS:
        if row.get(key):
            row[key] = without(_masked(row[key]), row[SAID])
    if row.get("answer") and row[MADE_BY] != Message.Strategy.EXTRACTIVE:
        row["answer"] = without(row["answer"], row[SAID])


def without(text: str, said: Iterable[str]) -> str:
    """The text, with [name] and the like for what the student said that tells who they are."""
    told = dict(piece for earlier in said for piece in _told(earlier))
    for piece in sorted(told, key=len, reverse=True):
        if piece in text.casefold():
            text = re.sub(rf"(?<!\w){re.escape(piece)}(?!\w)", told[piece], text, flags=re.IGNORECASE)
    return text


@lru_cache(maxsize=4_096)
def _masked(text: str) -> str:
    """A question is often its own rewriting."""
    return masked(text)


@lru_cache(maxsize=4_096)
def _told(text: str) -> tuple[tuple[str, str], ...]:
    """What a text says of its writer, each with what stands in its place; an answer may say a part of a name alone."""
    return tuple(_pieces(" ".join(text.split())))


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    if _masked(text) == text:
        return
    for pattern, group, said in TELLING:
        for found in pattern.finditer(text):
            piece = found[group].strip().casefold()
            yield piece, said
            if said == "[name]":
                yield from ((part, said) for part in piece.split() if len(part) >= LEAST_OF_A_NAME)
