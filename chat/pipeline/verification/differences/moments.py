"""Weekdays, months, terms and periods that a sentence has otherwise than its unit; pure."""

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache

from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import Facts

#: German weekdays have two letters beside a span, a time or another one: "Mo–Fr", "Mo 11:00", "Sa und So".
WEEKDAYS = tuple(
    rf"{english}|{german}|(?-i:{short})(?:(?=\.|\s?[–-]|,?\s\d|\s(?:und|bis)\s)|(?<=und {short}))"
    for english, german, short in (
        ("mon(?:day)?", "montag", "Mo"),
        ("tue(?:s(?:day)?)?", "dienstag", "Di"),
        ("wed(?:nesday)?", "mittwoch", "Mi"),
        ("thu(?:rs(?:day)?)?", "donnerstag", "Do"),
        ("fri(?:day)?", "freitag", "Fr"),
        ("sat(?:urday)?", "samstag|sonnabend", "Sa"),
        ("sun(?:day)?", "sonntag", "So"),
    )
)
#: "May" and "March" are months with a capital; "May" at a beginning is mostly a question.
MONTHS = (
    "january|januar|jan", "february|februar|feb", "(?-i:March)|märz", "april|apr", r"(?-i:(?<!\A)May)|mai",
    "june|juni", "july|juli", "august|aug", "september|sept?", "october|oktober|oct|okt", "november|nov",
    "december|dezember|dec|dez",
)  # fmt: skip
TERMS = (
    r"winter\w*|(?-i:WS|WiSe)",
    r"spring|frühjahr\w*|frühling\w*",
    r"summer\w*|sommer\w*|(?-i:SS|SoSe)",
    r"fall (?:semester|term)|(?:in|the|of) fall|(?-i:Fall)|autumn|herbst\w*",
)
SEVERAL_DAYS = (
    (re.compile(r"\bweekends?\b|\bwochenend\w*", re.I), (5, 6)),
    (re.compile(r"\b(?:week|working |business )days?\b|\b(?:werk|wochen)tag\w*", re.I), (0, 1, 2, 3, 4)),
    (re.compile(r"\bdaily\b|\bevery day\b|\btäglich\w*|\bjeden tag\b", re.I), range(7)),
)
#: Months by number: "15.07.", "2026-07-15", "7/15" and "15/7".
NUMBERED_MONTH = re.compile(r"\b\d{1,2}\.\s?(0?[1-9]|1[0-2])\.|\b\d{4}-(0[1-9]|1[0-2])-\d\d\b")
SLASHED = re.compile(r"\b(\d{1,2})/(\d{1,2})\b")
#: Before what something is counted by: "per month", "20 hours a week", "€15/year".
PER = (
    r"(?:\b(?:per|pro|je|each|every|jede[nrsm]?|once an?|twice an?|times an?)\s+|(?<=[\d€$%])\s?an?\s+|\s?/\s?"
    r"|\b(?:euros?|hours?|days?|times|stunden|tage|mal)\s+(?:an?|im|am|in der)\s+)"
)
PERIODS = {
    "hour": rf"\b(?:hourly|stündlich\w*)|{PER}(?:hour|stunde)\b",
    "day": rf"\b(?:daily|täglich\w*)|{PER}(?:(?:calendar |working )?day|(?:kalender|werk)?tag)\b",
    "week": rf"\b(?:weekly|wöchentlich\w*)|{PER}(?:week|woche)\b",
    "month": rf"\b(?:monthly|monatlich\w*)|{PER}(?:(?:calendar )?month|(?:kalender)?monat)\b",
    "semester": rf"{PER}(?:(?:winter |summer |fall |spring )?(?:semester|term)|\w*semester)\b",
    "year": rf"\b(?:yearly|annual(?:ly)?|jährlich\w*)|{PER}(?:(?:academic )?year|(?:studien|kalender)?jahr)\b",
}
PARTS = {
    "begin": r"\b(?:beginning|start|early|first half|outset)\b|\b(?:anfang|beginn)\w*|\bfrühe[nrs]?\b",
    "middle": r"\b(?:mid|middle|mitte)\b",
    "end": r"\b(?:end|late|second half|close)\b|\b(?:ende|späte[nrs]?)\b",
}
#: A day that is counted from another one, or that day itself.
_COUNTED = r"\b(?:days?|weeks?|months?|years?|terms?|tage?|wochen?|monate?|jahre?|semesters?)n?"
BESIDE = {
    "after": rf"{_COUNTED} (?:after|following|later|nach|danach|später)\b",
    "before": rf"{_COUNTED} (?:before|prior|earlier|ahead|vor|vorher|zuvor|davor)\b",
    "same": r"\b(?:on the day of|same day|am tag de[rs]|am selben tag|am gleichen tag)\b",
}
EVERY_SECOND = re.compile(
    r"\bevery (?:second|other|two|2)\b|\bbi-?weekly\b|\balternate\b|\bfortnightly\b|\bjede[nrsm]? zweite[nrsm]?\b"
    r"|\balle (?:zwei|2)\b|\b(?:14-tägig|vierzehntägig)",
    re.I,
)
PATTERNS = {
    kind: {name: re.compile(pattern, re.I) for name, pattern in patterns.items()}
    for kind, patterns in (("period", PERIODS), ("part", PARTS), ("beside", BESIDE))
}


def compare_moments(found: Differences, sentence: Facts, whole: Facts) -> None:
    """Compare the weekdays, months and terms that are named, the periods, and how often something happens."""
    for name, read in (("weekday", weekdays), ("month", months), ("term", terms)):
        named = read(whole.text)
        # What does not happen, or no more, happens at no moment that the page names.
        is_other = bool(named and read(sentence.text) - named) and not sentence.negations
        found.add(f"{name}_conflict", is_other)
        if is_other:
            found.doubt("date", "")
    for name, patterns in PATTERNS.items():
        ours, theirs = _named(patterns, sentence.text), _named(patterns, whole.text)
        is_other = bool(ours and theirs and not ours & theirs)
        found.add(f"{name}_conflict", is_other)
        if is_other:
            found.doubt("date", "")
    here, there = bool(EVERY_SECOND.search(sentence.text)), bool(EVERY_SECOND.search(whole.text))
    found.add("every_second_here", here and not there)
    found.add("every_second_there", there and not here and bool(weekdays(sentence.text)))


@lru_cache(maxsize=4096)
def weekdays(text: str) -> frozenset[int]:
    """Return the weekdays that a text names, from 0 for Monday, and those between; a weekend is two of them."""
    return _read(DAY, text).union(*(days for pattern, days in SEVERAL_DAYS if pattern.search(text)))


@lru_cache(maxsize=4096)
def months(text: str) -> frozenset[int]:
    """Return the months that a text names, from 0 for January, and those between, also by number in a date."""
    numbers = [int(match[1] or match[2]) for match in NUMBERED_MONTH.finditer(text)]
    numbers += [int(each) for match in SLASHED.finditer(text) for each in match.groups()]
    return _read(MONTH, text) | {number - 1 for number in numbers if number <= len(MONTHS)}


@lru_cache(maxsize=4096)
def terms(text: str) -> frozenset[int]:
    """Return which of winter, spring, summer and fall, 0 to 3, a text names."""
    return _read(TERM, text)


class Calendar:
    """Finds names that come round in one order, and spans of them."""

    def __init__(self, names: Sequence[str]) -> None:
        self.count = len(names)
        each = "|".join(f"(?P<n{place}>{name})" for place, name in enumerate(names))
        plain = "|".join(names)
        self.one = re.compile(rf"\b(?:{each})(?:e?[ns])?(?![^\W_])", re.I)
        to = r"\s*(?:–|—|-|to|through|until|bis(?: zum| einschließlich)?)\s*"
        self.span = re.compile(rf"\b(?P<first>{plain})s?\.?{to}(?P<last>{plain})s?\b", re.I)

    def place(self, text: str, start: int) -> int | None:
        match = self.one.match(text, start)
        return int((match.lastgroup or "")[1:]) if match else None


DAY, MONTH, TERM = Calendar(WEEKDAYS), Calendar(MONTHS), Calendar(TERMS)


def _read(calendar: Calendar, text: str) -> frozenset[int]:
    found = {calendar.place(text, match.start()) for match in calendar.one.finditer(text)}
    for match in calendar.span.finditer(text):
        first, last = (calendar.place(text, match.start(side)) for side in ("first", "last"))
        if first is not None and last is not None:
            steps = (last - first) % calendar.count
            found.update((first + step) % calendar.count for step in range(steps + 1))
    return frozenset(place for place in found if place is not None)


def _named(patterns: Mapping[str, re.Pattern[str]], text: str) -> set[str]:
    return {name for name, pattern in patterns.items() if pattern.search(text)}
