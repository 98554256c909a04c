"""Abbreviations that pages explain, as "Test of English as a Foreign Language (TOEFL)" does; pure.

What is short for what is found by the algorithm of Schwartz and Hearst (2003): read from the end, each letter of the
short form stands in the long one, and its first letter begins a word.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

#: A short form as it is written: at least two of its letters are capitals.
SHORT = re.compile(r"(?=(?:[^\W\d_]*[A-ZÄÖÜ]){2})[A-ZÄÖÜ][^\W_]{1,9}")
PARENTHESIS = re.compile(r"\(([^()\n]{2,120})\)")
MARKUP = re.compile(r"[*_`\[\]]")
WORD = re.compile(r"\w+")
#: Where a long form cannot go on.
BREAK = re.compile(r"[.;:!?|,]\s|\n|\|")
#: Words of a long form that is looked up at most, and long forms of one short form.
MOST_WORDS, MOST_FORMS = 8, 3


def find_definitions(text: str) -> list[tuple[str, str]]:
    """Return (short form, long form) of every abbreviation that a text explains."""
    plain = MARKUP.sub("", text)
    found = []
    for match in PARENTHESIS.finditer(plain):
        inside, before = match[1].strip(), plain[max(0, match.start() - 200) : match.start()].rstrip()
        if SHORT.fullmatch(inside):
            words = BREAK.split(before)[-1].split()
            long = _match_letters(inside, " ".join(words[-min(len(inside) + 5, len(inside) * 2) :]))
            found.append((inside, long))
        elif short := SHORT.fullmatch(before.split()[-1] if before else ""):
            candidate = BREAK.split(inside)[0]
            long = _match_letters(short[0], candidate)
            found.append((short[0], long if long == candidate else ""))
    return [(short, long) for short, long in found if long]


def _match_letters(short: str, candidate: str) -> str:
    """Return the end of `candidate` that the short form stands for; empty if its letters are not there in order."""
    at = len(candidate)
    for place in range(len(short) - 1, -1, -1):
        letter = short[place].lower()
        at -= 1
        while at >= 0 and (candidate[at].lower() != letter or (place == 0 and at > 0 and candidate[at - 1].isalnum())):
            at -= 1
        if at < 0:
            return ""
    long = candidate[at:]
    words = WORD.findall(long)
    is_long = len(long) > len(short) and len(words) <= MOST_WORDS and short.lower() not in map(str.lower, words)
    return long if is_long else ""


def read_key(text: str) -> tuple[str, ...]:
    return tuple(WORD.findall(text.lower()))


class Abbreviations:
    """Meanings of short forms; `counts` says how often each (short form, long form) is explained."""

    def __init__(self, counts: Mapping[tuple[str, str], int]) -> None:
        self._long: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self._short: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for (short, long), count in counts.items():
            self._long[short.lower()][long] += count
            self._short[read_key(long)][short] += count

    def long_forms(self, short: str) -> list[str]:
        """Return what a short form stands for, the most frequent first, whatever its capitals."""
        return _most_frequent(self._long.get(short.lower()))

    def short_forms(self, words: Sequence[str]) -> list[str]:
        """Return the short forms of a long one, given as its words in lower case."""
        return _most_frequent(self._short.get(tuple(words)))


def _most_frequent(counts: Counter[str] | None) -> list[str]:
    return [form for form, _count in (counts or Counter[str]()).most_common(MOST_FORMS)]


def read_abbreviations(
    words: Sequence[str], known: Sequence[Abbreviations]
) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Yield (first word, word after the last, other forms) of each abbreviation or long form in a question."""
    for first, word in enumerate(words):
        # "it" and "us" are no abbreviations unless they are written so.
        is_short = len(word) > 2 or word.isupper()
        if is_short and (forms := tuple(dict.fromkeys(form for each in known for form in each.long_forms(word)))):
            yield first, first + 1, forms
        for end in range(first + 1, min(first + MOST_WORDS, len(words)) + 1):
            key = tuple(each.lower() for each in words[first:end])
            if forms := tuple(dict.fromkeys(form for each in known for form in each.short_forms(key))):
                yield first, end, forms
