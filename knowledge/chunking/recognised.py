"""Passages whose words OCR has read off a picture; pure."""

from collections.abc import Iterable

#: Shorter lines stand on printed pages by chance.
LEAST_LETTERS = 12
#: A passage begins on its page and goes on over so many more at most.
MORE_PAGES = 2


def has_recognised_line(passage: str, lines: Iterable[str]) -> bool:
    """Return whether a passage (Markdown) has one of the lines that OCR read, whatever was joined or set there."""
    text = _letters(passage)
    return any(len(line) >= LEAST_LETTERS and line in text for line in map(_letters, lines))


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())
