"""Lexical retrieval: BM25 over this process's index."""

from knowledge.retrieval.bm25.index import LexicalIndex
from knowledge.retrieval.live_index import lexical_index
from knowledge.retrieval.types import Hit, Origin, Query, Scope


class LexicalRetriever:
    """Searches `index` as it is if one is given, else this process's own, brought up to date first."""

    origin, needs_vector = Origin.LEXICAL, False

    def __init__(self, index: LexicalIndex | None = None) -> None:
        self._index = index

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        index = self._index
        if index is None:
            index = lexical_index(query.generation_id)
            index.follow(query.newest_change)
        found = index.search(query.text, k=k, scope=scope, readings=query.readings)
        return [
            Hit(passage, document, rank, score, self.origin)
            for rank, (passage, document, score) in enumerate(found, start=1)
        ]
