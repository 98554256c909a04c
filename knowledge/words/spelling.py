"""Words of a question that stand on no page, read as the ones that do; pure."""

import re
from collections.abc import Callable

from rapidfuzz import process
from rapidfuzz.distance import OSA

from knowledge.words.vocabulary import LONGEST, SHORTEST, WORD, Words

#: Slips (a letter more, less, another one, or two exchanged) that a word may have, from so many letters on.
SLIPS = ((12, 2), (SHORTEST, 1))
#: Words looked up in a question at most: the words of a pasted page would only cost time.
MOST = 24


def find_closest(word: str, words: Words) -> str:
    """Return the word with the fewest slips, of these the most frequent one; empty if all are too far."""
    most = next(slips for length, slips in SLIPS if len(word) >= length)
    found: list[tuple[float, int, str]] = []
    for length in range(len(word) - most, len(word) + most + 1):
        near = process.extract(word, words.alike(word[0], length), scorer=OSA.distance, score_cutoff=most, limit=None)
        found += [(slips, -words.count(other), other) for other, slips, _place in near]
    return min(found)[2] if found else ""


def correct_spelling(text: str, words: Words, *, is_known: Callable[[str], bool]) -> str:
    """Return a text whose misspelt words are replaced by the closest of `words`.

    A word that `is_known` elsewhere is no slip, however close another one is. First letters are trusted, and so are
    words with a capital or a figure inside.
    """
    looked_up = 0

    def correct(match: re.Match[str]) -> str:
        nonlocal looked_up
        word = match[0]
        plain = word.lower()
        if not SHORTEST <= len(word) <= LONGEST or plain in words or word[1:] != plain[1:]:
            return word
        looked_up += 1
        if looked_up > MOST or is_known(plain):
            return word
        found = find_closest(plain, words)
        return found.capitalize() if found and word[0].isupper() else found or word

    return WORD.sub(correct, text)
