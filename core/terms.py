"""Words that carry meaning; pure."""

import re

from core.text import nfc

WORD = re.compile(r"\w+")
#: Characters of a first question that name its conversation.
TITLE_LENGTH = 80
FIGURE = re.compile(r"\d+(?:[.,:]\d+)*")


def content_words(text: str) -> set[str]:
    """Words that carry meaning, roughly stemmed: long enough, cut to six letters; figures stay whole."""
    return {word[:6] for word in words_of(text) if len(word) > 3 or word.isdecimal()}


def words_of(text: str) -> set[str]:
    """All its words, in small letters, however letters with marks are spelled."""
    return set(WORD.findall(nfc(text.lower())))


def figures(text: str) -> set[str]:
    """The numbers in it, as they are written."""
    return set(FIGURE.findall(text))


def title_of(question: str) -> str:
    """What a conversation is called that begins with this question."""
    words = " ".join(question.split())
    return words if len(words) <= TITLE_LENGTH else f"{words[:TITLE_LENGTH].rsplit(' ', 1)[0]} …"
