"""The texts that are compared: passages of the live index and the key points of FAQs, and what is near to which."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from django.db.models import Q
from django.utils import timezone

from analytics.contradictions.candidates import find_neighbours
from analytics.contradictions.comparison.statements import Source
from chat.models import Assistant
from faqs.models import FAQ, FAQVector
from knowledge.indexing.generations import live_generation
from knowledge.models import Collection, Passage
from knowledge.models.index import PassageQuerySet

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Texts:
    """All sources, and the passage (its id) of each; key points of an FAQ are none."""

    sources: Sequence[Source]
    passages: Sequence[int | None]


def document_key(document_id: int) -> str:
    return f"document-{document_id}"


def faq_key(faq_id: int) -> str:
    return f"faq-{faq_id}"


def read_groups() -> dict[int, frozenset[int]]:
    """Return, by collection, the numbers of the groups of collections that one assistant searches together."""
    usual = frozenset(
        Collection.objects.filter(searched_by_default=True, for_evaluation=False).values_list("pk", flat=True)
    )
    searched = {
        frozenset(each.pk for each in assistant.collections.all() if not each.for_evaluation) or usual
        for assistant in Assistant.objects.prefetch_related("collections")
    } or {usual}
    groups: dict[int, set[int]] = {}
    for number, collections in enumerate(sorted(searched, key=sorted)):
        for pk in collections:
            groups.setdefault(pk, set()).add(number)
    return {pk: frozenset(numbers) for pk, numbers in groups.items()}


def read_texts(passages: Q | None = None, faqs: Q | None = None) -> Texts:
    """Read what may be compared today, or of that only these passages and FAQs."""
    groups = read_groups()
    sources: list[Source] = []
    ids: list[int | None] = []
    chosen = _passages(groups).filter(passages or Q())
    for passage in chosen.select_related("document", "document__course").defer("embedding", "document__text"):
        document = passage.document
        course = getattr(document, "course", None)
        sources.append(
            Source(
                document_key(document.pk), document.title, tuple(passage.heading_path), passage.text, document.language,
                groups[document.collection_id], frozenset(document.audience), document.valid_from, document.valid_until,
                (course.code, course.name) if course else None,
            )
        )  # fmt: skip
        ids.append(passage.pk)
    for faq, collection in _key_points(groups, faqs or Q()):
        sources.append(
            Source(
                faq_key(faq.pk), faq.question, (), faq.reference_answer, faq.language, groups[collection],
                valid_from=faq.valid_from, valid_until=faq.valid_until,
            )
        )  # fmt: skip
        ids.append(None)
    return Texts(sources, ids)


def read_neighbours(texts: Texts) -> dict[int, list[int]]:
    """Return the near sources of each source, by the vectors of the live index."""
    generation = live_generation()
    wanted = {passage: place for place, passage in enumerate(texts.passages) if passage is not None}
    vectors: Floats = np.zeros((len(texts.sources), generation.dimensions), np.float32)
    for pk, embedding in Passage.objects.filter(pk__in=list(wanted)).values_list("pk", "embedding").iterator(2000):
        vectors[wanted[pk]] = np.array(embedding, dtype=np.float32)
    for place, vector in _faq_vectors(texts, generation.pk).items():
        vectors[place] = vector
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    owners = np.unique([source.owner for source in texts.sources], return_inverse=True)[1]
    return find_neighbours(vectors / np.maximum(lengths, 1e-9), owners)


def _passages(groups: Mapping[int, frozenset[int]]) -> PassageQuerySet:
    day = timezone.localdate()
    valid = Q(document__valid_until__isnull=True) | Q(document__valid_until__gte=day)
    used: PassageQuerySet = Passage.objects.retrievable(live_generation().pk).in_collections(groups)
    return used.filter(valid).order_by("document", "position")


def _key_points(groups: Mapping[int, frozenset[int]], chosen: Q) -> list[tuple[FAQ, int]]:
    """Return published FAQs with key points, each with its collection, or that of its first document."""
    day = timezone.localdate()
    valid = Q(valid_until__isnull=True) | Q(valid_until__gte=day)
    faqs = FAQ.objects.of_university().published().filter(valid, chosen).exclude(reference_answer="").order_by("pk")
    found = []
    for faq in faqs.prefetch_related("sources__document"):
        linked = [source.document.collection_id for source in faq.sources.all()]
        collection = faq.collection_id or next(iter(linked), None)
        if collection is not None and collection in groups:
            found.append((faq, collection))
    return found


def _faq_vectors(texts: Texts, generation_id: int) -> dict[int, "Floats"]:
    at = {source.owner: place for place, source in enumerate(texts.sources) if texts.passages[place] is None}
    rows = FAQVector.objects.filter(generation=generation_id, kind=FAQVector.Kind.ANSWERS)
    return {
        at[faq_key(faq)]: np.array(embedding, dtype=np.float32)
        for faq, embedding in rows.values_list("faq", "embedding")
        if faq_key(faq) in at
    }
