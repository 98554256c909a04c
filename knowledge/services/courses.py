"""The import of a file of courses: plan it, then save it if the plan is still the same."""

from collections.abc import Sequence

from django.db import transaction

from core.hashing import fingerprint
from knowledge.courses.reader import CourseRecord
from knowledge.courses.sync import PlannedCourse, lock_and_read, plan_courses, save_courses
from knowledge.models import Collection
from knowledge.tasks import index_pending_documents


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
