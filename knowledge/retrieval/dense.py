"""Nearest passages by cosine, in PostgreSQL: exact in a small table, through HNSW once the planner prefers it.

Iterative scans (`hnsw.iterative_scan`, in the settings) go on until enough passages in scope are found, so that a
filter cannot empty the result.
"""

from typing import Any

from knowledge.prepared import BinaryVector, fetch_all
from knowledge.retrieval.contracts import Hit, Origin, Query, Scope

NEAREST = """
SELECT passage.id, passage.document_id, 1 - (passage.embedding <=> %(vector)b::vector) AS similarity
FROM knowledge_passage AS passage
JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE document.status = 'published' AND document.collection_id = ANY(%(collections)s::bigint[])
    AND passage.recipe = %(recipe)s
ORDER BY passage.embedding <=> %(vector)b::vector
LIMIT {k:d}
"""


class DenseRetriever:
    origin = Origin.DENSE

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        parameters: dict[str, Any] = {
            "vector": BinaryVector(query.vector),
            "collections": list(scope.collection_ids),
            "recipe": query.recipe,
        }
        return [
            Hit(passage, document, rank, similarity, self.origin)
            for rank, (passage, document, similarity) in enumerate(fetch_all(NEAREST.format(k=k), parameters), start=1)
        ]
