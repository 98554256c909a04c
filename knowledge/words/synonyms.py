"""Words that mean the same in the life of a university, English and German: the groups of `synonyms.txt`; pure.

The check of sentences has groups of its own (`chat.pipeline.verification`). They are coarser, since a wrong one there
only makes it compare more: "ask", "request" and "apply" are one. Searched with, they find less.
"""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

LIST = Path(__file__).parent / "synonyms.txt"
WORD = re.compile(r"\w+")
#: Words of a phrase at most.
MOST_WORDS = 5
#: Endings without which a word is looked up too.
ENDINGS = ("innen", "en", "es", "er", "s", "n", "e")
SHORTEST_STEM = 4


def read_synonyms(words: Sequence[str]) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield (first word, word after the last, other words and phrases) of what a question names; longest phrases first.

    A word within a phrase is not read alone: "leave of absence" is no absence.
    """
    groups, places = _tables()
    plain = [word.lower() for word in words]
    taken: set[int] = set()
    for length in range(MOST_WORDS, 0, -1):
        for first in range(len(plain) - length + 1):
            span = range(first, first + length)
            if not taken.isdisjoint(span):
                continue
            key = tuple(plain[first : first + length])
            found = places.get(key) or (_without_ending(key[0], places) if length == 1 else ())
            if found:
                taken.update(span)
                others = dict.fromkeys(form for number in found for form in groups[number])
                yield first, first + length, tuple(" ".join(form) for form in others if form != key)


def _without_ending(word: str, places: dict[tuple[str, ...], list[int]]) -> Sequence[int]:
    stems = (word.removesuffix(ending) for ending in ENDINGS if word.endswith(ending))
    return next((places[stem,] for stem in stems if len(stem) >= SHORTEST_STEM and (stem,) in places), ())


@cache
def _tables() -> tuple[list[list[tuple[str, ...]]], dict[tuple[str, ...], list[int]]]:
    """Return the groups, and the numbers of those that have a word or phrase."""
    lines = [line for line in LIST.read_text("utf-8").splitlines() if line and not line.startswith("#")]
    groups = [[tuple(WORD.findall(form.replace("_", " "))) for form in line.split()] for line in lines]
    places: dict[tuple[str, ...], list[int]] = {}
    for number, group in enumerate(groups):
        for form in group:
            places.setdefault(form, []).append(number)
    return groups, places
