"""Of which programme, group, term and year a statement speaks, and whether two may speak of the same; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from analytics.contradictions.comparison.pages import DIGITS
from analytics.contradictions.comparison.statements import CODE, Source, Statement, plain_title, read_terms
from chat.pipeline.verification.words import alternatives, read_words
from faqs.models import main_language
from knowledge.chunking.periods import Period, named
from knowledge.chunking.subjects import DEGREES, WORD, read_programmes
from knowledge.courses.codes import Codes, code_key, mentions

#: Things that exclude each other and are values rather than subjects, by one of their words.
VALUES = frozenset({"monday", "january", "week", "hour", "deposit", "older", "upper", "ielts", "core", "qualifying"})
ACRONYM = re.compile(r"\b(?=\w*[A-ZÄÖÜ]\w*[A-ZÄÖÜ])[A-Za-zÄÖÜäöü]{2,12}\b")
#: Acronyms that name no subject.
KINDS = frozenset(
    {"FAQ", "FAQS", "PDF", "URL", "HTML", "AY", "OK", "AND", "OF", "THE", "FOR", "CET", "EUR", "US", "AM", "PM", "ID"}
)
#: "2324-academic-calendar": both years in four digits.
BOTH_YEARS = re.compile(r"(?<!\d)(\d\d)(\d\d)(?!\d)")


@dataclass(frozen=True, slots=True)
class Subjects:
    """Names in a text: members of groups of alternatives, acronyms and codes, degree programmes, years and terms."""

    members: dict[int, frozenset[int]]
    names: frozenset[str]
    degrees: frozenset[str]
    programmes: frozenset[frozenset[str]]
    periods: tuple[Period, ...]


@lru_cache(maxsize=16_384)
def read_subjects(text: str) -> Subjects:
    keys = frozenset(key for word in read_words(text) for key in word.keys)
    members = {
        number: frozenset(place for place, each in enumerate(group) if each & keys) for number, group in _groups()
    }
    names = {match[0].upper() for match in ACRONYM.finditer(text)} - KINDS
    codes = {match[0].upper() for match in CODE.finditer(text)}
    return Subjects(
        {number: found for number, found in members.items() if found},
        frozenset(names | codes),
        frozenset(name for name, pattern in DEGREES.items() if pattern.search(text)),
        read_programmes(text),
        _periods(text),
    )


@lru_cache(maxsize=1)
def _groups() -> list[tuple[int, list[frozenset[str]]]]:
    values = [frozenset(key for word in read_words(value) for key in word.keys) for value in VALUES]
    return [
        (number, group)
        for number, group in enumerate(alternatives())
        if not any(value & member for value in values for member in group)
    ]


def _periods(text: str) -> tuple[Period, ...]:
    both = [
        Period((2000 + int(first)) * 12 + 9, (2001 + int(first)) * 12 + 9)
        for first, second in BOTH_YEARS.findall(text)
        if int(second) == int(first) + 1
    ]
    return (*named(text), *both)


def may_compare(one: Source, other: Source) -> bool:
    """Return whether two sources are in one language and read together."""
    return main_language(one.language) == main_language(other.language) and are_read_together(one, other)


def are_read_together(one: Source, other: Source) -> bool:
    """Return whether two sources are searched together, on the same days and for the same readers."""
    if not one.groups & other.groups:
        return False
    if _are_of_other_courses(one, other):
        return False
    if (one.valid_until and other.valid_from and one.valid_until < other.valid_from) or (
        other.valid_until and one.valid_from and other.valid_until < one.valid_from
    ):
        return False
    kinds = {tag.partition(":")[0] for tag in one.audience} & {tag.partition(":")[0] for tag in other.audience}
    return all(
        {t for t in one.audience if t.startswith(f"{k}:")} & {t for t in other.audience if t.startswith(f"{k}:")}
        for k in kinds
    )


def _are_of_other_courses(one: Source, other: Source) -> bool:
    """Return whether one is a course's page, and the other one that of another course or a text that names it not."""
    if one.course and other.course:
        return code_key(one.course[0]) != code_key(other.course[0])
    return any(page.course and not _names_course(text, page.course) for page, text in ((one, other), (other, one)))


def _names_course(source: Source, course: tuple[str, str]) -> bool:
    code, name = course
    text = "\n".join((source.title, *source.headings, source.text))
    return bool(name and name.casefold() in text.casefold()) or any(mentions(text, Codes.of([code])))


def differ(one: Statement, other: Statement, sources: Sequence[Source]) -> bool:
    """Return whether the two speak of different programmes, groups of people, terms or courses."""
    said = [_layers(each, sources[each.source]) for each in (one, other)]
    for number, _group in _groups():
        ours, theirs = (_first(layers, number) for layers in said)
        if ours and theirs and not ours & theirs:
            return True
        if _mentions_another(said[0], theirs, said[1], number) or _mentions_another(said[1], ours, said[0], number):
            return True
    # A statement may name somebody's own degree.
    degrees = [next((each.degrees for each in layers[1:] if each.degrees), frozenset()) for layers in said]
    if degrees[0] and degrees[1] and not degrees[0] & degrees[1]:
        return True
    programmes = [next((each.programmes for each in layers if each.programmes), frozenset()) for layers in said]
    if programmes[0] and programmes[1] and not programmes[0] & programmes[1]:
        return True
    if _other_rows(one, other):
        return True
    own = [layers[0].names for layers in said]
    if own[0] - own[1] and own[1] - own[0]:
        return True
    return _are_parallel(sources[one.source].title, sources[other.source].title) or _other_period(said)


def _other_rows(one: Statement, other: Statement) -> bool:
    """Return whether a row of a table is about something that the other statement does not name."""
    if one.unit.cells and other.unit.cells and DIGITS.findall(one.unit.label) != DIGITS.findall(other.unit.label):
        return True
    for row, against in ((one, other), (other, one)):
        if len(row.unit.cells) > 2 and not read_terms(row.unit.label) <= read_terms(
            f"{against.unit.context} {against.unit.shown}"
        ):
            return True
    return False


def _layers(statement: Statement, source: Source) -> tuple[Subjects, ...]:
    """Return what is named by the statement itself, by what it stands under, and by its page, in this order."""
    headings = [read_subjects(heading) for heading in reversed(source.headings)]
    return (
        read_subjects(statement.unit.shown),
        read_subjects(statement.unit.context),
        *headings,
        read_subjects(plain_title(source.title)),
    )


def _mentions_another(
    layers: Sequence[Subjects], theirs: frozenset[int], others: Sequence[Subjects], number: int
) -> bool:
    """Return whether a statement alone names what the other one's page is of, on a page of something else."""
    below = _first(layers[1:], number)
    return bool(
        number in layers[0].members and number not in others[0].members and below and not below & theirs
    ) and bool(theirs)


def _first(layers: Sequence[Subjects], number: int) -> frozenset[int]:
    return next((layer.members[number] for layer in layers if number in layer.members), frozenset())


def _other_period(said: Sequence[Sequence[Subjects]]) -> bool:
    """Return whether the two are of other terms, or stand under other years; years of both are compared as figures."""
    terms = [tuple(each for each in layers[0].periods if not each.is_year) for layers in said]
    if all(terms):
        return False
    ours, theirs = (
        own or next((layer.periods for layer in layers[1:] if layer.periods), ())
        for own, layers in zip(terms, said, strict=True)
    )
    return bool(ours and theirs) and not any(
        one.begin < other.end and other.begin < one.end for one in ours for other in theirs
    )


def _are_parallel(one: str, other: str) -> bool:
    """Return whether two titles are those of one kind of page about two subjects: "MIIS handbook", "MLT handbook"."""
    ours, theirs = ({word.lower() for word in WORD.findall(plain_title(title))} for title in (one, other))
    names = [read_subjects(plain_title(title)).names for title in (one, other)]
    return bool(ours & theirs and names[0] and names[1]) and not names[0] & names[1]
