"""German compounds and their parts, by the words of the pages; pure.

"Prüfungsanmeldung" is read as "Prüfung" and "Anmeldung", "Anmeldung zur Prüfung" as "Prüfungsanmeldung".
"""

import math
from collections.abc import Iterator, Sequence

from core.terms import STOP_WORDS
from knowledge.words.vocabulary import SHORTEST, Words

#: Between two parts: "Prüfung-s-anmeldung". The longest that fits is tried first.
LINKS = ("en", "es", "er", "s", "n", "e", "")
#: Endings of a last part that the pages may have without them.
ENDINGS = ("", "en", "es", "er", "n", "s", "e")
#: Words further apart are not joined; a compound has so many parts at most.
NEAR, MOST_PARTS = 3, 3


def split_compound(word: str, words: Words, *, most: int = MOST_PARTS) -> tuple[str, ...]:
    """Return the parts of a compound as the pages have them, in lower case; empty if they do not have all.

    Of several ways the one whose parts are the most frequent (geometric mean) is taken (Koehn and Knight 2003).
    """
    plain = word.lower()
    ways = []
    for at in range(SHORTEST, len(plain) - SHORTEST + 1):
        if first := _find_first(plain[:at], words):
            last = _find_part(plain[at:], words)
            rest: tuple[str, ...] = (last,) if last else ()
            if not last and most > 2:
                rest = split_compound(plain[at:], words, most=most - 1)
            if rest:
                parts = (first, *rest)
                ways.append((math.prod(map(words.count, parts)) ** (1 / len(parts)), parts))
    return max(ways)[1] if ways else ()


def _find_first(start: str, words: Words) -> str:
    stems = (start.removesuffix(link) for link in LINKS if start.endswith(link))
    return max((part for stem in stems if (part := _find_part(stem, words))), key=words.count, default="")


def _find_part(text: str, words: Words) -> str:
    """Return the most frequent inflection that the pages have; empty if they have none."""
    stems = {text.removesuffix(ending) for ending in ENDINGS if text.endswith(ending)}
    forms = {f"{stem}{ending}" for stem in stems if len(stem) >= SHORTEST for ending in ENDINGS}
    there = [form for form in forms if form in words and form not in STOP_WORDS]
    return max(there, key=lambda form: (words.count(form), form), default="")


def join_compounds(asked: Sequence[str], words: Words) -> Iterator[tuple[str, str, str]]:
    """Yield (word, other word, compound of the pages that has both) of words that stand near each other."""
    plain = [word.lower() for word in asked]
    for at, word in enumerate(plain):
        for other in plain[at + 1 : at + 1 + NEAR]:
            for first, last in ((other, word), (word, other)):
                stems = dict.fromkeys((first, first.removesuffix("e"), *_without_ending(first)))
                joined = (f"{stem}{link}{last}" for stem in stems for link in LINKS)
                if compound := next((each for each in joined if each in words), ""):
                    yield word, other, compound


def _without_ending(word: str) -> list[str]:
    return [word.removesuffix(ending) for ending in ENDINGS if ending and word.endswith(ending)]
