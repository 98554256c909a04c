"""Questions whose students wish to be told: each is asked again for itself, whatever became of its topic."""

import logging
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import QuerySet
from django.db.models.functions import Coalesce
from django.utils import timezone

from analytics.gaps.answered.changes import NEAR, Vectors
from analytics.gaps.answered.judging import find_cover, newest_change
from analytics.gaps.detection import read_vector
from analytics.privacy import anonymised_texts
from chat.models import Case
from chat.services.student_cases import tell_answered
from core.inference.reranker import RerankerUnavailable
from knowledge.indexing.generations import live_generation
from knowledge.retrieval.query_vectors import question_vector
from knowledge.retrieval.scope import UnknownCollection

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats

logger = logging.getLogger(__name__)

#: Wishes that are asked again in a night, and questions in a minute: those that are nearest to what changed.
A_NIGHT, NEAREST = 1_000, 50
#: Wishes that are compared with what changed: those whose vector a night has saved, and the newest of the others.
COMPARED, EMBEDDED = 20_000, 1_000
#: Questions that are compared at once: with the passages of 500 documents they take some 40 MB.
AT_ONCE = 2_000

#: How near a question is to what changed, its wish's id and the question.
Compared = tuple[float, int, str]


def next_wishes() -> list[Case]:
    """Return the wishes that were asked again, or else made, longest ago: in some nights all of them are.

    Were those that were never asked again first, many new ones would keep the others waiting.
    """
    return list(_with_questions().order_by(Coalesce("asked_again_at", "opened_at"), "pk")[:A_NIGHT])


def near_wishes(vectors: Vectors) -> list[Case]:
    """Return the wishes whose question is nearest to what changed; those in the same words count as one.

    Raise EmbeddingUnavailable.
    """
    compared = sorted(_compare_saved(vectors) + _compare_others(vectors), reverse=True)
    near = [(_words(question), pk) for similarity, pk, question in compared if similarity >= NEAR]
    nearest = set(list(dict.fromkeys(words for words, _pk in near))[:NEAREST])
    return list(_with_questions().filter(pk__in=[pk for words, pk in near if words in nearest]))


def _with_questions() -> "QuerySet[Case]":
    return Case.objects.watching().select_related("assistant__profile", "about__question")


def _words(question: str) -> str:
    return "".join(question.casefold().split())


def _compare_saved(vectors: Vectors) -> list[Compared]:
    """Compare the questions whose vectors a night has saved."""
    saved = Case.objects.watching().filter(about__question__gap_question__recipe=live_generation().embedder)
    values = ("pk", "question", "about__question__gap_question__embedding")
    rows = list(saved.order_by("-pk").values_list(*values)[:COMPARED])
    return _compare(vectors, [(pk, question) for pk, question, _saved in rows], [read_vector(row[2]) for row in rows])


def _compare_others(vectors: Vectors) -> list[Compared]:
    """Compare the newest questions that no night has seen yet."""
    generation = live_generation()
    others = Case.objects.watching().exclude(about__question__gap_question__recipe=generation.embedder)
    rows = list(others.order_by("-pk").values_list("pk", "question")[:EMBEDDED])
    return _compare(vectors, rows, [question_vector(generation.model, question) for _pk, question in rows])


def _compare(vectors: Vectors, rows: Sequence[tuple[int, str]], asked: "Sequence[Floats]") -> list[Compared]:
    similarities: list[float] = []
    for begin in range(0, len(asked), AT_ONCE):
        similarities += vectors.similarities(np.stack(asked[begin : begin + AT_ONCE])).tolist()
    return [(similarity, pk, question) for similarity, (pk, question) in zip(similarities, rows, strict=True)]


def check_wishes(wishes: Iterable[Case]) -> int:
    """Ask the questions of these wishes again, and tell the students whose question is answered; return how many.

    What several students asked in the same words is asked once. What cannot be judged now waits for its next turn as
    well, so that it keeps no others waiting. Raise EmbeddingUnavailable.
    """
    newest = newest_change()
    told = 0
    for alike in _alike(wishes):
        try:
            told += _check(alike, newest)
        except (RerankerUnavailable, UnknownCollection) as error:
            logger.warning("wish not asked again case=%d reason=%s", alike[0].pk, type(error).__name__)
        Case.objects.filter(pk__in=[wish.pk for wish in alike]).update(asked_again_at=timezone.now())
    return told


def _alike(wishes: Iterable[Case]) -> list[list[Case]]:
    """Group the wishes by assistant, language and question."""
    groups: dict[tuple[int | None, str, str], list[Case]] = {}
    for wish in wishes:
        groups.setdefault((wish.assistant_id, wish.language, _words(wish.question)), []).append(wish)
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
