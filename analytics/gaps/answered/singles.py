"""Single answers to review outside any topic to do whose question is asked again."""

import logging
from collections.abc import Iterable

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from analytics.gaps.answered.judging import Cover, find_cover
from analytics.gaps.answered.topics import WATCHED
from analytics.inbox.items import TO_DO, note, save
from analytics.models import Comment, Gap, Review
from analytics.privacy import anonymised_texts
from core.inference.reranker import RerankerUnavailable
from knowledge.retrieval.scope import UnknownCollection

logger = logging.getLogger(__name__)

#: The newest ones alone are asked again.
NEWEST = 50
#: Reasons of which a new answer rids: signs of an attack stay what they are.
CURABLE = (Review.Reason.ABSTAINED, Review.Reason.THUMBS_DOWN, Review.Reason.LOW_RATING, Review.Reason.FAILED)
State, Note = Review.State, Comment.Note
TOLD = (Note.ANSWERED, Note.ASKED_AGAIN, Note.RATED_AGAIN)


def newest_open() -> "QuerySet[Review]":
    """Return the newest answers to do that no topic to do stands for."""
    alone = Review.objects.filter(state=State.OPEN, reasons__overlap=list(CURABLE)).exclude(gap__state__in=TO_DO)
    return _with_questions(alone.exclude(reasons__contains=[Review.Reason.INJECTION]))[:NEWEST]


def newest_watched() -> "QuerySet[Review]":
    """Return the newest answers that are watched, without those that follow their topic."""
    return _with_questions(_watched())[:NEWEST]


def check_reviews(reviews: Iterable[Review]) -> int:
    """Ask the questions of these answers again, and move those whose answer is another one; return how many moved.

    Raise EmbeddingUnavailable.
    """
    moved = 0
    for review in reviews:
        try:
            moved += _check(review)
        except (RerankerUnavailable, UnknownCollection) as error:
            logger.warning("answer not asked again review=%d reason=%s", review.pk, type(error).__name__)
    return moved


def read_question(review: Review) -> str:
    """Return the anonymised question; empty if there is none."""
    question = review.message.question
    return anonymised_texts([question])[0] if question else ""


@transaction.atomic
def close_watched_reviews() -> int:
    """Finish the answers that count as answered for four weeks; return how many."""
    quiet = _watched().filter(done_at__lt=timezone.now() - WATCHED)
    rows = list(quiet.order_by("pk").select_for_update(of=("self",), no_key=True))
    for row in rows:
        save(row, by=None, state=State.DONE, done_at=timezone.now())
    return len(rows)


def _watched() -> "QuerySet[Review]":
    return Review.objects.filter(state=State.ANSWERED).exclude(gap__state=Gap.State.ANSWERED)


def _with_questions(reviews: "QuerySet[Review]") -> "QuerySet[Review]":
    return reviews.select_related("assistant__profile", "message__question__answer").order_by("-asked_at", "-pk")


def _check(review: Review) -> bool:
    is_watched = review.state == State.ANSWERED
    told = review.comments.filter(note__in=TOLD).order_by("-pk").first()
    if not is_watched and told is not None and told.note == Note.ANSWERED:  # staff opened it again
        return False
    text = read_question(review)
    language = review.language or "en"
    cover = find_cover(review.assistant, [text], language, since=review.asked_at).cover if text else None
    return is_watched != bool(cover) and _settle(review, cover)


@transaction.atomic
def _settle(review: Review, cover: Cover | None) -> bool:
    """Move the answer, and return True; leave one that changed meanwhile as it is."""
    unchanged = Review.objects.filter(pk=review.pk, state=review.state, version=review.version)
    row = unchanged.select_for_update(of=("self",), no_key=True).first()
    if row is None:
        return False
    save(row, by=None, state=State.ANSWERED if cover else State.OPEN, done_at=timezone.now() if cover else None)
    note(row, Note.ANSWERED if cover else Note.ASKED_AGAIN, cover.title if cover else "")
    return True
