"""Figures of a text in one form, whatever their notation: amounts, dates, times, numbers; English and German; pure.

"318,40 €", "EUR 318.40" and "318.40 euros" are one number; "15 July", "July 15th" and "15.07." one date; "2 pm" and
"14:00 Uhr" one time. Units are not compared, and neither is what a figure is said of.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

#: "n:318.4" a number, "d:07-15" a day of a month, "t:840" minutes since midnight.
Key = str

_MONTHS = (
    "jan(?:uary|uar)?|jänner", "feb(?:ruary|ruar|r)?", "mar(?:ch)?|märz|mär|mrz", "apr(?:il)?", "may|mai",
    "june?|juni", "july?|juli", "aug(?:ust)?", "sept?(?:ember)?", "oct(?:ober)?|okt(?:ober)?", "nov(?:ember)?",
    "dec(?:ember)?|dez(?:ember)?",
)  # fmt: skip
_MONTH = rf"(?:{'|'.join(_MONTHS)})(?![^\W\d_])\.?"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:\.|st|nd|rd|th)?"
_TO = r"\s{0,2}(?:[-–—/,&]|bis(?: zum)?|to|until|through|and|und|or|oder)\s{0,2}(?:the )?"
_YEAR = r"(?:,?\s{0,2}(?P<year>(?:19|20)\d\d)(?!\d))?"
DAY_MONTH = re.compile(
    rf"(?<![\d.,])(?:(?P<first>{_DAY}){_TO})?(?P<day>{_DAY})\s{{0,2}}(?:of\s)?(?P<month>{_MONTH}){_YEAR}",
    re.IGNORECASE,
)
MONTH_DAY = re.compile(
    rf"(?<![^\W_])(?P<month>{_MONTH})\s{{0,2}}(?:the )?(?:(?P<first>{_DAY}){_TO})?(?P<day>{_DAY})(?![\d%€]|[.,:]\d)"
    rf"{_YEAR}",
    re.IGNORECASE,
)
DOTTED = re.compile(r"(?<![\d.,])(\d{1,2})\.\s?(\d{1,2})\.(?:\s?(\d{4}|\d\d)(?!\d|\.\d))?(?!\d)")
ISO = re.compile(r"(?<![\d-])(\d{4})-(\d\d)-(\d\d)(?!\d)")
SLASHED = re.compile(r"(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d\d))?(?![\d/])")
_HALF = r"\s?(?P<half{n}>[ap]\.?\s?m\b\.?)"
TIME_RANGE = re.compile(
    rf"(?<![\d.:,])(?P<h1>\d{{1,2}})(?:[:.](?P<m1>[0-5]\d))?(?:{_HALF.format(n='1')})?{_TO}"
    rf"(?P<h2>\d{{1,2}})(?:[:.](?P<m2>[0-5]\d))?(?:{_HALF.format(n='2')}|(?P<uhr>\s?(?:uhr|h|o'?clock)\b))",
    re.IGNORECASE,
)
TIME = re.compile(
    r"(?<![\d.:,])(?P<h>\d{1,2})"
    r"(?:(?P<colon>:)(?P<m>[0-5]\d)(?::[0-5]\d)?(?!\d)|\.(?P<dot>[0-5]\d)(?=\s?(?:uhr|[ap]\.?\s?m\b)))?"
    rf"(?:{_HALF.format(n='')}|(?P<uhr>\s?(?:uhr|h|o'?clock)\b(?:\s?(?P<after>[0-5]\d)(?!\d))?))?",
    re.IGNORECASE,
)
YEARS = re.compile(r"(?<!\d)((?:19|20)\d\d)\s?[/–-]\s?(\d\d)(?!\d)")
NUMBER = re.compile(r"(?<!\d)(?:\d{1,3}(?:[   ]\d{3})+(?!\d)(?:[.,]\d+)?|\d+(?:[.,'’]\d+)*)")
SCALE = re.compile(r"\s?(?:(?P<million>million|mio\b|millionen)|(?P<thousand>thousand|tausend|k\b))", re.IGNORECASE)
UNIT = re.compile(r"\s?(?:[%€$£]|eur\b|euros?\b|usd\b|dollars?\b|pounds?\b|per ?cent\b|prozent\b)", re.IGNORECASE)
CURRENCY = re.compile(r"(?:[€$£]|\b(?:eur|usd))\s?$", re.IGNORECASE)

_ONES = ("one two three four five six seven eight nine", "ein zwei drei vier fünf sechs sieben acht neun")
_TENS = (
    "ten twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "zehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
)
_TEENS = (
    "eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen",
    "elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn",
)


def _spelled() -> dict[str, int]:
    """List number words from one to a hundred."""
    numbers = {"eins": 1, "eine": 1, "dozen": 12, "dutzend": 12}
    for ones, tens, teens in zip(_ONES, _TENS, _TEENS, strict=True):
        numbers |= {word: n for n, word in enumerate(ones.split(), start=1)}
        numbers |= {word: n for n, word in enumerate(teens.split(), start=11)}
        for ten, word in enumerate(tens.split(), start=1):
            numbers[word] = ten * 10
            for n, one in enumerate(ones.split(), start=1):
                if 1 < ten < 10:
                    numbers |= {f"{word}-{one}": ten * 10 + n, f"{one}und{word}": ten * 10 + n}
    return numbers


SPELLED = _spelled()
SPELLED_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)?")


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure as it stands in a text; it is any one of its `readings`, each of which is all of its keys.

    `is_count` is a bare number of one digit, which may be a count of things as well ("3 forms").
    """

    text: str
    readings: tuple[frozenset[Key], ...]
    is_count: bool


def figures(text: str) -> list[Figure]:
    """Every figure, dates and times first; what is part of one is not counted again."""
    found: list[Figure] = []
    for read in (_dates, _times, _numbers):
        spans = [(start, end, readings) for start, end, readings in read(text) if readings]
        for start, end, readings in spans:
            is_count = end - start == 1 and not (
                UNIT.match(text, end) or CURRENCY.search(text[max(0, start - 5) : start])
            )
            found.append(Figure(text[start:end].strip(), readings, is_count))
        text = _without(text, spans)
    return found


def _without(text: str, spans: Iterable[tuple[Any, ...]]) -> str:
    """Spans blanked, so that all others stay where they are."""
    characters = list(text)
    for start, end, *_ in spans:
        characters[start:end] = "\x00" * (end - start)
    return "".join(characters)


def keys(text: str) -> set[Key]:
    """Whatever a figure of this text may be read as, number words included."""
    said = {key for figure in figures(text) for reading in figure.readings for key in reading}
    words = (word[0].lower() for word in SPELLED_WORD.finditer(text))
    return said | {f"n:{SPELLED[word]}" for word in words if word in SPELLED}


_Found = Iterator[tuple[int, int, tuple[frozenset[Key], ...]]]


def _dates(text: str) -> _Found:
    taken: set[int] = set()

    def free(match: re.Match[str]) -> bool:
        span = set(range(*match.span()))
        if span & taken:
            return False
        taken.update(span)
        return True

    for pattern in (DAY_MONTH, MONTH_DAY):
        for match in filter(free, pattern.finditer(text)):
            month = _month(match["month"])
            days = [int(re.sub(r"\D", "", day)) for day in (match["first"], match["day"]) if day]
            readings = [frozenset([*(_date(day, month) for day in days), *_year(match["year"])])]
            if match["month"] in ("may", "march"):  # "pupils under 12 may attend"
                readings.append(frozenset(f"n:{day}" for day in days))
            yield *match.span(), tuple(readings)
    for match in filter(free, ISO.finditer(text)):
        yield *match.span(), _possible(match[3], match[2], match[1])
    for match in filter(free, DOTTED.finditer(text)):
        yield *match.span(), _possible(match[1], match[2], match[3])
    for match in filter(free, SLASHED.finditer(text)):
        if match[3]:  # without a year it is a fraction, or a page
            yield *match.span(), _possible(match[1], match[2], match[3]) + _possible(match[2], match[1], match[3])


def _times(text: str) -> _Found:
    ranges = []
    for match in TIME_RANGE.finditer(text):
        last = _minutes(match["h2"], match["m2"], match["half2"])
        first = _minutes(match["h1"], match["m1"], match["half1"] or match["half2"])
        if first and last:
            ranges.append(match.span())
            morning = _minutes(match["h1"], match["m1"], match["half1"])  # "9 to 2 pm" begins at nine
            yield *match.span(), tuple(frozenset([a, b]) for a in dict.fromkeys(first + morning) for b in last)
    text = _without(text, ranges)
    for match in TIME.finditer(text):
        if not (match["colon"] or match["half"] or match["uhr"]):
            continue
        minutes = match["m"] or match["dot"] or match["after"]
        readings = [frozenset({key}) for key in _minutes(match["h"], minutes, match["half"])]
        if readings and not match["half"] and int(minutes or 0) == 0:
            readings.append(frozenset({f"n:{int(match['h'])}"}))  # "from 9 to 12" names hours, too
        yield *match.span(), tuple(readings)


def _numbers(text: str) -> _Found:
    for match in YEARS.finditer(text):
        yield *match.span(), (frozenset([f"n:{match[1]}", f"n:{match[1][:2]}{match[2]}"]),)
    text = YEARS.sub(lambda years: "\x00" * len(years[0]), text)
    for match in NUMBER.finditer(text):
        readings = [frozenset({f"n:{value}"}) for value in _values(match[0])]
        parts = re.split(r"[   ]", match[0])
        if len(parts) > 1:
            readings.append(frozenset(f"n:{value}" for part in parts for value in _values(part)[:1]))
        if scale := SCALE.match(text, match.end()):
            factor = 10**6 if scale["million"] else 1000
            readings += [frozenset({f"n:{_plain(Decimal(value) * factor)}"}) for value in _values(match[0])]
        yield *match.span(), tuple(readings)


def _values(digits: str) -> list[str]:
    """Read the numbers that a run of digits and separators may be: "1.200" is 1200 and 1.2; "1.2.3" only itself."""
    joined = re.sub(r"[   '’]", "", digits)
    separators = re.findall(r"[.,]", joined)
    if not separators:
        return [_plain(Decimal(joined))]
    values = []
    if re.fullmatch(r"\d{1,3}(?:([.,])\d{3})(?:\1\d{3})*", joined):
        values.append(_plain(Decimal(re.sub(r"[.,]", "", joined))))
    head, _, tail = joined.rpartition(separators[-1])
    grouped = re.fullmatch(r"\d{1,3}([.,])\d{3}(?:\1\d{3})*", head) and separators[-1] not in head
    if len(separators) == 1 or grouped:
        values.append(_plain(Decimal(f"{re.sub(r'[.,]', '', head)}.{tail}")))
    return values or [joined]


def _plain(number: Decimal) -> str:
    text = f"{number:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _month(name: str) -> int:
    word = name.rstrip(".")
    return next(n for n, month in enumerate(_MONTHS, start=1) if re.fullmatch(month, word, re.IGNORECASE))


def _date(day: int, month: int) -> Key:
    return f"d:{month:02}-{day:02}"


def _year(year: str | None) -> list[Key]:
    if not year:
        return []
    return [f"n:{year if len(year) == 4 else f'20{year}'}"]


def _possible(day: str, month: str, year: str | None) -> tuple[frozenset[Key], ...]:
    """Return the date as the only reading; none if there is no such day or month."""
    if not (1 <= int(day) <= 31 and 1 <= int(month) <= 12):
        return ()
    return (frozenset([_date(int(day), int(month)), *_year(year)]),)


def _minutes(hours: str, minutes: str | None, half: str | None) -> list[Key]:
    """Minutes since midnight; without "am" or "pm" also the afternoon's."""
    hour, minute = int(hours), int(minutes or 0)
    if hour > 24 or (half and not 1 <= hour <= 12):
        return []
    if half:
        return [f"t:{(hour % 12 + (12 if half[0] in 'pP' else 0)) * 60 + minute}"]
    return [f"t:{hour * 60 + minute}"] + ([f"t:{(hour + 12) * 60 + minute}"] if hour < 12 else [])
