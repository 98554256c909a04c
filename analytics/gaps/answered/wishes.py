"""Questions whose students wish to be told: each is asked again for itself, whatever became of its topic."""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime

import numpy as np

from analytics.gaps.answered.changes import NEAR, Vectors
from analytics.gaps.answered.judging import find_cover, newest_change
from analytics.privacy import anonymised_texts
from chat.models import Case
from chat.services.student_cases import tell_answered
from core.inference.reranker import RerankerUnavailable
from knowledge.indexing.generations import live_generation
from knowledge.retrieval.query_vectors import question_vector
from knowledge.retrieval.scope import UnknownCollection

logger = logging.getLogger(__name__)

#: The newest ones alone are asked again: in a night, and of those the nearest to what changed in a minute.
NEWEST, NEAREST = 1_000, 50


def newest_wishes() -> list[Case]:
    """Return the newest wishes, with what is read of them."""
    rows = Case.objects.watching().select_related("assistant__profile", "about__question")
    return list(rows.order_by("-pk")[:NEWEST])


def near_wishes(vectors: Vectors) -> list[Case]:
    """Return the wishes whose question is nearest to what changed. Raise EmbeddingUnavailable."""
    wishes = newest_wishes()
    if not wishes:
        return []
    model = live_generation().model
    similarities = vectors.similarities(np.stack([question_vector(model, wish.question) for wish in wishes]))
    order = np.argsort(-similarities, kind="stable")[:NEAREST]
    return [wishes[place] for place in order if similarities[place] >= NEAR]


def check_wishes(wishes: Iterable[Case]) -> int:
    """Ask the questions of these wishes again, and tell the students whose question is answered; return how many.

    What several students asked in the same words is asked once. Raise EmbeddingUnavailable.
    """
    newest = newest_change()
    told = 0
    for alike in _alike(wishes):
        try:
            told += _check(alike, newest)
        except (RerankerUnavailable, UnknownCollection) as error:
            logger.warning("wish not asked again case=%d reason=%s", alike[0].pk, type(error).__name__)
    return told


def _alike(wishes: Iterable[Case]) -> list[list[Case]]:
    """Group the wishes by assistant, language and question."""
    groups: dict[tuple[int | None, str, str], list[Case]] = {}
    for wish in wishes:
        words = "".join(wish.question.casefold().split())
        groups.setdefault((wish.assistant_id, wish.language, words), []).append(wish)
    return list(groups.values())


def _check(alike: Sequence[Case], newest: datetime | None) -> int:
    first = alike[0]
    # Whoever asked last found no answer: what there was before answers nobody.
    since = max(wish.about.created_at if wish.about else wish.opened_at for wish in alike)
    if newest is None or newest <= since or first.about is None or first.about.question is None:
        return 0
    questions = anonymised_texts([first.about.question])
    cover = find_cover(first.assistant, questions, first.language, since=since).cover
    if cover is None:
        return 0
    return sum(tell_answered(case=wish.pk, title=cover.title, url=cover.url) for wish in alike)
