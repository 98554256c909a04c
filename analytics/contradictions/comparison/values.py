"""Figures, dates and times that two statements on one matter have otherwise; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.utils import timezone

from analytics.contradictions.comparison.statements import Statement, comparable
from chat.pipeline.verification.facts import Facts, read_facts
from chat.pipeline.verification.measured_figures import MOST, Figure
from chat.pipeline.verification.words import fold, read_words, stem, word_keys

DURATIONS = frozenset({"day", "workday", "week", "month", "year", "hour", "minute", "semester"})
YEAR = re.compile(r"(?:1[89]|20)\d\d")
TERM = re.compile(
    r"(?:\b(?:term|semester|fall|spring|summer|winter|autumn|ws|ss|wise|sose)|(?:winter|sommer)semester)[\s,']*$",
    re.IGNORECASE,
)
#: Two pages with the same day of other years, none older than so many years, are about other years.
RECENT_YEARS = 10
#: Characters on each side of a figure whose words say what it is of.
NEAR = 45
#: A text with more figures than this is a list of values: which of two is which is not known.
MOST_FIGURES = 8
#: Behind these a number is a score, behind other words a name: "season 2", "Room 14".
SCORED = frozenset(
    key for test in ("ielts", "toefl", "ibt", "duolingo", "gre", "dsh", "testdaf") for key in word_keys(test)
)
WORD_BEFORE = re.compile(r"([^\W\d_]+)\s$")
NAMED_BY = re.compile(r"(?:#|№|[^\W\d_]-|(?<![^\W_])[A-ZÄÖÜ])\s?$")
#: A figure is one of something else if another thing stands behind: "50 GB/s", "1.5 GB/s per compute node".
RATE = re.compile(r"^\W?(?:[^\s.,;:]+\s){0,2}?(?:per|pro|je|a)\s(?P<of>[^\W\d_]+)", re.IGNORECASE)
#: No version: "2.2.10".
PLAIN_NUMBER = re.compile(r"\d+(?:\.\d+)?")
EXAMPLE = re.compile(
    r"(?:\b(?:for example|for instance|e\.g\.|such as|zum Beispiel)|z\.\s?B\.)[^.;]{0,25}$", re.IGNORECASE
)
#: A note on when a text was made or changed.
EDITION = re.compile(
    r"\b(?:amended|promulgated|adopted|revised|(?:last|zuletzt) \w+|updated|aktualisiert|geändert"
    r"|(?:in der )?fassung vom|stand)\b",
    re.IGNORECASE,
)
#: A year in a text without any of these is that of a book.
SAYS = re.compile(
    r"\b(?:is|are|was|were|be|been|has|have|had|will|can|may|must|should|in|since|until|on|by|from|to"
    r"|ist|sind|war|waren|wird|werden|wurden?|hat|haben|hatte|kann|können|muss|müssen|soll|seit|im|am|bis|zum|ab)\b"
    r"|\b[^\W\d_]{3,}(?:ed|te|ten)\b",
    re.IGNORECASE,
)
UNIT_BEHIND = re.compile(r"^\s?[%€$£]")
WORD_COUNTED = re.compile(r"^[\s-]([^\W\d_]+)")
WEEKDAYS = re.compile(
    r"\b(?:(mon|montag)|(tues|dienstag)|(wednes|mittwoch)|(thurs|donnerstag)|(fri|freitag)|(satur|samstag)|(sun|sonntag))"
    r"(?:day|en|e|s)?s?\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Change:
    """A value that two statements have otherwise; `kind` is "figure" or "date"."""

    kind: str
    first: str
    second: str


def sort_of(figure: Figure) -> str:
    """Return what a figure can be compared with: dates, times, years, amounts of one measure."""
    keys = {key[0] for reading in figure.readings[:1] for key in reading}
    if "d" in keys:
        return "date"
    if "t" in keys:
        return "time"
    if YEAR.fullmatch(figure.text.strip()) and not figure.measure and not figure.bound:
        return "year"
    return "duration" if figure.measure in DURATIONS else figure.measure


def find_changes(one: Statement, other: Statement) -> list[Change] | None:
    """Return the value that differs, or none; None if more than one does, or they are values of other things."""
    ours, theirs = _comparable_texts(one, other)
    first, second = read_facts(ours), read_facts(theirs)
    if max(len(first.figures), len(second.figures)) > MOST_FIGURES:
        return None
    left, right = _unmatched(first.figures, second.figures)
    found: list[Change] = []
    is_row = bool(one.unit.cells or other.unit.cells)
    for sort in dict.fromkeys(map(sort_of, [*left, *right])):
        mine, yours = ([each for each in side if sort_of(each) == sort] for side in (left, right))
        if not mine or not yours:
            if sort in ("year", "date") or is_row:
                return None  # of another time
            continue
        if len(mine) != 1 or len(yours) != 1 or found:
            return None
        if any(_is_name(*each) for each in ((mine[0], first), (yours[0], second))):
            return None
        if not _is_of_the_same(mine[0], first, yours[0], second) or _is_other_year(mine[0], first, yours[0], second):
            return None
        if _is_note(ours, theirs) and sort in ("year", "date"):
            return None
        if is_within(mine[0], yours[0]) or is_within(yours[0], mine[0]) or _is_example(mine[0], first):
            return None
        if _is_example(yours[0], second):
            return None
        if sort == "year" and not (SAYS.search(ours) and SAYS.search(theirs)):
            return None
        kind = "date" if sort in ("date", "year", "time") else "figure"
        found.append(Change(kind, mine[0].text.strip(" .,;"), yours[0].text.strip(" .,;")))
    days = [list(WEEKDAYS.finditer(text)) for text in (ours, theirs)]
    names = [{match.lastindex for match in matches} for matches in days]
    if days[0] and days[1] and not names[0] & names[1]:
        if found or len(names[0]) + len(names[1]) > 2:
            return None
        found.append(Change("date", days[0][0][0], days[1][0][0]))
    return found


def _is_note(ours: str, theirs: str) -> bool:
    """Return whether both say when a text was made: each says so of its own."""
    return bool(EDITION.search(ours) and EDITION.search(theirs))


def is_within(bounded: Figure, other: Figure) -> bool:
    """Return whether a figure without a bound lies within the bound of the other one: "up to 100 GB" and "1 GB"."""
    values = [_value(each) for each in (bounded, other)]
    if not bounded.bound or other.bound or values[0] is None or values[1] is None:
        return False
    return values[1] <= values[0] if bounded.bound == MOST else values[1] >= values[0]


def _value(figure: Figure) -> float | None:
    keys = [key for reading in figure.readings[:1] for key in reading if key.startswith("n:")]
    return float(keys[0][2:]) if keys and PLAIN_NUMBER.fullmatch(keys[0][2:]) else None


def _is_example(figure: Figure, facts: Facts) -> bool:
    return bool(EXAMPLE.search(facts.text[: figure.start]))


def _comparable_texts(one: Statement, other: Statement) -> tuple[str, str]:
    """Return what of the two is compared: of two rows, the cells of the columns that both have."""
    if len(one.unit.cells) > 2 and len(other.unit.cells) > 2:
        names = [{_keys(name): cell for name, cell in each.unit.cells if _keys(name)} for each in (one, other)]
        shared = [name for name in names[0] if name in names[1]]
        if len(shared) < min(map(len, names)):
            shared = []  # tables of two kinds
        return tuple("; ".join(cells[name] for name in shared) for cells in names)  # type: ignore[return-value]
    return comparable(one.unit.text), comparable(other.unit.text)


def _keys(text: str) -> frozenset[str]:
    return frozenset(key for word in read_words(text) for key in word.keys)


def _unmatched(ours: Iterable[Figure], theirs: Sequence[Figure]) -> tuple[list[Figure], list[Figure]]:
    """Return the figures of each side that no figure of the other side says again; each says one."""
    left, right = [], list(theirs)
    for figure in ours:
        twin = next((each for each in right if is_equal(figure, each)), None)
        if twin is None:
            left.append(figure)
        else:
            right.remove(twin)
    return left, right


def is_equal(one: Figure, other: Figure) -> bool:
    """Return whether two figures say the same."""
    if not any(a <= b or b <= a for a in one.readings for b in other.readings):
        return False
    return one.measure == other.measure or not one.measure or not other.measure or one.text != other.text


def _is_name(figure: Figure, facts: Facts) -> bool:
    """Return whether the number names a thing rather than says how much of it there is, or stands in another one."""
    before, behind = facts.text[: figure.start], facts.text[figure.start + len(figure.text) :]
    if before[-1:].isdigit():
        return True
    if figure.measure or sort_of(figure) != "":
        return False
    if before[-1:].isalpha():  # "gpu72"
        return True
    if NAMED_BY.search(before):
        return True
    word, counted = WORD_BEFORE.search(before), WORD_COUNTED.match(behind)
    if figure.bound or not word or not _keys(word[1]) or _keys(word[1]) & SCORED:
        return False
    return not (counted and _keys(counted[1])) and not UNIT_BEHIND.match(behind)


def _is_of_the_same(one: Figure, first: Facts, other: Figure, second: Facts) -> bool:
    if sort_of(one) == "" and _counted(one, first) != _counted(other, second):
        return False
    if _rate(one, first) != _rate(other, second):
        return False
    ours, theirs = _around(one, first), _around(other, second)
    return bool(ours & theirs) or not ours or not theirs


def _counted(figure: Figure, facts: Facts) -> str:
    """Return the stem of the word that a bare number counts, empty if none follows."""
    word = WORD_COUNTED.match(facts.text[figure.start + len(figure.text) :])
    return stem(fold(word[1])) if word else ""


def _rate(figure: Figure, facts: Facts) -> str:
    """Return the stem of what a figure is one for each of, empty if none follows."""
    match = RATE.match(facts.text[figure.start + len(figure.text) :])
    return stem(fold(match["of"])) if match else ""


def _around(figure: Figure, facts: Facts) -> frozenset[str]:
    begin, end = figure.start - NEAR, figure.start + len(figure.text) + NEAR
    return frozenset(key for word in facts.content if begin <= word.start and word.end <= end for key in word.keys)


def _is_other_year(one: Figure, first: Facts, other: Figure, second: Facts) -> bool:
    """Return whether the two are of other terms, or the same day of other years."""
    years = [{int(match[0]) for match in YEAR.finditer(each.text)} for each in (one, other)]
    if not years[0] or not years[1] or years[0] & years[1]:
        return False
    if any(TERM.search(facts.text[: figure.start]) for figure, facts in ((one, first), (other, second))):
        return True
    same_day = not _days(one) or bool(_days(one) & _days(other))
    is_recent = min(years[0] | years[1]) > timezone.localdate().year - RECENT_YEARS
    return is_recent if same_day else True


def _days(figure: Figure) -> set[str]:
    return {key for reading in figure.readings for key in reading if key.startswith("d:")}
