"""Near-duplicate detection over the vectors of questions and phrasings: for a typed question, and for all pairs.

Questions that name different programmes, degrees, courses or years do not ask the same, however close they are.
Two FAQs are as close as the question of one is to the closest way to ask of the other: two phrasings alone may name the
same programme and ask different things of it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from core.db.prepared import BinaryVector, fetch_all
from faqs.models import FAQ, FAQQuerySet, SimilarPair, main_language
from knowledge.chunking.subjects import name_others
from knowledge.indexing.generations import live_generation, load_embedder
from knowledge.retrieval.query_vectors import question_vector

#: Similarity from which two FAQs count as duplicates, and from which one is shown beside what is typed;
#: docs/decisions/0015-care-of-faqs.md has the measurements.
DUPLICATE_THRESHOLD, SIMILAR_THRESHOLD = 0.70, 0.50
#: More neighbours than these are no help to anybody.
NEIGHBOURS, SHOWN = 50, 5
#: How many FAQs one run compares with all others; the next run, a minute later, goes on.
A_RUN = 2_000
OTHERS = """
    faq.status <> 'retired' AND split_part(lower(faq.language), '-', 1) = %(language)s AND faq.id <> %(faq)s
    AND (
        EXISTS (
            SELECT FROM faqs_faqsource AS source JOIN knowledge_document AS document ON document.id = source.document_id
            JOIN knowledge_collection AS collection ON collection.id = document.collection_id
            WHERE source.faq_id = faq.id AND NOT collection.for_evaluation
        )
        OR NOT EXISTS (SELECT FROM faqs_faqsource AS source WHERE source.faq_id = faq.id)
    )
"""
TO_TEXT = f"""
SELECT faq.id, 1 - MIN(vector.embedding <=> %(vector)b::halfvec) AS cosine, faq.question
FROM faqs_faqvector AS vector JOIN faqs_faq AS faq ON faq.id = vector.faq_id
WHERE vector.kind = 'asks' AND vector.generation_id = %(generation)s AND {OTHERS}
    AND (%(collections)s::bigint[] IS NULL OR faq.collection_id = ANY(%(collections)s::bigint[]))
GROUP BY faq.id ORDER BY cosine DESC, faq.id LIMIT {SHOWN:d}
"""
TO_FAQ = f"""
SELECT faq.id, 1 - MIN(own.embedding <=> vector.embedding) AS cosine, faq.question
FROM faqs_faqvector AS own
JOIN faqs_faqvector AS vector ON vector.generation_id = own.generation_id AND vector.kind = 'asks'
JOIN faqs_faq AS faq ON faq.id = vector.faq_id
WHERE own.faq_id = %(faq)s AND own.kind = 'asks' AND own.generation_id = %(generation)s AND {OTHERS}
    AND (own.text = %(question)s OR vector.text = faq.question)
GROUP BY faq.id ORDER BY cosine DESC, faq.id LIMIT {NEIGHBOURS:d}
"""


@dataclass(frozen=True, slots=True)
class Near:
    """An FAQ and its similarity, 0 to 1, whatever the model; `of_another` programme, degree, course or year."""

    faq_id: int
    similarity: float
    of_another: bool

    @property
    def asks_the_same(self) -> bool:
        return self.similarity >= DUPLICATE_THRESHOLD and not self.of_another


def close_to(question: str, *, language: str, but: int, collections: Sequence[int] | None) -> list[Near]:
    """List FAQs in use that ask nearly this, closest first; of these collections (ids), or of all, and not `but`.

    Raise EmbeddingUnavailable.
    """
    generation = live_generation()
    parameters = {
        "vector": BinaryVector(question_vector(generation.model, question)),
        "generation": generation.pk,
        "language": main_language(language),
        "faq": but,
        "collections": None if collections is None else list(collections),
    }
    scale = load_embedder(generation).scale
    near = [
        Near(faq_id, scale.of_question(cosine), name_others(question, other))
        for faq_id, cosine, other in fetch_all(TO_TEXT, parameters)
    ]
    return [each for each in near if each.similarity >= SIMILAR_THRESHOLD]


def compare(faq_id: int) -> int:
    """Update the pairs of one FAQ; return how many duplicates it has. What staff dismissed stays dismissed.

    Raise EmbeddingUnavailable.
    """
    faq = FAQ.objects.filter(pk=faq_id).first()
    if faq is None:
        return 0
    generation = live_generation()
    scale = load_embedder(generation).scale
    parameters = {"faq": faq_id, "generation": generation.pk, "language": main_language(faq.language)}
    parameters["question"] = faq.question
    found: dict[int, float] = {}
    if FAQ.objects.of_university().exclude(status=FAQ.Status.RETIRED).filter(pk=faq_id).exists():
        near = [
            Near(other, scale.of_question(cosine), name_others(faq.question, question))
            for other, cosine, question in fetch_all(TO_FAQ, parameters)
        ]
        found = {each.faq_id: each.similarity for each in near if each.asks_the_same}
    pairs = [
        SimilarPair(first_id=min(faq_id, other), second_id=max(faq_id, other), similarity=similarity)
        for other, similarity in found.items()
    ]
    with transaction.atomic():
        # Whoever is deleted meanwhile can be no part of a pair; whoever is compared meanwhile waits.
        there = set(
            FAQ.objects.select_for_update(no_key=True)
            .order_by("pk")
            .filter(pk__in=[faq_id, *found])
            .values_list("pk", flat=True)
        )
        if faq_id not in there:
            return 0
        others = Q(first__in=there) & Q(second__in=there) if found else Q(pk__in=[])
        SimilarPair.objects.of(faq_id).filter(dismissed_at=None).exclude(others).delete()
        SimilarPair.objects.bulk_create(
            [pair for pair in pairs if {pair.first_id, pair.second_id} <= there],
            update_conflicts=True,
            unique_fields=["first", "second"],
            update_fields=["similarity"],
        )
        FAQ.objects.filter(pk=faq_id).update(compared_in=generation.pk)
    return len(found)


def compare_pending() -> int:
    """Compare FAQs whose words changed, or all after a change of model; return how many."""
    pending = list(not_compared(live_generation().pk).order_by("pk").values_list("pk", flat=True)[:A_RUN])
    for faq_id in pending:
        compare(faq_id)
    return len(pending)


def not_compared(generation_id: int) -> FAQQuerySet:
    used = FAQ.objects.of_university().exclude(status=FAQ.Status.RETIRED)
    return used.filter(Q(compared_in=None) | ~Q(compared_in=generation_id))


def dismiss(pair: SimilarPair, *, by: int | None) -> None:
    pair.dismissed_at, pair.dismissed_by_id = timezone.now(), by
    pair.save(update_fields=["dismissed_at", "dismissed_by"])


class Relation(StrEnum):
    SAME = "same"
    CONFLICT = "conflict"
    APART = "apart"


@dataclass(frozen=True, slots=True)
class ValidityScope:
    """The documents (ids) that an FAQ leads to, its first and last day (None: no limit), and staff's own answers."""

    documents: frozenset[int]
    valid_from: date | None
    valid_until: date | None
    answers: frozenset[str] = frozenset()


def relation(one: ValidityScope, other: ValidityScope) -> Relation:
    """Relate two FAQs with one meaning.

    They are apart if they are valid on different days. They conflict if their days overlap without being the same, or
    if they lead to other documents or give other answers on the same days. Otherwise they are the same.
    """
    if not _overlap(one, other):
        return Relation.APART
    if (one.valid_from, one.valid_until) != (other.valid_from, other.valid_until):
        return Relation.CONFLICT
    if one.documents and other.documents and one.documents != other.documents:
        return Relation.CONFLICT
    if one.answers and other.answers and one.answers != other.answers:
        return Relation.CONFLICT
    return Relation.SAME


def _overlap(one: ValidityScope, other: ValidityScope) -> bool:
    begin = max(one.valid_from or date.min, other.valid_from or date.min)
    return begin <= min(one.valid_until or date.max, other.valid_until or date.max)
