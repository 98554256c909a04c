"""Gap detection: questions are collected, clustered, and matched with the known gaps."""

import logging
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np
from django.db import transaction
from django.db.models import F, OuterRef, Q, Subquery
from django.utils import timezone

from analytics.gaps.clustering import Bridge, cluster_vectors, compute_centroid, to_cosine
from analytics.gaps.labels import name_after
from analytics.gaps.matching import identify
from analytics.gaps.priority import compute_priority
from analytics.inbox.items import TO_DO, changed_now
from analytics.models import Gap, GapQuestion, Review
from analytics.privacy import undo_spelling

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats
    from core.inference.embeddings import Embedder

logger = logging.getLogger(__name__)

#: Mean similarity of the questions of a gap, on the scale of all models. See docs/decisions/0013-gaps.md.
SIMILARITY = 0.54
#: Similarity above which a cluster is a known gap even if they share no question.
SAME_CENTROID = 0.75
#: A solved gap is open again with the first new question, a dismissed one when so many visitors asked since.
VISITORS_AFTER_DISMISSAL = 3
#: Tolerance within which a question's centrality is not written again.
UNMOVED = 1e-4
#: Fields that a run may change of a known gap.
SEEN_AGAIN = (
    *("name", "language", "state", "state_at", "weight", "visitors", "this_week", "week_before"),
    *("question_count", "first_asked", "last_asked", "centroid", "recipe"),
)
State = Gap.State


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """One question without a good answer."""

    pk: int
    gap_id: int | None
    centrality: float
    language: str
    visitor: UUID
    at: datetime
    text: str
    vector: "Floats"


@dataclass(frozen=True, slots=True, eq=False)
class Cluster:
    """Questions of one meaning, the most central first."""

    questions: Sequence[Asked]
    centralities: Sequence[float]
    centroid: "Floats"


def find(embedder: "Embedder", bridge: Bridge) -> list[int]:
    """Cluster each assistant's questions again; return the new gaps by priority."""
    asked: dict[int | None, list[Asked]] = defaultdict(list)
    for assistant_id, question in _load(embedder.recipe):
        asked[assistant_id].append(question)
    known = Gap.objects.filter(merged_into=None).values_list("assistant_id", flat=True)
    fresh: list[Gap] = []
    for assistant_id in {*asked, *known}:
        clusters = _clustered(asked[assistant_id], embedder, bridge) if asked[assistant_id] else []
        fresh += _save(assistant_id, clusters, embedder)
    logger.info("gaps found questions=%d new=%d", sum(map(len, asked.values())), len(fresh))
    return [gap.pk for gap in sorted(fresh, key=lambda gap: (-gap.weight, gap.pk))]


def _load(recipe: str) -> list[tuple[int | None, Asked]]:
    rows = GapQuestion.objects.filter(recipe=recipe).order_by("message_id")
    found = rows.values_list(
        "message__conversation__assistant_id",
        "pk",
        "gap_id",
        "centrality",
        "language",
        "message__conversation__visitor_id",
        "message__created_at",
        "message__answer__rewritten",
        "message__answer__readings",
        "message__text",
        "embedding",
    ).iterator(2_000)
    return [
        (
            assistant,
            Asked(
                *(pk, gap, centrality, language, visitor, at),
                undo_spelling(rewritten or text, readings or ()),
                read_vector(vector),
            ),
        )
        for assistant, pk, gap, centrality, language, visitor, at, rewritten, readings, text, vector in found
    ]


def read_vector(embedding: bytes | memoryview) -> "Floats":
    """Read a saved vector."""
    return np.frombuffer(embedding, dtype=np.float16).astype(np.float32)


def _clustered(asked: Sequence[Asked], embedder: "Embedder", bridge: Bridge) -> list[Cluster]:
    vectors = np.stack([question.vector for question in asked])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)  # half precision has moved them a little
    threshold = to_cosine(embedder.scale.questions, SIMILARITY)
    labels = cluster_vectors(vectors, [question.language for question in asked], threshold=threshold, bridge=bridge)
    members: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(labels.tolist()):
        members[label].append(place)
    clusters = []
    for places in members.values():
        centroid = compute_centroid(vectors[places])
        centralities = vectors[places] @ centroid
        order = np.argsort(-centralities, kind="stable")
        questions = [asked[places[place]] for place in order]
        clusters.append(Cluster(questions, centralities[order].tolist(), centroid))
    return clusters


@transaction.atomic
def _save(assistant_id: int | None, clusters: Sequence[Cluster], embedder: "Embedder") -> list[Gap]:
    """Bring one assistant's gaps in line with its clusters; return the new ones."""
    now = timezone.now()
    gaps = {gap.pk: gap for gap in Gap.objects.select_for_update().filter(assistant=assistant_id, merged_into=None)}
    before: dict[int, set[int]] = {pk: set() for pk in gaps}
    for cluster in clusters:
        for question in cluster.questions:
            if question.gap_id in gaps:
                before[question.gap_id].add(question.pk)
    identity = identify(
        [{question.pk for question in cluster.questions} for cluster in clusters],
        [cluster.centroid for cluster in clusters],
        before,
        {pk: read_vector(gap.centroid) for pk, gap in gaps.items() if gap.recipe == embedder.recipe},
        threshold=to_cosine(embedder.scale.questions, SAME_CENTROID),
    )
    of_cluster: dict[int, Gap] = {}
    fresh = []
    for number, cluster in enumerate(clusters):
        kept = number in identity.kept
        gap = gaps[identity.kept[number]] if kept else Gap(assistant_id=assistant_id)
        if not kept:
            gap.split_from = gaps.get(identity.split.get(number, 0))
            fresh.append(gap)
        _fill(gap, cluster, embedder.recipe, now)
        of_cluster[number] = gap
    Gap.objects.bulk_create(fresh, batch_size=1_000)
    kept_gaps = [of_cluster[number] for number in identity.kept]
    Gap.objects.bulk_create(
        kept_gaps, update_conflicts=True, unique_fields=["id"], update_fields=SEEN_AGAIN, batch_size=1_000
    )
    _move(clusters, of_cluster)
    gather_answers(assistant_id)
    _close({pk: gap for pk, gap in gaps.items() if pk not in identity.kept.values()}, identity.merged, of_cluster)
    return fresh


def _fill(gap: Gap, cluster: Cluster, recipe: str, now: datetime) -> None:
    """Set the counts of the gap from its cluster, and the state that follows from them."""
    questions = cluster.questions
    priority = compute_priority([(question.visitor, question.at) for question in questions], now=now)
    gap.weight, gap.visitors = priority.weight, priority.visitors
    gap.this_week, gap.week_before = priority.this_week, priority.week_before
    gap.question_count = len(questions)
    gap.first_asked = min(question.at for question in questions)
    gap.last_asked = max(question.at for question in questions)
    gap.centroid, gap.recipe = cluster.centroid.astype(np.float16).tobytes(), recipe
    languages = Counter(question.language for question in questions)
    gap.language = max(languages, key=lambda language: (languages[language], language == questions[0].language))
    if gap.named_by == Gap.NamedBy.QUESTION:
        # It keeps its name while the question it is named after is there, and no longer.
        names = [name_after(question.text) for question in questions]
        gap.name = gap.name if gap.name in names else names[0]
    since = {question.visitor for question in questions if question.at > gap.state_at}
    if (gap.state in {State.SOLVED, State.ANSWERED} and since) or (
        gap.state == State.DISMISSED and len(since) >= VISITORS_AFTER_DISMISSAL
    ):
        gap.state, gap.state_at = State.OPEN, now


def _move(clusters: Sequence[Cluster], of_cluster: Mapping[int, Gap]) -> None:
    moved = [
        GapQuestion(pk=question.pk, gap=of_cluster[number], centrality=centrality)
        for number, cluster in enumerate(clusters)
        for question, centrality in zip(cluster.questions, cluster.centralities, strict=True)
        if question.gap_id != of_cluster[number].pk or abs(question.centrality - centrality) > UNMOVED
    ]
    GapQuestion.objects.bulk_update(moved, ["gap", "centrality"], batch_size=1_000)


def gather_answers(assistant_id: int | None) -> None:
    """Put the assistant's answers to review under the topics of their questions; what is asked on is to do again."""
    topic = GapQuestion.objects.filter(message__answer=OuterRef("message")).values("gap")[:1]
    answers = Review.objects.filter(assistant=assistant_id).exclude(state=Review.State.DONE)
    moved = answers.annotate(topic=Subquery(topic)).filter(Q(gap__isnull=False) | Q(topic__isnull=False))
    moved.exclude(gap=F("topic")).update(gap=F("topic"))
    asked_on = answers.filter(state=Review.State.ANSWERED, gap__state__in=TO_DO)
    asked_on.update(state=Review.State.OPEN, done_at=None, version=F("version") + 1, **changed_now(None))


def _close(left: Mapping[int, Gap], merged: Mapping[int, int], of_cluster: Mapping[int, Gap]) -> None:
    """Close gaps without a question: note merges; of the rest, delete what staff have not touched."""
    for pk, gap in left.items():
        gap.weight, gap.this_week, gap.week_before, gap.question_count = 0, 0, 0, 0
        if pk in merged:
            gap.merged_into = of_cluster[merged[pk]]
            if gap.named_by == Gap.NamedBy.QUESTION:
                gap.name = ""  # no later run would notice that the question is deleted
        elif gap.state == State.OPEN and gap.faq_id is None:
            gap.delete()
            continue
        elif gap.named_by == Gap.NamedBy.QUESTION:
            gap.name = gap.faq.question[:200] if gap.faq else ""
        gap.save()
