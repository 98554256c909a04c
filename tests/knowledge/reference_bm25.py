"""Okapi BM25 with rank-bm25 (k1 1.5, b 0.75): the papers' engine, to reproduce their rows and to check ours.

It scores every passage in Python, so it is for measuring only.
"""

import re
from collections.abc import Sequence

from rank_bm25 import BM25Okapi

WORD = re.compile(r"\w+")


def tokens(text: str) -> list[str]:
    return WORD.findall(text.lower())


class ReferenceBM25:
    """A fixed corpus of (passage id, text)."""

    def __init__(self, passages: Sequence[tuple[int, str]]) -> None:
        self._ids = [passage_id for passage_id, _ in passages]
        self._bm25 = BM25Okapi([tokens(text) for _, text in passages], k1=1.5, b=0.75)

    def search(self, text: str, *, k: int) -> list[tuple[int, float]]:
        """Return (passage id, score) of the `k` best with a positive score, best first."""
        scores = self._bm25.get_scores(tokens(text))
        best = scores.argsort()[::-1][:k]
        return [(self._ids[index], float(scores[index])) for index in best if scores[index] > 0]
