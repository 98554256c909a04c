"""Services for reviews, with optimistic locking: nobody overwrites what they have not seen."""

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, cast

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.inbox.items import changed_now, lock, save
from analytics.inbox.services import add_comment
from analytics.models import Review
from analytics.reviews.examples import learn_from_verdicts

if TYPE_CHECKING:
    from core.access import Staff

State = Review.State
#: What can be undone.
DECIDED = ("state", "verdict", "assigned_to_id", "done_by_id", "done_at")


@dataclass(frozen=True, slots=True)
class Decided:
    """The state of a review, for undo."""

    state: str
    verdict: str
    assigned_to_id: int | None
    done_by_id: int | None
    done_at: datetime | None


def decided(review: Review) -> Decided:
    return Decided(*(getattr(review, name) for name in DECIDED))


@transaction.atomic
def judge_review(
    *, review: Review, version: int, by: AbstractBaseUser, verdict: str, comment: str = "", done: bool | None = None
) -> Review:
    """Save the verdict, which may be empty, and a comment; `done` finishes or reopens the review, None
    leaves its state.

    From the verdict that the answer was right the matching of FAQs learns, until it is taken back. The review is
    assigned to the member if nobody had taken it. Raise OutOfDate, ValidationError, Review.DoesNotExist.
    """
    row = lock(review, version)
    if verdict and verdict not in Review.Verdict.values:
        raise ValidationError(_("Choose one of the verdicts."))
    add_comment(item=row, by=by, text=comment, may_be_empty=True)
    values: dict[str, object] = {"verdict": verdict, "assigned_to_id": row.assigned_to_id or by.pk}
    if done is False:
        values |= {"state": State.OPEN, "done_by_id": None, "done_at": None}
    elif (done or row.state == State.DONE) and (row.state != State.DONE or verdict != row.verdict):
        values |= {"state": State.DONE, "done_by_id": by.pk, "done_at": timezone.now()}
    return _save_and_learn(row, by=by, **values)


@transaction.atomic
def restore_review(*, review: Review, version: int, before: Decided, by: AbstractBaseUser) -> Review:
    """Undo the last action, and what was learned from it; comments stay. Raise OutOfDate, Review.DoesNotExist."""
    return _save_and_learn(lock(review, version), by=by, **{name: getattr(before, name) for name in DECIDED})


def _save_and_learn(row: Review, *, by: AbstractBaseUser, **values: object) -> Review:
    """Save these values of a locked review, and learn from its verdict."""
    before = {row.pk: row.verdict}
    saved = save(row, by=by, **values)
    learn_from_verdicts(reviews=[saved], before=before, by=cast("Staff", by))
    return saved


# --- several at once: only what nobody else has done yet ---


@transaction.atomic
def take_reviews(*, reviews: QuerySet[Review], by: AbstractBaseUser) -> list[Review]:
    """Assign those that nobody has taken to the member."""
    return _at_once(reviews.filter(assigned_to=None), by, assigned_to=by.pk)


@transaction.atomic
def finish_reviews(*, reviews: QuerySet[Review], by: AbstractBaseUser) -> list[Review]:
    """Finish those that are not done."""
    left = reviews.exclude(state=State.DONE)
    return _at_once(left, by, state=State.DONE, done_by=by.pk, done_at=timezone.now())


@transaction.atomic
def judge_reviews(*, reviews: QuerySet[Review], verdict: str, by: AbstractBaseUser) -> list[Review]:
    """Give the verdict to those that have none, and learn from it."""
    changed = _at_once(reviews.filter(verdict=""), by, verdict=Review.Verdict(verdict))
    before = {row.pk: "" for row in changed}
    for row in changed:
        row.verdict = verdict
    learn_from_verdicts(reviews=changed, before=before, by=cast("Staff", by))
    return changed


def _at_once(reviews: QuerySet[Review], by: AbstractBaseUser, **values: object) -> list[Review]:
    """Return those that changed.

    They are locked in one order, so that two members who tick the same rows do not deadlock.
    """
    rows = list(reviews.order_by("pk").select_for_update(of=("self",), no_key=True))
    values |= changed_now(by)
    Review.objects.filter(pk__in=[row.pk for row in rows]).update(**values, version=F("version") + 1)
    return rows
