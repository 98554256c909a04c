"""Years and terms that a text names, and whether two of them agree; English and German; pure.

"WS 26/27", "Wintersemester 2026/2027" and "winter term 2026/27" are one term, "PO 19" and "PO 2019" one year. Dates
are kept apart: a deadline in 2026 may belong to a page about 2027.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import IntEnum

from core.language import detect_language

_MONTHS = (
    "jan(?:uary|uar)?|jänner", "feb(?:ruary|ruar)?", "mar(?:ch)?|märz", "apr(?:il)?", "may|mai", "june?|juni",
    "july?|juli", "aug(?:ust)?", "sept?(?:ember)?", "oct(?:ober)?|okt(?:ober)?", "nov(?:ember)?",
    "dec(?:ember)?|dez(?:ember)?",
)  # fmt: skip
_MONTH = rf"(?P<name>{'|'.join(_MONTHS)})(?![^\W\d_])\.?"
_YEAR = r"(?:199\d|20[0-4]\d)"
_YEARS = rf"(?P<year>{_YEAR}|\d\d)(?:\s?[/–-]\s?['’]?(?P<next>{_YEAR}|\d\d)(?!\d))?"
_TERM = r"(?:[- ]?(?:term|semester|trimester|quarter))?"
_SEASON = (
    rf"(?P<season>(?:winter|summer|spring|autumn|fall){_TERM}|(?:winter|sommer|herbst|frühjahrs?|frühlings?)(?:semesters?)?"
    r"|wise|sose|ws|ss|hs|fs)"
)
#: No letter or digit before it, and no further digit behind it.
_OPEN, _CLOSED = r"(?<![^\W_])(?<![€$£])(?<!\d[.,/:-])", r"(?!\d|[.,:/-]\d)"
_AMOUNT = (
    r"\s?(?:[%€$£]|(?:euros?|eur|ects|credits?|cp|lp|leistungspunkte|points|punkte|words|wörter|characters|zeichen|students"
    r"|studierende|places|plätze|hours|stunden|m|km)\b)"
)


def _compiled(*patterns: str) -> tuple[re.Pattern[str], ...]:
    return tuple(re.compile(pattern, re.IGNORECASE) for pattern in patterns)


DATES = _compiled(
    rf"{_OPEN}(?P<year>\d{{4}})-(?P<number>\d\d)(?P<day>-\d\d)?{_CLOSED}",
    r"(?<![\d.,])\d{1,2}\.\s?(?P<number>\d{1,2})\.\s?(?P<year>\d{4}|\d\d)(?!\d)",
    r"(?<![\d/])\d{1,2}/\d{1,2}/(?P<year>\d{4}|\d\d)(?![\d/])",
    rf"{_OPEN}{_MONTH}\s\d{{1,2}}(?:st|nd|rd|th)?,?\s(?P<year>\d{{4}})(?!\d)",
    rf"{_OPEN}(?:\d{{1,2}}(?:\.|st|nd|rd|th)?\s?(?:of\s)?)?{_MONTH},?\s(?P<year>\d{{4}}){_CLOSED}",
    rf"{_OPEN}(?P<number>0?[1-9]|1[0-2])/(?P<year>{_YEAR}){_CLOSED}",
)
TERMS = _compiled(
    rf"{_OPEN}{_SEASON}[\s,:(-]{{0,2}}(?:of\s|in\s|des\sJahres\s)?(?P<mark>['’])?{_YEARS}{_CLOSED}",
    rf"{_OPEN}(?P<mark>['’])?{_YEARS}\s{_SEASON}(?![^\W_])",
)
YEARS = _compiled(
    rf"{_OPEN}(?P<po>(?:[bmfs]|st|stu)?po[\s-]?|prüfungsordnung\s)['’]?{_YEARS}{_CLOSED}",
    rf"{_OPEN}{_YEARS}{_CLOSED}(?!\w|{_AMOUNT}|\s?(?:Uhr|{'|'.join(_MONTHS)})\b)",
    rf"(?<!\w)(?P<mark>['’])(?P<year>[1-4]\d){_CLOSED}(?!\w)",
)
WINTER = re.compile(r"w|fall|autumn|h", re.IGNORECASE)
ABBREVIATIONS = frozenset({"wise", "sose", "ws", "ss", "hs", "fs"})
SWISS = frozenset({"hs", "fs"})
#: Behind a year of two digits: in "winter semester 30 credits" there is none.
ENDS = re.compile(r"\s*(?:$|[?!.,;:)])|\s(?:an|and|at|das|der|die|für|for|im|in|is|ist|oder|or|the|to|und|zu)\b")
#: Behind two digits that are the day of a date: "Sommersemester 15. Februar".
DAY_ENDS = re.compile(rf"\.\s?(?:\d|(?:{'|'.join(_MONTHS)})(?![^\W\d_]))", re.IGNORECASE)
#: Pairs of two digits are years from 2015 on: "12/13" may be two days.
FIRST_SHORT, LAST_SHORT = 15, 49
_SOME = r"(?:\s(?:the|dem|der|des|year|Jahr|academic|Studienjahr|end of|Ende|including|einschließlich))*\s$"
SINCE = re.compile(rf"\b(?:since|from|as of|starting|beginning(?: in)?|seit|ab){_SOME}", re.IGNORECASE)
UNTIL = re.compile(rf"\b(?:until|till|up to|before|bis|vor)(?:\szum)?{_SOME}", re.IGNORECASE)
CUE_CHARACTERS = 50
#: Deadlines and exams of a term may be so many months before and after it.
MONTHS_BEFORE, MONTHS_AFTER = 9, 6
APRIL, OCTOBER, HALF, WHOLE = 3, 9, 6, 12


class Grade(IntEnum):
    """Agreement of a year or term that a text names with one that is asked for."""

    OTHER = 0
    MAY = 1
    FITS = 2


@dataclass(frozen=True, slots=True)
class Period:
    """Months from `begin` up to `end`, counted from the year 0; `is_year` is a calendar year.

    A period that is valid since or until another one extends after or before it.
    """

    begin: int
    end: int
    is_year: bool = False
    is_since: bool = False
    is_until: bool = False


@dataclass(frozen=True, slots=True)
class Mention:
    """A period at [start, end) of a text; `in_full` is how pages write it, where it is written in short."""

    start: int
    end: int
    period: Period
    is_date: bool = False
    in_full: str = ""


def mentions(text: str) -> list[Mention]:
    """Return the years, terms and dates of a text in order; what is part of one is not read again."""
    found: list[Mention] = []
    rest = text
    for patterns, read in ((DATES, _date), (TERMS, _term), (YEARS, _year)):
        for pattern in patterns:
            for match in pattern.finditer(rest):
                if mention := read(match):
                    found.append(mention)
                    rest = rest[: match.start()] + "\x00" * len(match[0]) + rest[match.end() :]
    return sorted(found, key=lambda mention: mention.start)


def named(text: str) -> list[Period]:
    """Return the years and terms that a text names."""
    return [
        replace(
            mention.period,
            is_since=bool(SINCE.search(text, max(0, mention.start - CUE_CHARACTERS), mention.start)),
            is_until=bool(UNTIL.search(text, max(0, mention.start - CUE_CHARACTERS), mention.start)),
        )
        for mention in mentions(text)
        if not mention.is_date
    ]


def dated(text: str) -> list[Period]:
    """Return the months of a text's dates."""
    return [mention.period for mention in mentions(text) if mention.is_date]


def asked(question: str) -> list[Period]:
    """Return the years and terms that a question names, or the months of its dates where it names none."""
    found = mentions(question)
    return [mention.period for mention in found if not mention.is_date] or [mention.period for mention in found]


def without_periods(text: str) -> str:
    """Return the text without the years and terms that it names."""
    for mention in reversed(mentions(text)):
        if not mention.is_date:
            text = f"{text[: mention.start]} {text[mention.end :]}"
    return text


def in_full(text: str) -> str:
    """Return the text with years and terms as pages write them: "WS 26/27" as "winter semester 2026/27"."""
    is_german = detect_language(text) != "en"
    for mention in reversed(mentions(text)):
        if written := mention.in_full:
            if is_german:
                written = written.replace("winter s", "Winters").replace("summer s", "Sommers")
            text = f"{text[: mention.start]}{written}{text[mention.end :]}"
    return text


def grade(wanted: Iterable[Period], said: Sequence[Period]) -> Grade:
    """Return how well the best of `said` agrees with one of `wanted`."""
    return max((_grade(one, other) for one in wanted for other in said), default=Grade.OTHER)


def grade_dates(wanted: Sequence[Period], said: Sequence[Period]) -> Grade:
    """Return as `grade` for dates, of which those of a term may lie before it and after it."""
    if any(_overlap(one, other) for one in wanted for other in said):
        return Grade.FITS
    around = [Period(one.begin - MONTHS_BEFORE, one.end + MONTHS_AFTER) for one in wanted if not one.is_year]
    return Grade.MAY if any(_overlap(one, other) for one in around for other in said) else Grade.OTHER


def _grade(one: Period, said: Period) -> Grade:
    if not _overlap(one, said):
        return Grade.OTHER
    if (said.is_since or said.is_until) and said.begin != one.begin:
        return Grade.MAY
    if said.is_year:  # a winter goes by the year that it begins in
        return Grade.FITS if said.begin <= one.begin < said.end else Grade.MAY
    return Grade.FITS if one.begin <= said.begin < one.end or one.end <= said.end else Grade.MAY


def _overlap(one: Period, said: Period) -> bool:
    return (said.is_until or said.begin < one.end) and (said.is_since or one.begin < said.end)


def _date(match: re.Match[str]) -> Mention | None:
    groups = match.groupdict()
    year = _full(match["year"])
    if name := groups.get("name"):
        month = next(n for n, each in enumerate(_MONTHS) if re.fullmatch(each, name, re.IGNORECASE))
    elif number := groups.get("number"):
        month = int(number) - 1
        is_pair = "-" in match[0] and not groups["day"] and int(number) == year % 100 + 1
        if is_pair or not 0 <= month < WHOLE:
            return None
    else:  # day and month may stand in either order
        return Mention(*match.span(), _calendar_year(year), is_date=True)
    return Mention(*match.span(), Period(year * 12 + month, year * 12 + month + 1), is_date=True)


def _term(match: re.Match[str]) -> Mention | None:
    season, written, following = match["season"].lower(), match["year"], match["next"]
    year = _full(written)
    is_short = season in ABBREVIATIONS
    if len(written) == 2 and not (is_short or following or match["mark"] or ENDS.match(match.string, match.end())):
        return None
    if len(written) == 2 and not following and DAY_ENDS.match(match.string, match.end()):
        return None
    if following and _full(following) != year + 1:
        return None
    is_winter = bool(WINTER.match(season))
    in_full = f"winter semester {year}/{(year + 1) % 100:02}" if is_winter else f"summer semester {year}"
    if season in SWISS:
        in_full = f"{season.upper()} {year}"
    begin = year * WHOLE + (OCTOBER if is_winter else APRIL)
    is_in_full = not is_short and len(written) == 4
    return Mention(*match.span(), Period(begin, begin + HALF), in_full="" if is_in_full else in_full)


def _year(match: re.Match[str]) -> Mention | None:
    groups = match.groupdict()
    written, following = match["year"], groups.get("next")
    year = _full(written)
    is_marked = bool(groups.get("po") or groups.get("mark"))
    if following and _full(following) == year + 1:
        if len(written) == 2 and not FIRST_SHORT <= year % 100 < LAST_SHORT:
            return None
        period = Period(year * WHOLE + OCTOBER, (year + 1) * WHOLE + OCTOBER)
        in_full = f"{year}/{(year + 1) % 100:02}" if len(written) == 2 else ""
    elif len(written) == 2 and (following or not is_marked):
        return None
    else:
        last = max(year, _full(following)) if following else year
        period = replace(_calendar_year(year), end=(last + 1) * WHOLE, is_year=last == year)
        in_full = str(year) if is_marked else ""
    if po := groups.get("po"):
        in_full = f"{po.strip(' -')} {in_full or written}"
    return Mention(*match.span(), period, in_full=in_full)


def _calendar_year(year: int) -> Period:
    return Period(year * WHOLE, (year + 1) * WHOLE, is_year=True)


def _full(written: str) -> int:
    return int(written) if len(written) == 4 else 2000 + int(written)
