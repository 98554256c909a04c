"""What a click or a key on a review's page does."""

from dataclasses import asdict, dataclass

from django.contrib.auth.models import AbstractBaseUser
from django.core import signing
from django.http import QueryDict
from django.utils.dateparse import parse_datetime

from analytics.models import Review
from analytics.review_services import Decided, assign_review, judge_review

SALT = "analytics.review.undo"
#: Seconds for which a step can be undone.
UNDONE_WITHIN = 3600
#: What the buttons are called.
DONE, SAVE, REOPEN, TAKE, RELEASE = STEPS = ("done", "save", "reopen", "take", "release")
ASSIGNING = (TAKE, RELEASE)
#: What a step may change, by the name that the audit log calls it.
CHANGING = {"verdict": "verdict", "state": "state", "assigned_to": "assigned_to_id"}


@dataclass(frozen=True, slots=True)
class Typed:
    """What the form holds: a verdict and a comment, and the version that they are meant for."""

    verdict: str
    comment: str
    version: int


def typed_in(posted: QueryDict) -> Typed:
    """Without a version that can be read, it is meant for none."""
    version = posted.get("version", "")
    is_number = version.isdecimal() and len(version) < 10
    return Typed(posted.get("verdict", ""), posted.get("comment", ""), int(version) if is_number else -1)


def take_step(step: str, *, review: Review, typed: Typed, by: AbstractBaseUser) -> tuple[Review, list[str]]:
    """The review as it is then, and what of it was changed. Raises as the services do, KeyError for no such step."""
    if step in ASSIGNING:
        to = by if step == TAKE else None
        return assign_review(review_id=review.pk, version=typed.version, to=to), ["assigned_to"]
    done = {DONE: True, SAVE: review.state == Review.State.DONE, REOPEN: False}[step]
    saved = judge_review(
        review_id=review.pk, version=typed.version, by=by, verdict=typed.verdict, comment=typed.comment, done=done
    )
    changed = [name for name, stored in CHANGING.items() if getattr(saved, stored) != getattr(review, stored)]
    return saved, [*changed, *(["comment"] if typed.comment.strip() else [])]


def undo_token(review: Review, before: Decided) -> str:
    """Says how it stood before, for as long as nobody does anything else to it; signed, since a page holds it."""
    values = {**asdict(before), "done_at": before.done_at.isoformat() if before.done_at else None}
    return signing.dumps([review.pk, review.version, values], salt=SALT)


def read_undo_token(token: str) -> tuple[int, int, Decided]:
    """The review's id, the version that may be undone, and how it stood; raises signing.BadSignature."""
    pk, version, values = signing.loads(token, salt=SALT, max_age=UNDONE_WITHIN)
    done_at = parse_datetime(values["done_at"]) if values["done_at"] else None
    return pk, version, Decided(**{**values, "done_at": done_at})
