"""Services for reviews, with optimistic locking: nobody overwrites what they have not seen."""

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.models import Review, ReviewComment

State = Review.State
COMMENT_CHARACTERS = 2000
#: What can be undone.
DECIDED = ("state", "verdict", "assigned_to_id", "done_by_id", "done_at")


class OutOfDate(Exception):
    """Somebody did something to it since the page was made; `review` is how it is now."""

    def __init__(self, review: Review) -> None:
        super().__init__(review.pk)
        self.review = review


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


def _locked(review_id: int, version: int) -> Review:
    """Lock the review. Raise OutOfDate, and Review.DoesNotExist if it was deleted with its conversation."""
    row = Review.objects.select_for_update(no_key=True).get(pk=review_id)
    if row.version != version:
        raise OutOfDate(row)
    return row


def _save(review: Review, **values: object) -> Review:
    for name, value in values.items():
        setattr(review, name, value)
    review.version += 1
    review.save(update_fields=["version", *values])
    return review


@transaction.atomic
def judge_review(
    *, review_id: int, version: int, by: AbstractBaseUser, verdict: str, comment: str = "", done: bool
) -> Review:
    """Save the verdict, which may be empty, and a comment; `done` finishes or reopens the review.

    The review is assigned to the member if nobody had taken it. Raise OutOfDate, ValidationError,
    Review.DoesNotExist.
    """
    review = _locked(review_id, version)
    if verdict and verdict not in Review.Verdict.values:
        raise ValidationError(_("Choose one of the verdicts."))
    add_comment(review_id=review_id, by=by, text=comment, may_be_empty=True)
    is_new = review.state == State.OPEN or verdict != review.verdict
    return _save(
        review,
        verdict=verdict,
        state=State.DONE if done else State.OPEN,
        assigned_to_id=review.assigned_to_id or by.pk,
        done_by_id=(by.pk if is_new else review.done_by_id) if done else None,
        done_at=(timezone.now() if is_new else review.done_at) if done else None,
    )


@transaction.atomic
def assign_review(*, review_id: int, version: int, to: AbstractBaseUser | None) -> Review:
    """Assign the review to a member of staff, or to nobody. Raise OutOfDate, Review.DoesNotExist."""
    return _save(_locked(review_id, version), assigned_to_id=to.pk if to else None)


@transaction.atomic
def restore_review(*, review_id: int, version: int, before: Decided) -> Review:
    """Undo the last action; comments stay. Raise OutOfDate, Review.DoesNotExist."""
    return _save(_locked(review_id, version), **{name: getattr(before, name) for name in DECIDED})


def add_comment(*, review_id: int, by: AbstractBaseUser, text: str, may_be_empty: bool = False) -> bool:
    """Add a comment, without a version; return whether there was one. Raise ValidationError."""
    text = text.replace("\r\n", "\n").strip()
    if not text:
        if may_be_empty:
            return False
        raise ValidationError(_("Write a comment first."))
    if len(text) > COMMENT_CHARACTERS:
        most = {"most": COMMENT_CHARACTERS}
        raise ValidationError(_("Please shorten the comment to %(most)d characters.") % most)
    ReviewComment.objects.create(review_id=review_id, by_id=by.pk, text=text)
    return True


# --- several at once: only what nobody else has done yet ---


@transaction.atomic
def take_reviews(*, reviews: QuerySet[Review], by: AbstractBaseUser) -> list[Review]:
    """Assign those that nobody has taken to the member."""
    return _at_once(reviews.filter(assigned_to=None), assigned_to=by.pk)


@transaction.atomic
def finish_reviews(*, reviews: QuerySet[Review], by: AbstractBaseUser) -> list[Review]:
    """Finish those that are open."""
    return _at_once(reviews.filter(state=State.OPEN), state=State.DONE, done_by=by.pk, done_at=timezone.now())


@transaction.atomic
def judge_reviews(*, reviews: QuerySet[Review], verdict: str) -> list[Review]:
    """Give the verdict to those that have none."""
    return _at_once(reviews.filter(verdict=""), verdict=Review.Verdict(verdict))


def _at_once(reviews: QuerySet[Review], **values: object) -> list[Review]:
    """Return those that changed.

    They are locked in one order, so that two members who tick the same rows do not deadlock.
    """
    rows = list(reviews.order_by("pk").select_for_update(of=("self",), no_key=True))
    Review.objects.filter(pk__in=[row.pk for row in rows]).update(**values, version=F("version") + 1)
    return rows
