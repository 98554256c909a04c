"""Recent changes of documents and FAQs, and the questions near them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
from django.db.models import Min, Q
from django.db.models.functions import Coalesce, Greatest

from analytics.gaps.answered.singles import newest_open, read_question
from analytics.gaps.detection import read_vector
from analytics.inbox.items import TO_DO
from analytics.models import Gap, Review
from core.inference.embeddings.calibration import Scale
from core.inference.embeddings.ensemble import JOINED, MULTILINGUAL_SCALE, only_multilingual
from faqs.indexing import needing_index
from faqs.models import FAQ, FAQVector
from knowledge.indexing.generations import live_generation, load_embedder
from knowledge.models import Generation, IndexedDocument, Passage
from knowledge.retrieval.query_vectors import question_vector

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats

#: A document that is indexed later after its edit than this is left to the night: so is a new index of all documents.
INDEXED_WITHIN = timedelta(hours=1)
#: Documents of one look; an import of more is left to the night, and so are topics and answers beyond the nearest.
DOCUMENTS, TOPICS, ANSWERS = 500, 25, 10
#: Topics that are compared, by priority.
COMPARED = 2_000
#: Similarity of a question and a passage, or of two questions, from which a change may concern it.
NEAR = 0.2


@dataclass(frozen=True, slots=True)
class Changes:
    """Ids of the documents and FAQs that changed, and the time until which all of them are known."""

    documents: Sequence[int]
    faqs: Sequence[int]
    until: datetime

    def __bool__(self) -> bool:
        return bool(self.documents or self.faqs)


@dataclass(frozen=True, slots=True, eq=False)
class Vectors:
    """Unit vectors of passages and of FAQs' questions in the live generation."""

    passages: "Floats"
    questions: "Floats"
    scale: Scale
    model: str

    def similarities(self, asked: "Floats") -> "Floats":
        """Return how near the nearest of them is to each of the questions (unit rows).

        Where two models search side by side, a question is compared by the multilingual one alone too: a German one,
        and one whose page is in the other language, is nearer by that.
        """
        best = self._compare(asked, self.scale)
        if self.model == JOINED and len(asked):
            alone = np.stack([only_multilingual(each) for each in asked])
            best = np.maximum(best, self._compare(alone, MULTILINGUAL_SCALE))
        return best

    def _compare(self, asked: "Floats", scale: Scale) -> "Floats":
        best: Floats = np.zeros(len(asked), np.float32)
        for rows, scaled in ((self.passages, scale.of_passage), (self.questions, scale.of_question)):
            if len(rows) and len(asked):
                near = [scaled(float(cosine)) for cosine in (asked @ rows.T).max(axis=1)]
                best = np.maximum(best, np.array(near, np.float32))
        return best


def read_changes(since: datetime, until: datetime) -> Changes:
    """Return what the index has taken in between these times."""
    generation = live_generation()
    edited = FAQ.objects.filter(updated_at__gt=since, updated_at__lte=until)
    # An FAQ counts once its vectors are there.
    waiting = needing_index(generation.pk).filter(updated_at__gt=until - INDEXED_WITHIN)
    first = waiting.aggregate(at=Min("updated_at"))["at"]
    until = min(until, first - timedelta(microseconds=1)) if first else until
    indexed = IndexedDocument.objects.filter(generation=generation, indexed_at__gt=since, indexed_at__lte=until)
    changed = indexed.annotate(
        at=Greatest("document__created_at", Coalesce("document__altered_at", "document__created_at"))
    )
    recent = changed.filter(at__gt=since - INDEXED_WITHIN).order_by("-at").values_list("document", flat=True)
    return Changes(
        list(recent[:DOCUMENTS]), list(edited.filter(updated_at__lte=until).values_list("pk", flat=True)), until
    )


def read_vectors(changes: Changes) -> Vectors:
    """Read the vectors of what changed."""
    generation = live_generation()
    passages = Passage.objects.retrievable(generation.pk).filter(document__in=changes.documents)
    asked = FAQVector.objects.filter(generation=generation, kind=FAQVector.Kind.ASKS, faq__in=changes.faqs)
    return Vectors(
        _rows(passages.values_list("embedding", flat=True), generation),
        _rows(asked.values_list("embedding", flat=True), generation),
        load_embedder(generation).scale,
        generation.model,
    )


def _rows(embeddings: "Iterable[Any]", generation: Generation) -> "Floats":
    rows = [np.array(each, dtype=np.float32) for each in embeddings]
    return np.stack(rows) if rows else np.empty((0, generation.dimensions), np.float32)


def near_topics(changes: Changes, vectors: Vectors) -> list[Gap]:
    """Return the topics to do that are nearest to what changed, those that an FAQ of it is meant to answer, and those
    that were answered by it."""
    by_it = Q(answered_by_document__in=changes.documents) | Q(answered_by_faq__in=changes.faqs)
    watched = Gap.objects.filter(by_it, state=Gap.State.ANSWERED, merged_into=None)
    recipe = live_generation().embedder
    to_do = Gap.objects.filter(state__in=TO_DO, merged_into=None, recipe=recipe).order_by("-weight", "pk")
    compared = list(to_do.values_list("pk", "centroid")[:COMPARED])
    centroids = [read_vector(centroid) for _pk, centroid in compared]
    chosen: list[int] = []
    if centroids:
        similarities = vectors.similarities(np.stack(centroids))
        order = np.argsort(-similarities, kind="stable")[:TOPICS]
        chosen = [compared[place][0] for place in order if similarities[place] >= NEAR]
    meant = Gap.objects.filter(state__in=TO_DO, merged_into=None, faq__in=changes.faqs)
    for topics in (watched, meant):
        chosen += topics.order_by("-weight", "pk").values_list("pk", flat=True)[:TOPICS]
    return list(Gap.objects.filter(pk__in=chosen).select_related("assistant__profile").order_by("-weight", "pk"))


def near_answers(vectors: Vectors) -> list[Review]:
    """Return the newest single answers to do whose question is near what changed. Raise EmbeddingUnavailable."""
    model = live_generation().model
    reviews = [(review, text) for review in newest_open() if (text := read_question(review))]
    if not reviews:
        return []
    similarities = vectors.similarities(np.stack([question_vector(model, text) for _review, text in reviews]))
    order = [place for place in np.argsort(-similarities, kind="stable")[:ANSWERS] if similarities[place] >= NEAR]
    return [reviews[place][0] for place in order]
