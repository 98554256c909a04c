"""The FAQ retriever: a question is matched to a curated FAQ, whose linked documents rank first.

After Marcel (EMNLP 2025); there the question alone is compared, here the best of question and phrasings.
"""

from collections import Counter
from dataclasses import dataclass

from core.db.prepared import BinaryVector, fetch_all
from knowledge.retrieval.scope import IN_SCOPE, scope_parameters
from knowledge.retrieval.types import Hit, Origin, Query, Scope

#: Passages of a linked document that are worth ranking; a handbook must not fill the list alone.
PASSAGES_A_DOCUMENT = 3

CONDITION = IN_SCOPE.replace("{}", "{{}}")  # it goes through str.format below
NEAREST = f"""
WITH nearest AS (
    SELECT faq.id, faq.question, faq.reference_answer, faq.language, 1 - best.distance AS cosine
    FROM (
        SELECT faq_id, MIN(embedding <=> %(vector)b::halfvec) AS distance FROM faqs_faqvector
        WHERE kind = 'asks' AND generation_id = %(generation)s
        GROUP BY faq_id ORDER BY distance, faq_id OFFSET 0
    ) AS best
    JOIN faqs_faq AS faq ON faq.id = best.faq_id
    WHERE faq.status = 'published'
        AND (faq.valid_from IS NULL OR faq.valid_from <= %(on)s)
        AND (faq.valid_until IS NULL OR faq.valid_until >= %(on)s)
        AND (
            SELECT TRUE
            FROM faqs_faqsource AS source JOIN knowledge_document AS document ON document.id = source.document_id
            WHERE source.faq_id = faq.id AND {CONDITION}
            LIMIT 1
        )
    ORDER BY best.distance, best.faq_id
    LIMIT {{faqs:d}}
), ranked AS (
    SELECT nearest.id AS faq_id, nearest.question, nearest.reference_answer, nearest.language, nearest.cosine,
        source.position AS source_position, source.id AS source_id, passage.id AS passage_id, passage.document_id,
        row_number() OVER (
            PARTITION BY nearest.id, passage.document_id
            ORDER BY LEAST(passage.embedding <=> %(vector)b::halfvec, passage.embedding <=> answer.embedding)
        ) AS place
    FROM nearest
    JOIN faqs_faqsource AS source ON source.faq_id = nearest.id
    JOIN knowledge_document AS document ON document.id = source.document_id
    JOIN knowledge_passage AS passage ON passage.document_id = document.id
    LEFT JOIN faqs_faqvector AS answer
        ON answer.faq_id = nearest.id AND answer.kind = 'answers' AND answer.generation_id = %(generation)s
    WHERE passage.generation_id = %(generation)s AND NOT passage.is_withheld AND {CONDITION}
)
SELECT faq_id, question, reference_answer, cosine, passage_id, document_id, language FROM ranked
WHERE place <= {{passages:d}}
ORDER BY cosine DESC, faq_id, place, source_position, source_id
"""


@dataclass(frozen=True, slots=True)
class Match:
    """A passage of a document linked to a close FAQ; `similarity` is that of both questions, whatever the model."""

    faq_id: int
    question: str
    reference_answer: str
    similarity: float
    passage_id: int
    document_id: int
    language: str = ""


def confidence(similarity: float) -> float:
    """Weigh a match: 0 below a similarity of 0.45, 1 from 0.65 on, a square between.

    A question that no FAQ is about has its nearest one at 0.3 to 0.55 and must not be led astray by it.
    """
    return min(1.0, max(0.0, (similarity - 0.45) / 0.2)) ** 2


def match(query: Query, *, scope: Scope, faqs: int = 1) -> list[Match]:
    """Return the passages behind the `faqs` closest published, valid FAQs: closest first, in order of its documents."""
    parameters = scope_parameters(scope) | {
        "vector": BinaryVector(query.vector),
        "generation": query.generation_id,
    }
    statement = NEAREST.format(faqs=faqs, passages=PASSAGES_A_DOCUMENT)
    return [
        Match(faq_id, question, answer, query.scale.of_question(cosine), passage_id, document_id, language)
        for faq_id, question, answer, cosine, passage_id, document_id, language in fetch_all(statement, parameters)
    ]


def margin(similarity: float, best: float) -> float:
    """Weigh an FAQ beside the closest one: 1 if it is as close, 0 from 0.15 behind on."""
    return max(0.0, 1 - (best - similarity) / 0.15)


class FAQRetriever:
    """Ranks the documents of the closest FAQs; `steering` off gives Marcel's hard version: one FAQ, full weight always.

    A hit's score is its FAQ's similarity, less for each passage of the FAQ before it.
    """

    origin, needs_vector = Origin.FAQ, True

    def __init__(self, *, faqs: int = 1, steering: bool = True) -> None:
        self.faqs, self.steering = faqs, steering

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        hits: dict[int, Hit] = {}
        places: Counter[int] = Counter()
        best = -1.0
        for found in match(query, scope=scope, faqs=self.faqs):
            best = max(best, found.similarity)
            if found.passage_id not in hits and len(hits) < k:
                hits[found.passage_id] = Hit(
                    found.passage_id,
                    found.document_id,
                    len(hits) + 1,
                    found.similarity / (1 + 0.1 * places[found.faq_id]),
                    self.origin,
                    self.weight(found.similarity, best),
                    found.reference_answer,
                    faq_id=found.faq_id,
                )
                places[found.faq_id] += 1
        return list(hits.values())

    def weight(self, similarity: float, best: float) -> float:
        """Return how much an FAQ of this similarity counts beside the closest one."""
        return confidence(similarity) * margin(similarity, best) if self.steering else 1.0
