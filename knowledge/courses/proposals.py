"""Compares the modules that a document describes with the courses that are there; what comes of it is only proposed.

A course is found by its language and its code, or the code that the document gave it before staff changed it. What its
fields said when staff last accepted them tells what the document changed since from what staff changed: theirs stays
where the document says what it said.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from knowledge.courses.codes import code_key
from knowledge.courses.modules import ReadModule, read_modules
from knowledge.courses.reader import CourseRecord
from knowledge.courses.sync import CODES, FIELDS
from knowledge.models import Course, Document

URL, CODE = "url", "code"
#: Fields that a handbook gives a value; its code is what a course is found by.
TAKEN = tuple(name for name in FIELDS if name not in {"code", "general_name"})


class Kind(StrEnum):
    """`CONFLICT` is a change that would replace what staff, a file or another document says."""

    NEW = "new"
    CHANGED = "changed"
    CONFLICT = "conflict"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Change:
    field: str
    before: Any
    after: Any
    is_conflict: bool


@dataclass(frozen=True, slots=True)
class Proposal:
    """What accepting a module would do: write `record`. `course` is there already, unless it is new.

    `other` is the published document that the course was read from, if that is another one.
    """

    key: str
    kind: Kind
    module: ReadModule
    record: CourseRecord
    course: Course | None = None
    changes: tuple[Change, ...] = ()
    other: Document | None = None


@dataclass(frozen=True, slots=True)
class Proposals:
    """Everything that a document proposes; `unreadable` are modules that no course can be made of."""

    proposals: tuple[Proposal, ...]
    unreadable: tuple[ReadModule, ...]

    @property
    def count(self) -> int:
        return len(self.proposals) + len(self.unreadable)

    def of_kind(self, *kinds: Kind) -> list[Proposal]:
        return [proposal for proposal in self.proposals if proposal.kind in kinds]


def propose(document: Document) -> Proposals:
    """Return what the document proposes; nothing, without a query of courses, if it is no handbook."""
    modules = read_modules(document.text, url=document.url, language=document.language)
    if not modules:
        return Proposals((), ())
    there: dict[str, Course] = {}
    renamed: dict[str, Course] = {}
    courses = Course.objects.filter(
        document__collection=document.collection_id, document__language=document.language
    ).exclude(document=document)
    for course in courses.select_related("document", "read_from").order_by("pk"):
        there.setdefault(code_key(course.code), course)
        renamed.setdefault(code_key(course.read_values.get(CODE, "")), course)
    found = [
        _propose(module, module.record, there.get(key) or renamed.get(key), document)
        for module in modules
        if module.record is not None and (key := code_key(module.code))
    ]
    return Proposals(tuple(found), tuple(module for module in modules if module.record is None))


def values_of(record: CourseRecord) -> dict[str, Any]:
    """Return a record's values as they are kept with the course, without the empty ones."""
    values = {name: plain(getattr(record, name)) for name in (*TAKEN, CODE, URL)}
    return {name: value for name, value in values.items() if value not in {None, ""}}


def plain(value: Any) -> Any:
    """Return a value as it is compared: a form sends other ends of lines, and 6 is 6.0."""
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    return value.replace("\r\n", "\n").strip() if isinstance(value, str) else value


def _propose(module: ReadModule, record: CourseRecord, course: Course | None, document: Document) -> Proposal:
    key = code_key(module.code)
    if course is None:
        return Proposal(key, Kind.NEW, module, record)
    source = course.read_from if course.read_from and course.read_from.status == Document.Status.PUBLISHED else None
    other = source if source and source.pk != document.pk else None
    changes = tuple(_changes(record, course, is_elsewhere=other is not None))
    kind = Kind.UNCHANGED
    if changes:
        kind = Kind.CONFLICT if any(change.is_conflict for change in changes) else Kind.CHANGED
    written = replace(_record_of(course), **{change.field: getattr(record, change.field) for change in changes})
    return Proposal(key, kind, module, written, course, changes, other)


def _changes(record: CourseRecord, course: Course, *, is_elsewhere: bool) -> Iterator[Change]:
    """Yield what accepting would change. What the document does not say stays, and so does an address by staff."""
    for name in TAKEN:
        then, now, new = course.read_values.get(name), plain(getattr(course, name)), plain(getattr(record, name))
        then, now, new = ("" if value is None else value for value in (then, now, new))
        if new not in {"", now} and (new != then or is_elsewhere):
            yield Change(name, now, new, is_conflict=is_elsewhere or now != then)
    now = course.document.url
    if not is_elsewhere and now == course.read_values.get(URL) and now != record.url:
        yield Change(URL, now, record.url, is_conflict=False)


def _record_of(course: Course) -> CourseRecord:
    document = course.document
    return CourseRecord(
        **{name: getattr(course, name) for name in FIELDS},
        url=document.url,
        language=document.language,
        prerequisite_codes=tuple(document.metadata.get(CODES, ())),
    )
