"""Proves that the vectors of FAQs equal the FAQs."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db.models import Count

from faqs.indexing import needing_index
from faqs.models import FAQVector
from knowledge.generations import embedder_of
from knowledge.models import Generation
from knowledge.verifying import SAMPLE, Part, check_shapes, compare_vectors, some_of


def verify(generation: Generation, *, every_vector: bool = False) -> Part:
    """As `knowledge.verifying.verify`, inside the same moment."""
    part, embedder = Part("FAQ vectors"), embedder_of(generation)
    for pk in needing_index(generation.pk).values_list("pk", flat=True):
        part.report(f"FAQ {pk}: its vectors are not of what it says now")
    vectors = FAQVector.objects.filter(generation=generation)
    twice = vectors.values("faq", "kind", "text").annotate(count=Count("pk")).filter(count__gt=1)
    for row in twice:
        part.report(f"FAQ {row['faq']}: a vector is there {row['count']} times")
    check_shapes(part, FAQVector._meta.db_table, generation)
    embeds: Sequence[tuple[str, Callable[[Sequence[str]], Any]]] = (
        (FAQVector.Kind.ASKS, embedder.embed_questions),
        (FAQVector.Kind.ANSWERS, embedder.embed),
    )
    for kind, embed in embeds:
        for batch in some_of(vectors.filter(kind=kind), None if every_vector else SAMPLE):
            compare_vectors(part, "FAQ vector", batch, [each.text for each in batch], embed)
    return part
