"""The words of pages, and in how many passages each stands; pure."""

import re
from collections.abc import Sequence
from typing import Protocol

#: Shorter words are one slip away from many others, and no part of a compound.
SHORTEST, LONGEST = 4, 40
WORD = re.compile(r"[^\W\d_]+")


def read_words(text: str) -> list[str]:
    """Return the words of a text that a vocabulary holds, in lower case, each once."""
    return [word for word in dict.fromkeys(WORD.findall(text.lower())) if SHORTEST <= len(word) <= LONGEST]


class Vocabulary(Protocol):
    """The words of one collection."""

    def count(self, word: str) -> int:
        """Return how many passages have a word."""

    def alike(self, first: str, length: int) -> Sequence[str]:
        """Return the words that begin with this letter and have so many."""


class Words:
    """The words of several collections as one vocabulary."""

    def __init__(self, vocabularies: Sequence[Vocabulary]) -> None:
        self._vocabularies = vocabularies

    def __contains__(self, word: str) -> bool:
        return any(each.count(word) for each in self._vocabularies)

    def count(self, word: str) -> int:
        return sum(each.count(word) for each in self._vocabularies)

    def alike(self, first: str, length: int) -> list[str]:
        """Return the words that begin with this letter and have so many."""
        return [word for each in self._vocabularies for word in each.alike(first, length)]
