"""The FAQ retriever: a question is matched to a curated FAQ, whose linked documents rank first.

After Marcel (EMNLP 2025); there the question alone is compared, here the best of question and phrasings. Where a
collection's fit is the better way (`faqs.matching`), what it learned from all phrasings takes that place.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core.db.prepared import BinaryVector, fetch_all
from core.inference.embeddings.calibration import COMMON
from faqs.leads import LEADS
from faqs.matching.classifier import probability, probability_at, similarity_of
from faqs.matching.serving import STATE, match_by, served_fits
from knowledge.retrieval.query_vectors import whole_vector
from knowledge.retrieval.scope import IN_SCOPE, scope_parameters
from knowledge.retrieval.types import Hit, Origin, Query, Retriever, Scope

#: Passages of a linked document that are worth ranking; a handbook must not fill the list alone.
PASSAGES_A_DOCUMENT = 3

#: The nearest phrasing of each FAQ, as published systems match.
BY_PHRASING = """
SELECT faq_id, MIN(embedding <=> %(vector)b::halfvec) AS distance FROM faqs_faqvector
WHERE kind = 'asks' AND generation_id = %(generation)s
GROUP BY faq_id ORDER BY distance, faq_id OFFSET 0
"""
#: What was learned, as distances that mean as much. In order, so that only the first ones are looked up below.
LEARNED = """
SELECT faq_id, distance FROM unnest(%(matched)s::bigint[], %(distances)s::float8[]) AS given (faq_id, distance)
ORDER BY distance, faq_id OFFSET 0
"""
#: The same, and of all other FAQs the nearest phrasing; of all FAQs the nearest question that staff confirmed after the
#: fit was made, unless a question that staff said since no FAQ is about is nearer, and nearly the same.
LEARNED_AND_OTHERS = """
WITH fitted AS (
    SELECT faq_id, made_at FROM unnest(%(known)s::bigint[], %(known_at)s::timestamptz[]) AS fit (faq_id, made_at)
), refused AS MATERIALIZED (
    SELECT vector.embedding <=> %(vector)b::halfvec AS distance, question.confirmed_at
    FROM faqs_confirmedvector AS vector JOIN faqs_confirmedquestion AS question ON question.id = vector.question_id
    JOIN faqs_confirmedquestion_collections AS searched ON searched.confirmedquestion_id = question.id
    WHERE vector.generation_id = %(generation)s AND question.faq_id IS NULL
        AND searched.collection_id = ANY(%(collections)s::bigint[])
        AND vector.embedding <=> %(vector)b::halfvec < %(like)s
)
SELECT nearest.faq_id, nearest.distance
FROM (
    SELECT faq_id, MIN(distance) AS distance
    FROM (
        SELECT faq_id, distance FROM unnest(%(matched)s::bigint[], %(distances)s::float8[]) AS given (faq_id, distance)
        UNION ALL
        SELECT faq_id, embedding <=> %(vector)b::halfvec FROM faqs_faqvector
        WHERE kind = 'asks' AND generation_id = %(generation)s
            AND faq_id NOT IN (SELECT unnest(%(known)s::bigint[]))
        UNION ALL
        SELECT question.faq_id, vector.embedding <=> %(vector)b::halfvec
        FROM faqs_confirmedvector AS vector JOIN faqs_confirmedquestion AS question ON question.id = vector.question_id
        LEFT JOIN fitted ON fitted.faq_id = question.faq_id
        WHERE vector.generation_id = %(generation)s AND question.faq_id IS NOT NULL
            AND (fitted.faq_id IS NULL OR fitted.made_at < question.confirmed_at)
    ) AS asked
    GROUP BY faq_id
) AS nearest LEFT JOIN fitted ON fitted.faq_id = nearest.faq_id
WHERE NOT EXISTS (
    SELECT FROM refused WHERE refused.distance < nearest.distance
        AND (fitted.faq_id IS NULL OR fitted.made_at < refused.confirmed_at)
)
ORDER BY distance, faq_id OFFSET 0
"""
CONDITION = IN_SCOPE.replace("{}", "{{}}")  # it goes through str.format below
MATCHED = f"""
WITH linked AS NOT MATERIALIZED ({LEADS}), nearest AS (
    SELECT faq.id, faq.question, faq.reference_answer, faq.language, 1 - best.distance AS cosine
    FROM ({{best}}) AS best
    JOIN faqs_faq AS faq ON faq.id = best.faq_id
    WHERE faq.status = 'published'
        AND (faq.valid_from IS NULL OR faq.valid_from <= %(on)s)
        AND (faq.valid_until IS NULL OR faq.valid_until >= %(on)s)
        AND (
            SELECT TRUE
            FROM linked AS source JOIN knowledge_document AS document ON document.id = source.document_id
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
    JOIN linked AS source ON source.faq_id = nearest.id
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
#: The same beside the fits in use, with a row at least.
MATCHED_AND_STATE = f"""
SELECT state.fits, matched.* FROM ({STATE}) AS state (fits)
LEFT JOIN (SELECT in_order.*, row_number() OVER () AS line FROM ({MATCHED}) AS in_order) AS matched ON TRUE
ORDER BY matched.line
"""
#: FAQs of each fit that are looked up; more, where those are not valid today, or for readers of another kind.
LIKELIEST = 30
#: A question that no FAQ is about stands for another one from this similarity on: both ask the same.
LIKE = 0.65
#: A similarity is sent to the database as a distance and back.
ROUNDING = 1e-6
#: Searches at most, while fits change; the last one is used as it is.
ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Match:
    """A passage of a document linked to a close FAQ; `similarity` is that of both questions, whatever the model.

    If it `is_learned`, `similarity` is that at which the nearest phrasing would make the FAQ as likely. `probability`
    is how likely it is that the FAQ is meant.
    """

    faq_id: int
    question: str
    reference_answer: str
    similarity: float
    passage_id: int
    document_id: int
    language: str = ""
    is_learned: bool = False
    probability: float = 0.0


def confidence(similarity: float) -> float:
    """Weigh a match: 0 below a similarity of 0.45, 1 from 0.65 on, a square between.

    A question that no FAQ is about has its nearest one at 0.3 to 0.55 and must not be led astray by it.
    """
    return min(1.0, max(0.0, (similarity - 0.45) / 0.2)) ** 2


def learned_confidence(likely: float) -> float:
    """Weigh a learned match by its probability: 0 below 0.3, 1 from 0.4 on, straight between.

    Measured on clinc150, where every page has an FAQ, and on the demo, where most have none
    (docs/decisions/0031-matching-is-learned.md).
    """
    return min(1.0, max(0.0, (likely - 0.3) / 0.1))


def match(query: Query, *, scope: Scope, faqs: int = 1, learned: bool = False) -> list[Match]:
    """Return the passages behind the `faqs` closest published, valid FAQs: closest first, in order of its documents.

    If `learned`, what the collections' fits know counts, where they are in use, and what staff confirmed.
    """
    if learned:
        return _match_as_learned(query, scope, faqs)
    statement = MATCHED.format(best=BY_PHRASING, faqs=faqs, passages=PASSAGES_A_DOCUMENT)
    return [_read(row, query, {}) for row in fetch_all(statement, _parameters(query, scope))]


def _match_as_learned(query: Query, scope: Scope, faqs: int) -> list[Match]:
    key = query.generation_id, scope.collection_ids
    state, most = served_fits.state(*key), LIKELIEST
    for _round in range(ROUNDS):
        fits, know_all = served_fits.of(state)
        odds, known = match_by(fits, whole_vector(query), most=most)
        best = LEARNED if know_all else LEARNED_AND_OTHERS
        statement = MATCHED_AND_STATE.format(best=best, faqs=faqs, passages=PASSAGES_A_DOCUMENT)
        rows = fetch_all(statement, _parameters(query, scope) | _learned_parameters(query, odds, known))
        matched = [_read(row[1:-1], query, odds) for row in rows if row[-1] is not None]
        present = rows[0][0]
        if present != state:
            served_fits.note(*key, present)
            state = present
        elif most < len(known) and len({each.faq_id for each in matched}) < faqs:
            most = len(known)
        else:
            break
    return matched


def _parameters(query: Query, scope: Scope) -> dict[str, Any]:
    return scope_parameters(scope) | {"vector": BinaryVector(query.vector), "generation": query.generation_id}


def _learned_parameters(query: Query, odds: dict[int, float], known: dict[int, datetime]) -> dict[str, Any]:
    def distance(similarity: float) -> float:
        return 1 - COMMON.questions.to(query.scale.questions, similarity)

    return {
        "matched": list(odds),
        "distances": [distance(similarity_of(log_odds)) for log_odds in odds.values()],
        "known": list(known),
        "known_at": list(known.values()),
        "like": distance(LIKE),
    }


def _read(row: tuple[Any, ...], query: Query, odds: dict[int, float]) -> Match:
    faq_id, question, answer, cosine, passage_id, document_id, language = row
    similarity = query.scale.of_question(cosine)
    # Else a question that staff confirmed since is nearer than what was learned.
    is_learned = faq_id in odds and similarity <= similarity_of(odds[faq_id]) + ROUNDING
    likely = probability(odds[faq_id]) if is_learned else probability_at(similarity)
    return Match(faq_id, question, answer, similarity, passage_id, document_id, language, is_learned, likely)


def margin(similarity: float, best: float) -> float:
    """Weigh an FAQ beside the closest one: 1 if it is as close, 0 from 0.15 behind on."""
    return max(0.0, 1 - (best - similarity) / 0.15)


class FAQRetriever:
    """Ranks the documents of the closest FAQs; `steering` off gives Marcel's hard version: one FAQ, full weight always.

    With `learned` a collection's FAQs are matched by what was learned, where that is the better way. A hit's score is
    its FAQ's similarity, less for each passage of the FAQ before it.
    """

    origin, needs_vector = Origin.FAQ, True

    def __init__(self, *, faqs: int = 1, steering: bool = True, learned: bool = False) -> None:
        self.faqs, self.steering, self.learned = faqs, steering, learned

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        hits: dict[int, Hit] = {}
        places: Counter[int] = Counter()
        best = -1.0
        for found in match(query, scope=scope, faqs=self.faqs, learned=self.learned):
            best = max(best, found.similarity)
            if found.passage_id not in hits and len(hits) < k:
                hits[found.passage_id] = Hit(
                    found.passage_id,
                    found.document_id,
                    len(hits) + 1,
                    found.similarity / (1 + 0.1 * places[found.faq_id]),
                    self.origin,
                    self.weight(found, best),
                    found.reference_answer,
                    faq_id=found.faq_id,
                    faq_question=found.question,
                )
                places[found.faq_id] += 1
        return list(hits.values())

    def weight(self, found: Match, best: float) -> float:
        """Return how much a matched FAQ counts beside the closest one, which has the similarity `best`."""
        if not self.steering:
            return 1.0
        sure = learned_confidence(found.probability) if found.is_learned else confidence(found.similarity)
        return sure * margin(found.similarity, best)


def by_phrasing(retriever: Retriever) -> Retriever:
    """Return the retriever as it matches FAQs by their nearest phrasing alone; others as they are."""
    if not isinstance(retriever, FAQRetriever):
        return retriever
    return FAQRetriever(faqs=retriever.faqs, steering=retriever.steering)
