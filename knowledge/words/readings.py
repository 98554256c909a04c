"""Readings of the words of a question: what else a page may call the same thing."""

from dataclasses import dataclass
from enum import StrEnum


class Step(StrEnum):
    """A way to read a word."""

    SPELLING = "spelling"
    ABBREVIATIONS = "abbreviations"
    NUMBERS = "numbers"
    COMPOUNDS = "compounds"
    SYNONYMS = "synonyms"


@dataclass(frozen=True, slots=True)
class Reading:
    """A word or phrase of a question, and what is looked up as well; for a slip of spelling, in its place.

    Of something in several words a page must have them all.
    """

    step: Step
    word: str
    read_as: tuple[str, ...]
