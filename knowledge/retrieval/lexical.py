"""Passages by their words: BM25 over this process's index."""

from knowledge.retrieval.contracts import Hit, Origin, Query, Scope
from knowledge.retrieval.serving import lexical_index


class LexicalRetriever:
    origin, needs_vector = Origin.LEXICAL, False

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        index = lexical_index(query.generation_id)
        index.follow(query.newest_change)
        found = index.search(query.text, k=k, scope=scope)
        return [
            Hit(passage, document, rank, score, self.origin)
            for rank, (passage, document, score) in enumerate(found, start=1)
        ]
