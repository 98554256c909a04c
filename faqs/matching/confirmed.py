"""Questions whose FAQ staff confirmed, with their vectors: they count as ways to ask, and for "no FAQ"."""

from collections.abc import Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from django.db import transaction

from core.inference.embeddings import EmbeddingUnavailable
from faqs.matching.changes import collections_of, count_edit
from faqs.models import FAQ, ConfirmedQuestion, ConfirmedVector
from knowledge.indexing.generations import active_generations, load_embedder
from knowledge.models import Generation

if TYPE_CHECKING:
    from core.access import Staff


@transaction.atomic
def confirm(*, text: str, faq: FAQ | None, collections: Iterable[int], by: "Staff | None") -> ConfirmedQuestion:
    """Save that a question means this FAQ, or none of those in the collections that were searched.

    It counts from the next question on. Where the embedding model is away, it counts as soon as that is back.
    """
    question = ConfirmedQuestion.objects.create(text=text, faq=faq, confirmed_by_id=by.pk if by else None)
    question.collections.set(list(collections))
    with suppress(EmbeddingUnavailable):  # `embed_pending` does it later
        for generation in active_generations():
            embed(generation, [question])
    return question


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
    named = [pk for row in rows for pk in row.collections.values_list("pk", flat=True)]
    count_edit({*named, *collections_of([row.faq_id for row in rows if row.faq_id])})
    return len(made)


def embed_pending(generation: Generation) -> int:
    """Embed the confirmed questions that have no vector in this generation; return how many."""
    missing = ConfirmedQuestion.objects.exclude(vectors__generation=generation).order_by("pk")
    return embed(generation, missing) if missing.exists() else 0
