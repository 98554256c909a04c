"""Facts of one text: its words with their sign, its figures with their bounds, modality, quantity, conditions; pure."""

import re
from dataclasses import dataclass
from functools import lru_cache

from chat.pipeline.verification.measured_figures import (
    AFTER,
    BEFORE,
    LEAST,
    LEAST_WORD,
    MOST,
    MOST_WORD,
    Figure,
    read_figures,
)
from chat.pipeline.verification.signals import (
    ANSWER,
    CONDITION,
    EXCEPTION,
    PLAIN,
    find_modality,
    find_negators,
    find_quantities,
    split_clauses,
)
from chat.pipeline.verification.words import Word, fold, opposites, read_words
from knowledge.words.numerals import COUNTED, spell_out, split_counted

#: "two (2) weeks"
TWICE_WRITTEN = re.compile(r"\b(\d+) \(\1\)")
NON_EU = re.compile(r"\bnon-?\s?eu\b|\bnicht-eu\b|\bnon-eu/eea\b", re.IGNORECASE)
#: How many words of meaning a negating word reaches, behind it and, for German "nicht", before it.
REACH = 2

FRACTIONS = (
    (re.compile(r"\b(?:half|halves|hälfte|halb\w*)\b", re.I), ("n:50", "n:0.5", "n:6", "n:30")),
    (re.compile(r"\b(?:a quarter|viertel|one quarter)\b", re.I), ("n:25", "n:0.25", "n:3", "n:15")),
    (re.compile(r"\b(?:one third|a third|drittel)\b", re.I), ("n:33",)),
    (re.compile(r"\b(?:twice|zweimal|double|doubles|doppelt\w*|both|two-year|beide\w*|pair|couple)\b", re.I), ("n:2",)),
    (re.compile(r"\b(?:thrice|dreimal|triple)\b", re.I), ("n:3",)),
    (
        re.compile(
            r"\b(?:once|einmal\w*|single|only one|yearly|annual\w*|jährlich\w*|monthly|monatlich\w*"
            r"|weekly|daily|täglich)\b"
            r"|\b(?:an?|one|each|per|pro|im|am|every|jede\w*|eine?[nmrs]?)\s+(?:[\w-]+\s+)?(?:year|month"
            r"|week|day|hour|semester|course"
            r"|page|attempt|jahr|monat|woche|tag|stunde|semester|kurs|versuch|seite|fachsemester)",
            re.I,
        ),
        ("n:1",),
    ),
    (
        re.compile(
            r"\b(?:annual\w*|jährlich\w*|(?:an?|per|pro|full|whole|ganzes|ein(?:em|es)?) (?:years?|jahre?s?))\b", re.I
        ),
        ("n:12",),
    ),
    (re.compile(r"\b(?:noon|midday|mittags?)\b", re.I), ("t:720", "n:12")),
    (re.compile(r"\b(?:midnight|mitternacht)\b", re.I), ("t:0", "t:1440", "t:1439")),
    (re.compile(r"\b(?:fortnight)\b", re.I), ("n:14", "n:2")),
    (
        re.compile(
            r"\bend of (?:january|march|may|july|august|october|december)|ende (?:januar|märz|mai|juli"
            r"|august|oktober|dezember)",
            re.I,
        ),
        ("n:31",),
    ),
)


@dataclass(frozen=True, slots=True)
class Facts:
    """Everything about one text that is compared."""

    text: str
    words: tuple[Word, ...]
    keys: frozenset[str]
    #: Every key of a content word with the signs that it has in the text: +1 stated, -1 denied.
    signs: dict[str, frozenset[int]]
    #: Opposites that the text names, with the sign that negation leaves them: "accept" -> {-1}.
    poles: dict[str, frozenset[int]]
    negations: int
    answer: str
    figures: tuple[Figure, ...]
    figure_keys: frozenset[str]
    modality: frozenset[str]
    quantities: frozenset[str]
    bounds: frozenset[str]
    relations: frozenset[str]
    #: What comes before or after which words: "before" with the keys of the three words behind it.
    orders: tuple[tuple[str, frozenset[str]], ...]
    #: Spans of conditions and exceptions, as text.
    conditions: tuple[str, ...]
    exceptions: tuple[str, ...]

    @property
    def content(self) -> tuple[Word, ...]:
        return tuple(word for word in self.words if word.keys)


@lru_cache(maxsize=4096)
def read_facts(text: str) -> Facts:
    """Return the facts of a sentence or unit."""
    text = NON_EU.sub("noneu", TWICE_WRITTEN.sub(r"\1", spell_out(COUNTED.sub(" 1", split_counted(text)))))
    for pattern, plain in PLAIN:
        text = pattern.sub(plain, text)
    words = tuple(read_words(text))
    negators = find_negators(text)
    signs, poles = _signs(text, words, negators)
    figures = tuple(read_figures(text))
    match = ANSWER.match(text)
    clauses = split_clauses(text)
    bounds = {each.bound for each in figures if each.bound}
    bounds |= {LEAST} if LEAST_WORD.search(text) else set()
    bounds |= {MOST} if MOST_WORD.search(text) else set()
    return Facts(
        text=text,
        words=words,
        keys=frozenset(key for word in words for key in word.keys),
        signs=signs,
        poles=poles,
        negations=len(negators),
        answer=("yes" if match["yes"] else "no") if match else "",
        figures=figures,
        figure_keys=frozenset(key for figure in figures for reading in figure.readings for key in reading)
        | frozenset(key for pattern, keys in FRACTIONS if pattern.search(text) for key in keys),
        modality=frozenset(find_modality(text)),
        quantities=frozenset(find_quantities(text[match.end() :] if match else text)),
        bounds=frozenset(bounds),
        relations=frozenset(name for name, pattern in (("before", BEFORE), ("after", AFTER)) if pattern.search(text)),
        orders=tuple(_orders(text, words)),
        conditions=tuple(_tails(text, CONDITION, clauses)),
        exceptions=tuple(_tails(text, EXCEPTION, clauses)),
    )


def _tails(text: str, marker: re.Pattern[str], clauses: object) -> list[str]:
    """Return what follows each marker up to the end of its clause."""
    found = []
    for match in marker.finditer(text):
        rest = text[match.end() : match.end() + 160]
        end = re.search(r"[,;:.!?](?!\d)|\s[–—]\s", rest[1:])
        found.append(rest[: end.start() + 1] if end else rest)
    return found


def _signs(
    text: str, words: tuple[Word, ...], negators: list[tuple[int, int]]
) -> tuple[dict[str, frozenset[int]], dict[str, frozenset[int]]]:
    clauses = split_clauses(text)
    denied: dict[int, int] = {}
    content = [place for place, word in enumerate(words) if word.keys]
    for start, end in negators:
        first, last = clauses.around(start)
        behind = [p for p in content if end <= words[p].start < last][: REACH + 1]
        before = [p for p in content if first <= words[p].start < start][-REACH:]
        reached = behind[:REACH]
        if text[start:end].lower() in ("nicht", "nie", "niemals", "weder") or not behind:
            reached = behind[:REACH] + before[-(REACH if not behind else 1) :]
        for place in reached:
            denied[place] = denied.get(place, 0) + 1
    signs: dict[str, set[int]] = {}
    poles: dict[str, set[int]] = {}
    names = opposites()
    for place, word in enumerate(words):
        sign = -1 if denied.get(place, 0) % 2 else 1
        pole = names.get(fold(word.text))
        if pole:
            poles.setdefault(pole[1:], set()).add(sign if pole[0] == "+" else -sign)
            if pole[0] == "-":
                sign = -sign
        for key in word.keys:
            signs.setdefault(key, set()).add(sign)
    return (
        {key: frozenset(found) for key, found in signs.items()},
        {key: frozenset(found) for key, found in poles.items()},
    )


def _orders(text: str, words: tuple[Word, ...]) -> list[tuple[str, frozenset[str]]]:
    found = []
    for name, pattern in (("before", BEFORE), ("after", AFTER)):
        for match in pattern.finditer(text):
            behind = [word for word in words if word.keys and match.end() <= word.start < match.end() + 60][:3]
            if behind:
                found.append((name, frozenset(key for word in behind for key in word.keys)))
    return found
