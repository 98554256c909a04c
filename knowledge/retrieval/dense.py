"""Nearest passages by cosine, in PostgreSQL: exact in a small table, through HNSW once the planner prefers it.

Iterative scans (`hnsw.iterative_scan`, in the settings) go on until enough passages in scope are found, so that a
filter cannot empty the result.
"""

from dataclasses import replace
from typing import Any

from core.db.prepared import BinaryVector, fetch_all
from knowledge.models import Granularity
from knowledge.retrieval.scope import IN_SCOPE, scope_parameters
from knowledge.retrieval.tuning import UNITS_A_PASSAGE
from knowledge.retrieval.types import Hit, Origin, Query, Scope

CONDITION = IN_SCOPE.replace("{}", "{{}}")  # it goes through str.format below
# The generation and the vectors' length stand in the statement itself, or its partial index could not be used.
NEAREST = f"""
SELECT passage.id, passage.document_id, 1 - (passage.embedding::halfvec({{length:d}}) <=> %(vector)b::halfvec)
FROM knowledge_passage AS passage JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE passage.generation_id = {{generation:d}} AND NOT passage.is_withheld AND {CONDITION}
ORDER BY passage.embedding::halfvec({{length:d}}) <=> %(vector)b::halfvec
LIMIT {{k:d}}
"""
#: The best unit of each of the k best passages, and how many units were looked at.
NEAREST_UNITS = f"""
WITH nearest AS MATERIALIZED (
    SELECT unit.id, unit.passage_id, passage.document_id,
        unit.embedding::halfvec({{length:d}}) <=> %(vector)b::halfvec AS distance
    FROM knowledge_unit AS unit JOIN knowledge_passage AS passage ON passage.id = unit.passage_id
    JOIN knowledge_document AS document ON document.id = passage.document_id
    WHERE unit.generation_id = {{generation:d}} AND unit.granularity = '{{granularity}}'
        AND NOT passage.is_withheld AND {CONDITION}
    ORDER BY unit.embedding::halfvec({{length:d}}) <=> %(vector)b::halfvec
    LIMIT {{units:d}}
), best AS (
    SELECT DISTINCT ON (passage_id) id, passage_id, document_id, distance FROM nearest
    ORDER BY passage_id, distance, id
)
SELECT best.passage_id, best.document_id, 1 - best.distance, unit.text, (SELECT count(*) FROM nearest)
FROM best JOIN knowledge_unit AS unit ON unit.id = best.id
ORDER BY best.distance, best.passage_id
LIMIT {{k:d}}
"""
HAS_UNITS = f"""
SELECT TRUE FROM knowledge_unit AS unit JOIN knowledge_passage AS passage ON passage.id = unit.passage_id
JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE unit.generation_id = %(generation)s AND unit.granularity = %(granularity)s AND NOT passage.is_withheld
    AND {IN_SCOPE}
LIMIT 1
"""
ORIGINS = {
    None: Origin.DENSE,
    Granularity.SENTENCE: Origin.DENSE_SENTENCE,
    Granularity.PROPOSITION: Origin.DENSE_PROPOSITION,
}


class DenseRetriever:
    """Compares the question with passages, or with their sentences or propositions and ranks passages by the best.

    A hit's score is its similarity on the scale of all models.
    """

    needs_vector = True

    def __init__(self, granularity: Granularity | None = None) -> None:
        self.granularity, self.origin = granularity, ORIGINS[granularity]

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        parameters = scope_parameters(scope) | {"vector": BinaryVector(query.vector)}
        if self.granularity:
            rows = _nearest_units(query, self.granularity, k, parameters)
        else:
            rows = _nearest(query, k, parameters)
        return [
            Hit(passage, document, rank, query.scale.of_passage(cosine), self.origin, matched=matched)
            for rank, (passage, document, cosine, matched) in enumerate(rows, start=1)
        ]

    def has_units(self, query: Query, *, scope: Scope) -> bool:
        """Return whether there are vectors of this granularity to compare with; always true for passages."""
        parameters = {"generation": query.generation_id, "granularity": self.granularity}
        return self.granularity is None or bool(fetch_all(HAS_UNITS, scope_parameters(scope) | parameters))


def _nearest(query: Query, k: int, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    statement = NEAREST.format(generation=query.generation_id, length=len(query.vector), k=k)
    return [(*row, "") for row in fetch_all(statement, parameters)]


def _nearest_units(query: Query, granularity: Granularity, k: int, parameters: dict[str, Any]) -> list[tuple[Any, ...]]:
    """Search the nearest units, and more of them if those of too few passages filled the list."""
    units = k * UNITS_A_PASSAGE
    while True:
        statement = NEAREST_UNITS.format(
            generation=query.generation_id,
            length=len(query.vector),
            granularity=granularity.value,
            units=units,
            k=k,
        )
        rows = fetch_all(statement, parameters)
        if len(rows) >= k or not rows or rows[0][-1] < units:
            return [row[:-1] for row in rows]
        units *= UNITS_A_PASSAGE


class HydeRetriever:
    """Compares what a language model guessed with passages; finds nothing where there is no guess (HyDE)."""

    origin, needs_vector = Origin.HYDE, True

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        if query.guess is None:
            return []
        hits = DenseRetriever().retrieve(replace(query, vector=query.guess), k=k, scope=scope)
        return [replace(hit, origin=self.origin) for hit in hits]
