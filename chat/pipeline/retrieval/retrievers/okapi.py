"""Okapi BM25 with rank-bm25 (k1 1.5, b 0.75), as Marcel and other published systems run it: a baseline.

Words are lower-cased and neither stemmed nor left out. Every text of the scope is scored in Python, and the index is
built anew after each change of a page, so this is for measuring: `lexical` is what answers students.
"""

import re
import threading
from collections.abc import Sequence

import numpy as np
from rank_bm25 import BM25Okapi

from core.db.prepared import fetch_all
from knowledge.retrieval.bm25.index import newest_change
from knowledge.retrieval.scope import IN_SCOPE, scope_parameters
from knowledge.retrieval.types import Hit, Query, Scope

WORD = re.compile(r"\w+")
#: Made of the code's own parts; passages in the order of their pages.
TEXTS = f"""
SELECT passage.id, passage.document_id, document.title, passage.heading_path, passage.text
FROM knowledge_passage AS passage JOIN knowledge_document AS document ON document.id = passage.document_id
WHERE passage.generation_id = %(generation)s AND NOT passage.is_withheld AND {IN_SCOPE}
ORDER BY passage.document_id, passage.position
"""  # noqa: S608


def words(text: str) -> list[str]:
    return WORD.findall(text.lower())


class OkapiIndex:
    """A fixed corpus of (id, text)."""

    def __init__(self, texts: Sequence[tuple[int, str]]) -> None:
        self._ids = [text_id for text_id, _ in texts]
        self._bm25 = BM25Okapi([words(text) for _, text in texts], k1=1.5, b=0.75) if texts else None

    def search(self, text: str, *, k: int) -> list[tuple[int, float]]:
        """Return (id, score) of the `k` best, best first, as `BM25Okapi.get_top_n` ranks them."""
        if self._bm25 is None:
            return []
        scores = self._bm25.get_scores(words(text))
        return [(self._ids[place], float(scores[place])) for place in np.argsort(scores)[::-1][:k]]


class _Corpus:
    """The content of a scope at one change: its passages or whole pages, indexed, and the passages of each."""

    def __init__(self, generation_id: int, scope: Scope, *, pages: bool) -> None:
        #: By passage or page: (passage id, document id, text) of each passage.
        self.passages: dict[int, list[tuple[int, int, str]]] = {}
        rows = fetch_all(TEXTS, scope_parameters(scope) | {"generation": generation_id})
        for passage, document, title, headings, text in rows:
            entry = (passage, document, "\n".join((title, *headings, text)))
            self.passages.setdefault(document if pages else passage, []).append(entry)
        self.index = OkapiIndex(
            [(unit, "\n".join(text for _, _, text in entries)) for unit, entries in self.passages.items()]
        )


class OkapiRetriever:
    """Ranks passages, or whole `pages`; of a page it returns the passage that has most of the question's words."""

    needs_vector = False

    def __init__(self, *, pages: bool = False) -> None:
        self.origin = "okapi-pages" if pages else "okapi"
        self._pages, self._lock = pages, threading.Lock()
        self._newest: tuple[tuple[int, int, Scope], _Corpus] | None = None

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> list[Hit]:
        corpus, asked = self._corpus(query, scope), set(words(query.text))
        hits = []
        for rank, (unit, score) in enumerate(corpus.index.search(query.text, k=k), start=1):
            passage, document, _text = max(corpus.passages[unit], key=lambda each: len(asked & set(words(each[2]))))
            hits.append(Hit(passage, document, rank, score, self.origin))
        return hits

    def _corpus(self, query: Query, scope: Scope) -> _Corpus:
        """Return the scope's corpus as of now; the last one is kept."""
        change = newest_change() if query.newest_change is None else query.newest_change
        wanted = (query.generation_id, change, scope)
        with self._lock:
            if self._newest is None or self._newest[0] != wanted:
                self._newest = (wanted, _Corpus(query.generation_id, scope, pages=self._pages))
            return self._newest[1]
