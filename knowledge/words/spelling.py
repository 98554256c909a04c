"""Words of a question that stand on no page, read as the ones that do; pure."""

import re
from collections.abc import Callable, Mapping

from rapidfuzz.distance import OSA

#: Shorter words are one slip away from many others.
SHORTEST, LONGEST = 4, 30
#: Slips (a letter more, less, another one, or two exchanged) that a word may have, from so many letters on.
SLIPS = ((12, 2), (SHORTEST, 1))
WORD = re.compile(r"[^\W\d_]+")
#: Words looked up in a question at most: the words of a pasted page would only cost time.
MOST = 24


def correct_spelling(text: str, words: Mapping[str, int], *, is_known: Callable[[str], bool]) -> str:
    """Return a text whose misspelt words are replaced by the closest of `words`, which are lower-case with counts.

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
        found = _closest(plain, words)
        return found.capitalize() if found and word[0].isupper() else found or word

    return WORD.sub(correct, text)


def _closest(word: str, words: Mapping[str, int]) -> str:
    """Return the word with the fewest slips, of these the most frequent one; empty if all are too far."""
    most = next(slips for length, slips in SLIPS if len(word) >= length)
    best = (most + 1, 0, "")
    for other, count in words.items():
        if other[0] != word[0] or abs(len(other) - len(word)) > most:
            continue
        slips = OSA.distance(word, other, score_cutoff=best[0])
        best = min(best, (slips, -count, other))
    return best[2] if best[0] <= most else ""
