"""Pages of which only the words are known."""

import re
from collections.abc import Sequence

from knowledge.words.abbreviations import Abbreviations, find_definitions
from knowledge.words.question import Pages
from knowledge.words.vocabulary import Vocabulary, Words


def vocabulary(*texts: str) -> Words:
    """Return the words of several collections, each with one text."""
    collections = [Vocabulary() for _ in texts]
    for collection, text in zip(collections, texts, strict=True):
        collection.add(text)
    return Words(collections)


def pages(text: str, *, listed: Sequence[tuple[str, str]] = (), german: bool = True) -> Pages:
    """Return what is known of one page, without inflections; no word that it lacks is a common one."""
    there = set(re.findall(r"\w+", text.lower()))
    abbreviations = Abbreviations()
    abbreviations.add(1, find_definitions(text))
    abbreviations.add(0, listed)
    return Pages(
        words=vocabulary(text),
        german=vocabulary(text if german else ""),
        abbreviations=[abbreviations],
        has=lambda form: set(re.findall(r"\w+", form.lower())) <= there,
        is_known=lambda _word: False,
    )
