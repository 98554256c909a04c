"""The term, year or examination regulations that a document is about, and how they are called; English and German."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from functools import lru_cache
from typing import Self
from urllib.parse import unquote, urlsplit

from django.core.exceptions import ValidationError
from django.utils import translation
from django.utils.translation import gettext as _

from knowledge.chunking.page_markers import MARKER
from knowledge.chunking.periods import Mention, Period, mentions, named
from knowledge.chunking.plain_text import make_plain
from knowledge.models import TermKind as Kind

YEAR_MONTHS, HALF_YEAR = 12, 6
APRIL, OCTOBER = 3, 9
#: How much of a text is its cover, and how many of its first headings are read.
COVER_CHARACTERS, HEADINGS_READ = 1_500, 2
HEADING = re.compile(r"^#{1,2}\s+(?P<text>.+)$", re.MULTILINE)
#: Words that make a year beside them that of examination regulations.
REGULATIONS = re.compile(
    r"\b[bmfs]?(?:st|stu|s|f)?po\b|(?:prüfungs|studien)ordnung|(?:exam(?:ination)?|study) regulations?"
    r"|regulations? (?:for|of) (?:study|the (?:examination|degree))",
    re.IGNORECASE,
)
#: In addresses and file names terms are written without signs between them: "ws2425", "fees2024".
GLUED_TERM = re.compile(r"(?<![a-z])(ws|wise|ss|sose)[-_]?(\d\d)(\d\d)(?!\d)")
GLUED_YEAR = re.compile(r"(?<=[a-z])(?=20[0-4]\d(?!\d))|(?<=[a-z]-)(?=20[0-4]\d(?!\d))")
GLUED_SEASON = re.compile(r"(?<!\d)(20[0-4]\d)[-_]?(ws|wise|ss|sose|w|s)(?![a-z0-9])")
SEASONS = {"w": "ws", "s": "ss"}
#: The folder of an uploaded file is named by the file's content, so that it says nothing about a term or a matter.
UPLOADED = re.compile(r"^/documents/[0-9a-f]{16}(?=/)")


@dataclass(frozen=True, slots=True)
class Term:
    """A term, a year or several, or the year of examination regulations; months are counted from the year 0."""

    kind: Kind
    begin: int
    end: int

    @classmethod
    def between(cls, kind: str, begins: date, ends: date) -> Self:
        """Make a term of its first day and its last one."""
        return cls(Kind(kind), month_of(begins), month_of(ends) + 1)

    @property
    def period(self) -> Period:
        is_year = self.kind in {Kind.YEARS, Kind.REGULATIONS} and self.end - self.begin == YEAR_MONTHS
        return Period(self.begin, self.end, is_year=is_year)

    @property
    def is_regulations(self) -> bool:
        return self.kind == Kind.REGULATIONS


def first_day(month: int) -> date:
    return date(month // YEAR_MONTHS, month % YEAR_MONTHS + 1, 1)


def last_day(term: Term) -> date:
    return first_day(term.end) - timedelta(days=1)


def month_of(day: date) -> int:
    return day.year * YEAR_MONTHS + day.month - 1


@lru_cache(maxsize=1024)
def name_term(term: Term, language: str) -> str:
    """Return how students call it: "Winter term 2025/26", "Wintersemester 2025/26", "2024"."""
    year, last = term.begin // YEAR_MONTHS, (term.end - 1) // YEAR_MONTHS
    pair = f"{year}/{(year + 1) % 100:02}"
    with translation.override(language):
        match term.kind:
            case Kind.WINTER:
                return _("Winter term %(years)s") % {"years": pair}
            case Kind.SUMMER:
                return _("Summer term %(year)s") % {"year": year}
            case Kind.FALL:
                return _("Fall term %(year)s") % {"year": year}
            case Kind.SPRING:
                return _("Spring term %(year)s") % {"year": year}
            case Kind.ACADEMIC:
                return _("Academic year %(years)s") % {"years": pair}
            case Kind.REGULATIONS:
                return _("Examination regulations %(year)s") % {"year": year}
            case Kind.YEARS:
                return str(year) if last == year else f"{year}–{last}"


def term_at(month: int) -> Term:
    """Return the term that a month lies in, by the calendar of German universities."""
    year = month // YEAR_MONTHS
    if APRIL <= month % YEAR_MONTHS < OCTOBER:
        return Term(Kind.SUMMER, year * YEAR_MONTHS + APRIL, year * YEAR_MONTHS + OCTOBER)
    begin = (year if month % YEAR_MONTHS >= OCTOBER else year - 1) * YEAR_MONTHS + OCTOBER
    return Term(Kind.WINTER, begin, begin + HALF_YEAR)


def names(text: str, name: str) -> bool:
    """Return whether a text names the term that is called so, however it is written there."""
    said = {(period.begin, period.end) for period in named(text)}
    return all((period.begin, period.end) in said for period in named(name))


def read_mentioned(text: str) -> list[Term]:
    """Return the terms, years and regulations that a text names, in order."""
    return [_term(mention, text) for mention in mentions(text) if not mention.is_date]


def parse_term(text: str) -> Term | None:
    """Read a term that staff wrote; None if the text names none, or several that do not follow one another."""
    return _joined(read_mentioned(text))


def check_term(text: str) -> None:
    """Check that a term written by staff can be read; raises ValidationError."""
    if text and parse_term(text) is None:
        raise ValidationError(_("Write one term or year, such as Winter term 2025/26, WS 25/26, 2025 or PO 2019."))


def read_term(*, title: str, url: str, text: str) -> Term | None:
    """Read the term that a document is about: in its title, else its first headings, its address, its cover.

    A term beside the year of regulations counts before it. On the cover only terms are read, since any year may stand
    there, and only if it names no other one.
    """
    headings = [make_plain(found["text"]) for found in HEADING.finditer(text[:COVER_CHARACTERS])][:HEADINGS_READ]
    for label in (title, *headings, readable_address(url)):
        if (found := _read_label(label)) is not None:
            return found
    cover = make_plain(MARKER.sub(" ", text[:COVER_CHARACTERS]))
    return _only({each for each in read_mentioned(cover) if each.kind not in {Kind.YEARS, Kind.REGULATIONS}})


def readable_address(url: str) -> str:
    """Return the words of an address, with its terms as `mentions` reads them: "fees ws 24/25 pdf"."""
    parts = urlsplit(url)
    path = UPLOADED.sub("", parts.path)
    words = unquote(f"{path} {parts.query} {parts.fragment}").lower().replace("_", "-").replace("+", "-")
    words = GLUED_TERM.sub(_parted, words)
    words = GLUED_SEASON.sub(lambda found: f" {SEASONS.get(found[2], found[2])} {found[1]} ", words)
    words = GLUED_YEAR.sub(" ", words)
    return re.sub(r"[/.?&=#]+(?!\d\d\b)|(?<=[a-z])-|-(?=[a-z])", " ", words)


def _parted(found: re.Match[str]) -> str:
    """Write "ws2425" apart, but leave "ws2025"."""
    return f" {found[1]} {found[2]}/{found[3]} " if int(found[3]) == int(found[2]) + 1 else found[0]


def _read_label(label: str) -> Term | None:
    found = read_mentioned(label)
    if dated := [mention for mention in mentions(label) if mention.is_date]:
        year = dated[-1].period.begin // YEAR_MONTHS
        if not found and REGULATIONS.search(label):  # "Prüfungsordnung vom 12.03.2019"
            return Term(Kind.REGULATIONS, year * YEAR_MONTHS, (year + 1) * YEAR_MONTHS)
    return _joined([each for each in found if not each.is_regulations]) or _only(
        {each for each in found if each.is_regulations}
    )


def _term(mention: Mention, text: str) -> Term:
    period = mention.period
    written = text[mention.start : mention.end].lower()
    length = period.end - period.begin
    if length == HALF_YEAR:
        return Term(_season(written, is_winter=period.begin % YEAR_MONTHS == OCTOBER), period.begin, period.end)
    if period.is_year and REGULATIONS.search(text):
        return Term(Kind.REGULATIONS, period.begin, period.end)
    is_academic = length == YEAR_MONTHS and not period.is_year
    return Term(Kind.ACADEMIC if is_academic else Kind.YEARS, period.begin, period.end)


def _season(written: str, *, is_winter: bool) -> Kind:
    if re.search(r"fall|autumn|herbst|\bhs", written):
        return Kind.FALL
    if re.search(r"spring|frühjahr|frühling|\bfs", written):
        return Kind.SPRING
    return Kind.WINTER if is_winter else Kind.SUMMER


def _joined(terms: Sequence[Term]) -> Term | None:
    """Return the only term, or the time of terms that follow one another without a gap."""
    different = sorted(set(terms), key=lambda term: (term.begin, -term.end))
    if len(different) <= 1:
        return different[0] if different else None
    if any(each.is_regulations for each in different):
        return None
    begin, end = different[0].begin, different[0].end
    for each in different[1:]:
        if each.begin > end:
            return None
        end = max(end, each.end)
    whole = next((each for each in different if (each.begin, each.end) == (begin, end)), None)
    is_academic = begin % YEAR_MONTHS == OCTOBER and end - begin == YEAR_MONTHS
    return whole or Term(Kind.ACADEMIC if is_academic else Kind.YEARS, begin, end)


def _only(terms: Iterable[Term]) -> Term | None:
    found = list(terms)
    return found[0] if len(found) == 1 else None
