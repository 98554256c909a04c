"""The edition that a question asks for, and the one that is current if it asks for none; English and German; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Self

from knowledge.chunking.periods import Grade, Period, grade, mentions
from knowledge.editions.terms import APRIL, HALF_YEAR, OCTOBER, YEAR_MONTHS, Term, month_of, read_mentioned, term_at
from knowledge.models import TermKind

_NEXT = r"(?P<next>next|upcoming|coming|nächste[nmrs]?|kommende[nmrs]?)"
_LAST = r"(?P<last>last|previous|letzte[nmrs]?|vergangene[nmrs]?|vorige[nmrs]?|vorherige[nmrs]?)"
_THIS = r"(?P<this>this|current|present|diese[nmrs]?|aktuelle[nmrs]?|laufende[nmrs]?|jetzige[nmrs]?)"
_WINTER, _SUMMER = r"(?P<winter>winter|fall|autumn|herbst)", r"(?P<summer>summer|spring|sommer|frühjahrs?)"
#: "next semester", "im kommenden Wintersemester", "next academic year".
RELATIVE = re.compile(
    rf"\b(?:{_NEXT}|{_LAST}|{_THIS})\s+(?:(?:{_WINTER}|{_SUMMER})[\s-]*(?:(?:semester|term)s?)?"
    r"|(?P<half>(?:semester|term|trimester)s?)|(?P<academic>academic year|studienjahr(?:e?s)?))(?![^\W_])",
    re.IGNORECASE,
)
#: A season that a question names without a year.
SEASON = re.compile(rf"\b(?:{_WINTER}|{_SUMMER})[\s-]*(?:semester|term)s?(?![^\W_])", re.IGNORECASE)
WINTERLY = frozenset({TermKind.WINTER, TermKind.FALL})
SUMMERLY = frozenset({TermKind.SUMMER, TermKind.SPRING})


@dataclass(frozen=True, slots=True)
class Asked:
    """The terms and years that a question names, the years of regulations, and months of dates where it names no term.

    `seasons` are the kinds of term that it names without a year.
    """

    terms: tuple[Term, ...] = ()
    regulations: tuple[Term, ...] = ()
    dates: tuple[Period, ...] = ()
    seasons: frozenset[TermKind] = frozenset()

    @property
    def periods(self) -> list[Period]:
        return [term.period for term in self.terms]


@dataclass(frozen=True, slots=True)
class DatedDocument:
    """A document of a group of editions; `since` is the month from which on it is the one in force.

    `regulations` are the examination regulations that its title names beside its term.
    """

    document_id: int
    term: Term
    since: int
    regulations: tuple[Term, ...] = ()

    @classmethod
    def valid_from(cls, document_id: int, term: Term, day: date | None, title: str = "") -> Self:
        """Make one that is in force once its term has begun, and not before `day`."""
        since = max(term.begin, month_of(day)) if day else term.begin
        return cls(document_id, term, since, tuple(each for each in read_mentioned(title) if each.is_regulations))


@dataclass(frozen=True, slots=True)
class Choice:
    """The documents of a group that a question is answered from; `is_missing`: none is of the term that it names."""

    documents: frozenset[int]
    is_missing: bool = False


def read_asked(question: str, today: date) -> Asked:
    """Read the edition that a question asks for; "next semester" is counted from `today`."""
    named = read_mentioned(question)
    found = [*(term for term in named if not term.is_regulations), *_relative(question, today)]
    seasons: frozenset[TermKind] = frozenset()
    if not found and (season := SEASON.search(question)):
        seasons = WINTERLY if season["winter"] else SUMMERLY
    return Asked(
        terms=tuple(found),
        regulations=tuple(term for term in named if term.is_regulations),
        dates=() if named or found else tuple(each.period for each in mentions(question) if each.is_date),
        seasons=seasons,
    )


def choose_editions(editions: Sequence[DatedDocument], asked: Asked, today: date) -> Choice:
    """Choose among the editions of one matter: those asked for, else the current one.

    Of examination regulations all are kept unless one is asked for: a student studies by those of their own beginning.
    """
    if any(each.term.is_regulations for each in editions):
        fitting = _fitting(editions, [term.period for term in asked.regulations])
        if fitting or not asked.regulations:
            return Choice(frozenset(each.document_id for each in fitting or editions))
        return Choice(frozenset(each.document_id for each in editions), is_missing=True)
    editions = _of_regulations(editions, asked) or editions
    if fitting := _fitting(editions, asked.periods or asked.dates):
        return Choice(frozenset(each.document_id for each in fitting))
    possible = _graded(editions, asked.periods, Grade.MAY) if asked.terms else []
    in_season = [each for each in editions if each.term.kind in asked.seasons]
    return Choice(_current(possible or in_season or editions, today), is_missing=bool(asked.terms))


def _of_regulations(editions: Sequence[DatedDocument], asked: Asked) -> list[DatedDocument]:
    """Return the editions whose titles name the regulations that are asked for: handbooks have a term, and them."""
    wanted = [term.period for term in asked.regulations]
    return [each for each in editions if grade(wanted, [term.period for term in each.regulations]) == Grade.FITS]


def _current(editions: Sequence[DatedDocument], today: date) -> frozenset[int]:
    """Return the documents of the term that began last, or of the first one to come if none has begun."""
    now = month_of(today)
    begun = [each.since for each in editions if each.since <= now]
    since = max(begun) if begun else min(each.since for each in editions)
    return frozenset(each.document_id for each in editions if each.since == since)


def _fitting(editions: Sequence[DatedDocument], wanted: Sequence[Period]) -> list[DatedDocument]:
    return _graded(editions, wanted, Grade.FITS) if wanted else []


def _graded(editions: Sequence[DatedDocument], wanted: Sequence[Period], least: Grade) -> list[DatedDocument]:
    return [each for each in editions if grade(wanted, [each.term.period]) >= least]


def _relative(question: str, today: date) -> list[Term]:
    return [_counted(match, month_of(today)) for match in RELATIVE.finditer(question)]


def _counted(match: re.Match[str], now: int) -> Term:
    """Return the term that "next", "this" or "last" means in `now`, a month."""
    step = 1 if match["next"] else -1 if match["last"] else 0
    if match["half"]:
        return term_at(term_at(now).begin + step * HALF_YEAR)
    kind, first = TermKind.SUMMER, APRIL
    length = HALF_YEAR
    if match["winter"] or match["academic"]:
        kind, first = (TermKind.ACADEMIC, OCTOBER) if match["academic"] else (TermKind.WINTER, OCTOBER)
        length = YEAR_MONTHS if match["academic"] else HALF_YEAR
    begun = (now - first) // YEAR_MONTHS * YEAR_MONTHS + first  # the last one that has begun
    is_running = now < begun + length
    begin = begun + YEAR_MONTHS * (step + (not is_running and step < 0) + (not is_running and step == 0))
    return Term(kind, begin, begin + length)
