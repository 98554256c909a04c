"""The nightly run and the minute run that ask questions again."""

import logging
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone

from analytics.gaps.answered.changes import near_answers, near_topics, read_changes, read_vectors
from analytics.gaps.answered.singles import check_reviews, close_watched_reviews, newest_open, newest_watched
from analytics.gaps.answered.topics import check_topics, close_watched
from analytics.gaps.answered.wishes import check_wishes, near_wishes, next_wishes
from analytics.inbox.items import TO_DO
from analytics.models import Gap, ReviewFeed
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable

logger = logging.getLogger(__name__)

#: Topics that are asked again in a night, by priority.
A_NIGHT = 500
FEED = "asked_again"
#: How far back the first look of an installation goes: it may come after what was published first.
FIRST_LOOK = timedelta(hours=1)
#: What is saved with a time may be seen only so much later.
SETTLED = timedelta(seconds=5)


def check_all(progress: Callable[[int, int], None]) -> None:
    """Ask again what is to do and what is watched, by priority. Raise EmbeddingUnavailable."""
    with advisory_lock(Lock.ASKED_AGAIN, wait=True):
        closed = close_watched() + close_watched_reviews()
        states = (*TO_DO, Gap.State.ANSWERED)
        gaps = Gap.objects.filter(state__in=states, merged_into=None).select_related("assistant__profile")
        topics = check_topics(gaps.order_by("-weight", "pk")[:A_NIGHT], progress)
        answers = check_reviews([*newest_open(), *newest_watched()])
        told = check_wishes(next_wishes())
        logger.info("asked again at night topics=%d answers=%d closed=%d told=%d", topics, answers, closed, told)


def check_changes() -> None:
    """Ask again what is near to what was published or changed since the last look, unless another process does.

    While the embedding model is away nothing is judged, and the next look begins where this one did.
    """
    with advisory_lock(Lock.ASKED_AGAIN) as is_mine:
        if not is_mine:
            return
        now = timezone.now() - SETTLED
        feed, _made = ReviewFeed.objects.get_or_create(name=FEED, defaults={"until": now - FIRST_LOOK})
        try:
            changes = read_changes(feed.until, now)
            if changes:
                vectors = read_vectors(changes)
                gaps, reviews = near_topics(changes, vectors), near_answers(vectors)
                moved = check_topics(gaps) + check_reviews(reviews)
                told = check_wishes(near_wishes(vectors))
                asked = len(changes.documents) + len(changes.faqs), len(gaps), len(reviews), moved, told
                logger.info("asked again changes=%d topics=%d answers=%d moved=%d told=%d", *asked)
            feed.until = max(feed.until, changes.until)
        except EmbeddingUnavailable:
            logger.warning("not asked again, the embedding model is away")
        feed.save()
