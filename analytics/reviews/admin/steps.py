"""Steps that staff take on a review by the form of its page, and how the last one is undone."""

from dataclasses import asdict, dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.core import signing
from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from analytics.inbox.admin.assigning import read_version
from analytics.inbox.services import assign
from analytics.models import Review
from analytics.reviews.services import Decided, judge_review

SALT = "analytics.review.undo"
#: Seconds for which a step can be undone.
UNDONE_WITHIN = 3600
#: What the buttons are called.
DONE, SAVE, REOPEN, TAKE, RELEASE = STEPS = ("done", "save", "reopen", "take", "release")
ASSIGNING = (TAKE, RELEASE)
#: What a step may change, by the name that the audit log calls it.
CHANGING = {"verdict": "verdict", "state": "state", "assigned_to": "assigned_to_id", "confirmed": "confirmed_id"}


@dataclass(frozen=True, slots=True)
class Typed:
    """The values of the form: a verdict and a comment, and the version that they are meant for."""

    verdict: str
    comment: str
    version: int


def typed_in(posted: QueryDict) -> Typed:
    """Return the values of the form."""
    return Typed(posted.get("verdict", ""), posted.get("comment", ""), read_version(posted))


def apply_action(step: str, *, review: Review, typed: Typed, by: AbstractBaseUser) -> tuple[Review, list[str]]:
    """Apply an action; return the review and the names of what changed.

    Raise what the services raise, and KeyError for an unknown action.
    """
    if step in ASSIGNING:
        to = by if step == TAKE else None
        return assign(item=review, version=typed.version, to=to, due_on=review.due_on, by=by), ["assigned_to"]
    done = {DONE: True, SAVE: None, REOPEN: False}[step]
    saved = judge_review(
        review=review, version=typed.version, by=by, verdict=typed.verdict, comment=typed.comment, done=done
    )
    changed = [name for name, stored in CHANGING.items() if getattr(saved, stored) != getattr(review, stored)]
    return saved, [*changed, *(["comment"] if typed.comment.strip() else [])]


def undo_token(review: Review, before: Decided) -> str:
    """Sign how the review stood before; the token holds until somebody else changes it."""
    values = {**asdict(before), "done_at": before.done_at.isoformat() if before.done_at else None}
    return signing.dumps([review.pk, review.version, values], salt=SALT)


def read_undo_token(token: str) -> tuple[int, int, Decided]:
    """Return the review's id, the version to undo and how it stood. Raise signing.BadSignature."""
    pk, version, values = signing.loads(token, salt=SALT, max_age=UNDONE_WITHIN)
    done_at = parse_datetime(values["done_at"]) if values["done_at"] else None
    return pk, version, Decided(**{**values, "done_at": done_at})
