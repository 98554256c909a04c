"""Dates and opening hours that an answer names, as appointments; English and German; pure.

Each sentence of an answer was quoted from a page or checked against it, so its dates were. A date without a year is
taken only if the page, by its title or heading, is about one period in which that day lies once.
"""

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chat.pipeline.answering.sentence_stream import SentenceStream
from chat.protocol.shapes import Appointment, OfficeWords, Source
from knowledge.chunking.periods import named
from knowledge.chunking.plain_text import make_plain

_MONTHS = (
    *("jan(?:uary|uar)?", "feb(?:ruary|ruar)?", "mar(?:ch)?|märz", "apr(?:il)?", "may|mai", "june?|juni"),
    *("july?|juli", "aug(?:ust)?", "sept?(?:ember)?", "oct(?:ober)?|okt(?:ober)?", "nov(?:ember)?"),
    "dec(?:ember)?|dez(?:ember)?",
)
_MONTH = rf"(?P<month>{'|'.join(_MONTHS)})(?![^\W\d_])\.?"
_YEAR = r"(?:,?\s(?P<year>20\d\d)(?!\d))?"
_DAY = r"(?<![\d.,:/])(?P<day>\d{1,2})"
DATES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"(?<!\d)(?P<year>20\d\d)-(?P<number>\d\d)-(?P<day>\d\d)(?!\d)",
        rf"{_DAY}\.\s?(?P<number>\d{{1,2}})\.(?:\s?(?P<year>20\d\d))?(?!\d)",
        rf"{_DAY}(?:\.|st|nd|rd|th)?\s(?:of\s)?{_MONTH}{_YEAR}",
        rf"(?<![^\W\d_])(?<!\d\s)(?<!\.\s){_MONTH}\s(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?![\d:.]\d){_YEAR}",
    )
)
_CLOCK = (
    r"(?P<h{0}>[01]?\d|2[0-4])(?:(?:[:.](?P<m{0}>[0-5]\d))?\s?(?P<u{0}>uhr|[ap]\.?m\.?|o'clock)(?![^\W\d_])"
    r"|:(?P<n{0}>[0-5]\d))"
)
_FIRST = r"(?P<h0>[01]?\d|2[0-4])(?:[:.](?P<m0>[0-5]\d))?(?:\s?(?P<u0>uhr|[ap]\.?m\.?)(?![^\W\d_]))?"
_TO = r"\s?(?:to|until|till|bis(?:\szum)?|–|-)\s?"
#: Both end in an hour that is marked as one, or has minutes.
TIMES = re.compile(rf"{_FIRST}{_TO}{_CLOCK.format(1)}", re.IGNORECASE)
TIME = re.compile(_CLOCK.format(0), re.IGNORECASE)
#: What may stand between a date and its time.
BEFORE_TIME = re.compile(r"[\s,(]*(?:(?:at|by|until|till|from|um|bis|von|ab)\s)?", re.IGNORECASE)
RANGE = re.compile(rf"{_TO}(?:the\s)?", re.IGNORECASE)
_DAYS = (
    *("mon(?:day)?s?|mo|montags?", "tue(?:s(?:day)?)?s?|di|dienstags?", "wed(?:nesday)?s?|mi|mittwochs?"),
    *("thu(?:rs(?:day)?)?s?|do|donnerstags?", "fri(?:day)?s?|fr|freitags?", "sat(?:urday)?s?|sa|samstags?|sonnabends?"),
    "sun(?:day)?s?|so|sonntags?",
)
_ANY_DAY = "|".join(_DAYS)
WEEKLY = re.compile(
    rf"(?<![^\W_])(?P<from>{_ANY_DAY})(?![^\W_])\.?(?:{_TO}(?P<to>{_ANY_DAY})(?![^\W_])\.?)?"
    rf"[\s,:|;(]*(?:(?:from|von|at)\s)?{TIMES.pattern}",
    re.IGNORECASE,
)
LABEL_CHARACTERS = 200
MOST = 6
MARKER = re.compile(r"\s?\[(\d{1,3})(?:,\s?\d{1,3})*\]")


@dataclass(frozen=True, slots=True)
class Day:
    """A day at [start, end) of a sentence; the year is None where it is not named."""

    start: int
    end: int
    month: int
    day: int
    year: int | None

    def on(self, year: int) -> datetime.date | None:
        try:
            return datetime.date(year, self.month, self.day)
        except ValueError:
            return None


def find_appointments(text: str, sources: Iterable[Source], *, today: datetime.date) -> tuple[Appointment, ...]:
    """Return what is still to come of the dates in an answer's text, each with the source that its sentence cites."""
    known = {source.n: source for source in sources}
    found: dict[str, Appointment] = {}
    for sentence, n in cited_sentences(text, known):
        for each in (*_dated(sentence, known[n], today), *_weekly(sentence, known[n], today)):
            if (each.end or each.begin)[:10] >= today.isoformat():
                found.setdefault(each.begin, each)
    return tuple(found.values())[:MOST]


def appointments_of(
    text: str, office: OfficeWords | None, sources: Iterable[Source], *, today: datetime.date
) -> tuple[Appointment, ...]:
    """Return the dates of an answer: of an office's words, and of the text that stands below them."""
    words = f"{office.text} [{office.n}]\n\n{text}" if office else text
    return find_appointments(words, list(sources), today=today)


def cited_sentences(text: str, known: Mapping[int, Source]) -> Iterator[tuple[str, int]]:
    """Yield each sentence, list item and table row as plain text, with the number it cites.

    An item without a number belongs to the one before it.
    """
    stream = SentenceStream()
    n = 0
    for sentence in (*stream.feed(text + "\n"), *stream.finish()):
        numbers = [int(number) for number in MARKER.findall(sentence.text) if int(number) in known]
        n = numbers[-1] if numbers else n
        words = make_plain(MARKER.sub("", sentence.text.removeprefix(sentence.list_mark))).strip(' “”„"')
        if n and words:
            yield words, n


def _dated(sentence: str, source: Source, today: datetime.date) -> Iterator[Appointment]:
    days = _days(sentence)
    skipped = False
    for place, day in enumerate(days):
        if skipped:
            skipped = False
            continue
        date = _date_of(day, source)
        if date is None and place + 1 < len(days) and RANGE.fullmatch(sentence, day.end, days[place + 1].start):
            date = _year_of_the_next(day, _date_of(days[place + 1], source))
        if date is None:
            continue
        label = sentence if len(sentence) <= LABEL_CHARACTERS else f"{sentence[:LABEL_CHARACTERS].rsplit(' ', 1)[0]} …"
        if times := _times_after(sentence, day.end):
            begin, end = times
            last = f"{date}T{end}" if end else ""
            yield Appointment(source.n, label, f"{date}T{begin}", last)
            continue
        until = days[place + 1] if place + 1 < len(days) else None
        last_day = _date_of(until, source) if until and RANGE.fullmatch(sentence, day.end, until.start) else None
        skipped = last_day is not None
        yield Appointment(source.n, label, date.isoformat(), last_day.isoformat() if last_day else "")


def _days(sentence: str) -> list[Day]:
    found: list[Day] = []
    for pattern in DATES:
        for match in pattern.finditer(sentence):
            if any(match.start() < other.end and other.start < match.end() for other in found):
                continue
            groups = match.groupdict()
            name = groups.get("month")
            month = int(groups["number"]) if name is None else _place(name, _MONTHS) + 1
            if 1 <= month <= 12:
                year = groups["year"]
                found.append(Day(*match.span(), month, int(match["day"]), int(year) if year else None))
    return sorted(found, key=lambda day: day.start)


def _date_of(day: Day, source: Source) -> datetime.date | None:
    """Return the date; None where its year is not clear."""
    if day.year:
        return day.on(day.year)
    periods = set(named(f"{source.title} {source.heading}"))
    if len(periods) != 1:
        return None
    period = periods.pop()
    if period.is_since or period.is_until:
        return None
    months = [month for month in range(period.begin, period.end) if month % 12 == day.month - 1]
    return day.on(months[0] // 12) if len(months) == 1 else None


def _year_of_the_next(day: Day, following: datetime.date | None) -> datetime.date | None:
    """Return the first day of "1 December to 15 January 2027"."""
    if following is None or day.year:
        return None
    same = day.on(following.year)
    return same if same and same <= following else day.on(following.year - 1)


def _times_after(sentence: str, end: int) -> tuple[str, str] | None:
    start = BEFORE_TIME.match(sentence, end)
    place = start.end() if start else end
    if both := TIMES.match(sentence, place):
        return _both(both)
    if one := TIME.match(sentence, place):
        begin = _clock(one, 0)
        return (begin, "") if begin else None
    return None


def _both(match: re.Match[str]) -> tuple[str, str] | None:
    begin, end = _clock(match, 0), _clock(match, 1)
    return (begin, end) if begin and end and begin < end else None


def _clock(match: re.Match[str], place: int) -> str:
    """Return "08:30"; empty for what is no time of day."""
    groups = match.groupdict()
    hour, minute = int(groups[f"h{place}"]), int(groups.get(f"m{place}") or groups.get(f"n{place}") or 0)
    # "from 9 to 11 a.m."
    unit = (groups.get(f"u{place}") or groups.get("u1") or "").lower().replace(".", "")
    if unit in ("am", "pm"):
        hour = hour % 12 + (12 if unit == "pm" else 0)
    if hour == 24:
        hour, minute = 23, 59
    return f"{hour:02}:{minute:02}"


def _weekly(sentence: str, source: Source, today: datetime.date) -> Iterator[Appointment]:
    for match in WEEKLY.finditer(sentence):
        times = _both(match)
        first = _place(match["from"], _DAYS)
        last = _place(match["to"], _DAYS) if match["to"] else first
        if times is None or last < first:
            continue
        days = range(first, last + 1)
        date = next(day for day in (today + datetime.timedelta(n) for n in range(7)) if day.weekday() in days)
        once = Appointment(source.n, sentence[:LABEL_CHARACTERS], f"{date}T{times[0]}", f"{date}T{times[1]}")
        yield replace(once, days=tuple(WEEKDAYS[day] for day in days))


WEEKDAYS = ("MO", "TU", "WE", "TH", "FR", "SA", "SU")


def _place(word: str, patterns: Sequence[str]) -> int:
    return next(n for n, pattern in enumerate(patterns) if re.fullmatch(pattern, word, re.IGNORECASE))
