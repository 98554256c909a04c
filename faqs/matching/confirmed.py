"""Questions whose FAQ staff confirmed, with their vectors: they count as ways to ask, and for "no FAQ"."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.db import transaction

from core.inference.embeddings import EmbeddingUnavailable
from faqs.matching.changes import collections_of, count_edit
from faqs.models import FAQ, ConfirmedQuestion, ConfirmedVector
from knowledge.indexing.generations import active_generations, load_embedder
from knowledge.models import Generation

if TYPE_CHECKING:
    from core.access import Staff

#: More at once are embedded by a worker: who confirmed them is not to wait.
EMBEDDED_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A question that means this FAQ, or none of those in the collections (ids) that were searched."""

    text: str
    faq: FAQ | None
    collections: Sequence[int]


@transaction.atomic
def confirm(confirmations: Sequence[Confirmation], *, by: "Staff | None") -> list[ConfirmedQuestion]:
    """Save what questions mean, in their order.

    They count from the next question on. Where the embedding model is away, they count as soon as that is back.
    """
    confirmed_by = by.pk if by else None
    questions = ConfirmedQuestion.objects.bulk_create(
        ConfirmedQuestion(text=each.text, faq=each.faq, confirmed_by_id=confirmed_by) for each in confirmations
    )
    searched = ConfirmedQuestion.collections.through
    searched.objects.bulk_create(
        searched(confirmedquestion_id=question.pk, collection_id=collection)
        for question, each in zip(questions, confirmations, strict=True)
        for collection in each.collections
    )
    if len(questions) <= EMBEDDED_AT_ONCE:
        with suppress(EmbeddingUnavailable):  # `embed_pending` does it later
            for generation in active_generations():
                embed(generation, questions)
    return questions


@transaction.atomic
def forget(question: ConfirmedQuestion) -> list[int]:
    """Delete a confirmed question, which counts no longer from the next question on; return the collections changed."""
    touched = {*question.collections.values_list("pk", flat=True)}
    if question.faq_id:
        touched |= {*collections_of([question.faq_id])}
    question.delete()
    count_edit(touched)
    return sorted(touched)


def embed(generation: Generation, questions: Iterable[ConfirmedQuestion]) -> int:
    """Add the vectors of these questions to a generation; return how many. Raise EmbeddingUnavailable."""
    rows = list(questions)
    vectors = load_embedder(generation).embed_questions([row.text for row in rows])
    made = [
        ConfirmedVector(question=row, generation=generation, embedding=vector)
        for row, vector in zip(rows, vectors, strict=True)
    ]
    ConfirmedVector.objects.bulk_create(made, ignore_conflicts=True)
    searched = ConfirmedQuestion.collections.through.objects.filter(confirmedquestion__in=rows)
    named = searched.order_by().values_list("collection_id", flat=True).distinct()
    count_edit({*named, *collections_of([row.faq_id for row in rows if row.faq_id])})
    return len(made)


def embed_pending(generation: Generation) -> int:
    """Embed the confirmed questions that have no vector in this generation; return how many."""
    missing = ConfirmedQuestion.objects.exclude(vectors__generation=generation).order_by("pk")
    return embed(generation, missing) if missing.exists() else 0
