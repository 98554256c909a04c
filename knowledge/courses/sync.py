"""Synchronisation of courses: their links and documents follow their records, whichever of them changed.

Code that changes courses first calls `lock_and_read`, which locks their collections until the transaction ends, and
then `relink`.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import Any

from django.db import transaction

from knowledge.courses.codes import Codes, code_key, mentions
from knowledge.courses.markdown import general_key, render_course
from knowledge.courses.reader import CourseRecord
from knowledge.ingest.importer import ImportReport
from knowledge.models import Collection, Course, Document

#: Where a document keeps codes that its course's text need not name.
CODES = "prerequisite_codes"
#: A record's fields that the course has too.
FIELDS = (
    "code",
    "name",
    "general_name",
    "year",
    "is_mandatory",
    "ects",
    "field",
    "prerequisites",
    "assessment",
    "contents",
    "objectives",
    "programme",
)


@dataclass(frozen=True, slots=True)
class Entry:
    """The data of a course that other courses' documents can depend on."""

    pk: int
    collection_id: int
    code: str
    name: str
    general: str
    language: str
    published: bool
    prerequisites: str
    listed: tuple[str, ...]
    links: frozenset[int]


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The courses of some collections at one moment."""

    collection_ids: frozenset[int]
    entries: Mapping[int, Entry]

    def named_by(self) -> dict[int, frozenset[int]]:
        """Return for each course the courses that its prerequisites name by their codes."""
        by_code: dict[int, dict[str, list[Entry]]] = defaultdict(lambda: defaultdict(list))
        for entry in self.entries.values():
            by_code[entry.collection_id][code_key(entry.code)].append(entry)
        codes = {place: Codes.of(found[0].code for found in keys.values()) for place, keys in by_code.items()}

        def named(entry: Entry) -> Iterator[int]:
            keys = {mention.key for mention in mentions(entry.prerequisites, codes[entry.collection_id])}
            for key in keys | {code_key(code) for code in entry.listed}:
                found = by_code[entry.collection_id].get(key, [])
                same = [other for other in found if other.language == entry.language] or found
                if same and all(other.pk != entry.pk for other in found):
                    yield same[0].pk

        return {entry.pk: frozenset(named(entry)) for entry in self.entries.values()}

    def groups(self) -> dict[tuple[int, str], list[Entry]]:
        """Return the published modules of each integrated course."""
        groups: dict[tuple[int, str], list[Entry]] = defaultdict(list)
        for entry in self.entries.values():
            if entry.general and entry.published:
                groups[entry.collection_id, entry.general].append(entry)
        return groups


def lock_and_read(collection_ids: Iterable[int]) -> Snapshot:
    """Lock the collections, so that two who add siblings at once see each other, and read their courses."""
    ids = frozenset(collection_ids)
    list(Collection.objects.select_for_update(no_key=True).filter(pk__in=ids).order_by("pk"))
    return _read(ids)


def relink(
    before: Snapshot, *, changed: Set[int] = frozenset(), chosen: Mapping[int, frozenset[int]] | None = None
) -> list[int]:
    """Link prerequisites and write the documents that `changed` courses affect; return the ids of those written.

    Links are those that the prerequisites name, and those that people chose besides; `chosen` replaces the latter.
    """
    after = _read(before.collection_ids)
    named_before, named = before.named_by(), after.named_by()
    extra = {pk: entry.links - named_before[pk] for pk, entry in before.entries.items()} | dict(chosen or {})
    relinked = set()
    for pk, entry in after.entries.items():
        links = named[pk] | extra.get(pk, frozenset()) - {pk}
        if links != entry.links:
            Course(pk=pk).required_courses.set(links)
            relinked.add(pk)

    altered = {
        pk for pk in before.entries.keys() | after.entries.keys() if before.entries.get(pk) != after.entries.get(pk)
    } | changed
    groups = {(entry.collection_id, entry.general) for pk in altered for entry in _both(before, after, pk)}
    affected = altered | relinked
    affected |= {entry.pk for entry in after.entries.values() if (entry.collection_id, entry.general) in groups}
    affected |= set(Course.objects.filter(required_courses__in=altered).values_list("pk", flat=True))
    return _write_documents(affected, after)


@dataclass(frozen=True, slots=True)
class PlannedCourse:
    """A record, and its course with the record's values, not saved; `kind` is new, changed or unchanged."""

    record: CourseRecord
    course: Course
    kind: str


@transaction.atomic
def import_courses(records: Sequence[CourseRecord], *, collection: Collection) -> ImportReport:
    """Create or update one course for each address, or else code and language; the caller indexes next.

    What staff archived stays archived, and a page that has the address becomes the course's document.
    """
    kinds = Counter(planned.kind for planned in save_courses(records, collection=collection))
    return ImportReport(kinds["new"], kinds["changed"], kinds["unchanged"])


@transaction.atomic
def save_courses(records: Sequence[CourseRecord], *, collection: Collection) -> list[PlannedCourse]:
    """Save the new and the changed courses; return what was done with each record."""
    before = lock_and_read([collection.pk])
    plan = plan_courses(records, collection=collection)
    changed = [planned.course for planned in plan if planned.kind != "unchanged"]
    for course in changed:
        _save(course)
    relink(before, changed={course.pk for course in changed})
    return plan


@transaction.atomic
def plan_courses(records: Sequence[CourseRecord], *, collection: Collection) -> list[PlannedCourse]:
    """Return what an import would do with each record; nothing is saved."""
    courses = list(Course.objects.filter(document__collection=collection).select_related("document").order_by("pk"))
    by_url = {course.document.url: course for course in courses}
    by_code = {(course.code.casefold(), course.document.language): course for course in courses}
    urls = [record.url for record in records]
    pages = {
        page.url: page
        for page in collection.documents.filter(url__in=urls, course=None).select_for_update(of=("self",))
    }
    taken = {by_url[url].pk for url in urls if url in by_url}
    plan = []
    for record in records:
        course = by_url.get(record.url)
        if course is None and record.url not in pages:  # the course's page has moved
            course = by_code.get((record.code.casefold(), record.language))
            course = course if course and course.pk not in taken else None
        if course is None:
            course = Course(document=pages.get(record.url) or Document(collection=collection, url=record.url))
            plan.append(PlannedCourse(record, _with_values(course, record), "new"))
        else:
            is_same = _state(course) == _state(_with_values(course, record))
            plan.append(PlannedCourse(record, course, "unchanged" if is_same else "changed"))
    return plan


def _with_values(course: Course, record: CourseRecord) -> Course:
    for name in FIELDS:
        setattr(course, name, getattr(record, name))
    document = course.document
    document.url, document.language, document.title = record.url, record.language, str(course)
    document.metadata = {key: value for key, value in document.metadata.items() if key != CODES}
    if record.prerequisite_codes:
        document.metadata[CODES] = list(record.prerequisite_codes)
    return course


def _state(course: Course) -> tuple[Any, ...]:
    document = course.document
    return *(getattr(course, name) for name in FIELDS), document.url, document.language, document.metadata


def _save(course: Course) -> None:
    course.document.save()
    course.document_id = course.document.pk
    course.save()


# --- reading a snapshot ---


def _read(collection_ids: frozenset[int]) -> Snapshot:
    courses = Course.objects.filter(document__collection__in=collection_ids)
    links: dict[int, set[int]] = defaultdict(set)
    for required_by, required in courses.exclude(required_courses=None).values_list("pk", "required_courses"):
        links[required_by].add(required)
    rows = courses.order_by("pk").values_list(
        "pk",
        "document__collection_id",
        "code",
        "name",
        "general_name",
        "document__language",
        "document__status",
        "prerequisites",
        f"document__metadata__{CODES}",
    )
    entries = (
        Entry(
            pk,
            collection_id,
            code,
            name,
            general_key(general),
            language,
            status == Document.Status.PUBLISHED,
            prerequisites,
            tuple(listed or ()),
            frozenset(links[pk]),
        )
        for pk, collection_id, code, name, general, language, status, prerequisites, listed in rows
    )
    return Snapshot(collection_ids, {entry.pk: entry for entry in entries})


def _both(before: Snapshot, after: Snapshot, pk: int) -> Iterator[Entry]:
    for moment in (before, after):
        if entry := moment.entries.get(pk):
            yield entry


# --- writing documents ---


def _write_documents(pks: Set[int], now: Snapshot) -> list[int]:
    groups = now.groups()
    written = []
    courses = Course.objects.filter(pk__in=pks).select_related("document").prefetch_related("required_courses")
    for course in courses.order_by("document_id"):
        own = now.entries[course.pk]
        siblings: dict[str, Entry] = {}
        group = groups.get((own.collection_id, own.general), [])
        for entry in sorted(group, key=lambda entry: (entry.language != own.language, entry.pk)):
            siblings.setdefault(code_key(entry.code), entry)
        siblings.pop(code_key(own.code), None)
        document = course.document
        title, text = str(course), render_course(course, siblings.values(), course.required_courses.all())
        if (document.title, document.text) != (title, text):
            document.title, document.text = title, text
            document.save()
            written.append(document.pk)
    return written
