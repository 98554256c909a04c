"""Courses of a file or a document: plan what would be written, then write it if the plan is still the same."""

from collections.abc import Iterable, Sequence, Set

from django.contrib.postgres.search import SearchQuery, SearchVector
from django.core.cache import cache
from django.db import transaction
from django.db.models.functions import Left, Length

from core.hashing import fingerprint
from knowledge.courses.handbook import find_modules
from knowledge.courses.proposals import Kind, Proposal, Proposals, propose, values_of
from knowledge.courses.reader import CourseRecord
from knowledge.courses.sync import PlannedCourse, lock_and_read, plan_courses, save_courses
from knowledge.models import Collection, Course, Document
from knowledge.models.documents import DocumentQuerySet
from knowledge.tasks import index_pending_documents

#: Words that every handbook has: `module` in some form, and credits.
HANDBOOK_WORDS = "'modul':* & ('ects':* | 'lp' | 'cp' | 'credits' | 'credit' | 'leistungspunkte' | 'kreditpunkte')"
#: How many documents with such words are read, the longest ones, and how long what was counted is kept.
MOST_DOCUMENTS, KEPT_SECONDS = 50, 3600


class PlanChanged(Exception):
    """Something changed since the plan was shown."""


def fingerprint_courses(plan: Sequence[PlannedCourse]) -> str:
    """Return a fingerprint of what an import would do."""
    return fingerprint(*(f"{planned.kind} {planned.course.pk} {planned.record!r}" for planned in plan))


@transaction.atomic
def import_course_records(
    *, records: Sequence[CourseRecord], collection: Collection, expected: str
) -> list[PlannedCourse]:
    """Save the courses and queue their indexing, if that does what `expected` is the fingerprint of.

    Raise PlanChanged; nothing is saved then.
    """
    lock_and_read([collection.pk])
    if fingerprint_courses(plan_courses(records, collection=collection)) != expected:
        raise PlanChanged
    saved = save_courses(records, collection=collection)
    index_pending_documents.delay_on_commit()
    return saved


# --- courses of a document ---


def may_propose(document: Document) -> bool:
    """Return whether courses are read from a document: a published one of the university, that is no course itself."""
    if document.status != Document.Status.PUBLISHED or document.is_written_answer or document.collection.for_evaluation:
        return False
    return not Course.objects.filter(document=document).exists()


def fingerprint_proposals(found: Proposals) -> str:
    """Return a fingerprint of what accepting could do."""
    return fingerprint(*(_state(proposal) for proposal in found.proposals))


def list_handbooks(documents: DocumentQuerySet) -> list[tuple[Document, int]]:
    """Return those of the documents that courses can be read from, with how many modules each describes."""
    words = SearchVector(Left("text", 200_000), config="simple")  # the expression of the index `document_by_words`
    query = SearchQuery(HANDBOOK_WORDS, search_type="raw", config="simple")
    likely = documents.published().filter(course=None).annotate(words=words).filter(words=query)
    longest = list(likely.order_by(Length("text").desc(), "pk")[:MOST_DOCUMENTS])
    counted = [(document, _count(document)) for document in longest]
    return sorted(((each, count) for each, count in counted if count), key=lambda found: str(found[0]).casefold())


@transaction.atomic
def accept_courses(*, document: Document, chosen: Set[str], expected: str) -> list[PlannedCourse]:
    """Write the courses that staff chose by their keys, and queue their indexing.

    New ones are for whom and when the document is. Raise PlanChanged if the document or the courses are not as they
    were seen, `expected`; nothing is saved then.
    """
    lock_and_read([document.collection_id])
    document = Document.objects.select_for_update(no_key=True).get(pk=document.pk)
    found = propose(document) if may_propose(document) else Proposals((), ())
    if fingerprint_proposals(found) != expected:
        raise PlanChanged
    taken = [each for each in found.proposals if each.key in chosen and each.kind != Kind.UNCHANGED]
    saved = save_courses([proposal.record for proposal in taken], collection=document.collection)
    _restrict((planned.course for planned in saved if planned.kind == "new"), document)
    for proposal, planned in zip(taken, saved, strict=True):
        course, record = planned.course, proposal.module.record
        course.read_from, course.read_values = document, values_of(record) if record else {}
        course.save(update_fields=["read_from", "read_values"])
    index_pending_documents.delay_on_commit()
    return saved


def _restrict(courses: Iterable[Course], source: Document) -> None:
    """Have the courses used for whom and when the document that they come from is used."""
    if not (source.audience or source.valid_from or source.valid_until):
        return
    for own in Document.objects.filter(course__in=list(courses)):
        own.audience, own.valid_from, own.valid_until = source.audience, source.valid_from, source.valid_until
        own.save()


def _state(proposal: Proposal) -> str:
    pk = proposal.course.pk if proposal.course else None
    return f"{proposal.kind} {pk} {proposal.changes!r} {proposal.record!r} {proposal.module.record!r}"


def _count(document: Document) -> int:
    key = f"modules-described:{document.content_hash}"
    count: int | None = cache.get(key)
    if count is None:
        count = len(find_modules(document.text))
        cache.set(key, count, KEPT_SECONDS)
    return count
