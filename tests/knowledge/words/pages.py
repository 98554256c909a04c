"""Pages of which only the words are known."""

import re
from collections import Counter
from collections.abc import Sequence

from knowledge.words.abbreviations import Abbreviations, find_definitions
from knowledge.words.question import Pages
from knowledge.words.vocabulary import LONGEST, SHORTEST, WORD, Words


class TextWords:
    """The words of one text."""

    def __init__(self, text: str) -> None:
        self._counts = Counter(WORD.findall(text.lower()))

    def count(self, word: str) -> int:
        return self._counts[word] if SHORTEST <= len(word) <= LONGEST else 0

    def alike(self, first: str, length: int) -> list[str]:
        return [word for word in self._counts if word[0] == first and len(word) == length]


def vocabulary(*texts: str) -> Words:
    """Return the words of several collections, each with one text."""
    return Words([TextWords(text) for text in texts])


def pages(text: str, *, listed: Sequence[tuple[str, str]] = (), german: bool = True) -> Pages:
    """Return what is known of one page, without inflections; no word that it lacks is a common one."""
    there = set(re.findall(r"\w+", text.lower()))
    return Pages(
        words=vocabulary(text),
        german=vocabulary(text if german else ""),
        abbreviations=[Abbreviations(Counter([*find_definitions(text), *listed]))],
        has=lambda form: set(re.findall(r"\w+", form.lower())) <= there,
        is_known=lambda _word: False,
    )
