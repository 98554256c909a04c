"""Nearest passages by cosine, in PostgreSQL: exact in a small table, through HNSW once the planner prefers it."""

from typing import TYPE_CHECKING, Any

from django.db import connection

from knowledge.retrieval.contracts import Hit, Origin, Query, Scope

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

# Iterative scans go on until enough passages in scope are found, so that a filter cannot empty the result.
NEAREST = """
SELECT passage.id, passage.document_id, 1 - (passage.embedding <=> %(vector)s::vector) AS similarity
FROM knowledge_passage AS passage
JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE document.status = 'published' AND document.collection_id = ANY(%(collections)s) AND passage.recipe = %(recipe)s
ORDER BY passage.embedding <=> %(vector)s::vector
LIMIT %(k)s
"""


def vector_literal(vector: "NDArray[np.float32]") -> str:
    """pgvector's text form."""
    return f"[{','.join(f'{value:.7g}' for value in vector.tolist())}]"


class DenseRetriever:
    origin = Origin.DENSE

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        parameters: dict[str, Any] = {
            "vector": vector_literal(query.vector),
            "collections": list(scope.collection_ids),
            "recipe": query.recipe,
            "k": k,
        }
        with connection.cursor() as cursor:
            cursor.execute(NEAREST, parameters)
            rows = cursor.fetchall()
        return [
            Hit(passage, document, rank, similarity, self.origin)
            for rank, (passage, document, similarity) in enumerate(rows, start=1)
        ]
