"""Vectors of pages' sentences, kept in each process for the proof of a model's sentences and for quotes."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from knowledge.retrieval.query_vectors import multilingual_vector, multilingual_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Vectors of pages' sentences that a process keeps: 1.5 KB each.
KEPT = 4096
#: Texts whose vectors are computed at once: more of them would be padded to the longest.
BATCH = 8
MAX_LENGTH = 1_000


class UnitVectors:
    """Vectors of pages' sentences, kept by their text: the next question is answered from the same pages."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def compute(self, texts: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        """Return the vectors by text. Raise EmbeddingUnavailable."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in known:
                self._vectors.move_to_end(text)
        new = compute_vectors([text for text in texts if text not in known])
        with self._lock:
            self._vectors.update(new)
            while len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)
        return known | new


unit_vectors = UnitVectors()


def compute_vectors(texts: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
    """Compute the vectors of texts, short ones first, so that few are padded. Raise EmbeddingUnavailable."""
    ordered = sorted(set(texts), key=len)
    found: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(ordered), BATCH):
        batch = ordered[start : start + BATCH]
        found.update(zip(batch, multilingual_vectors([text[:MAX_LENGTH] for text in batch]), strict=True))
    return found


def embed_with_question(texts: Sequence[str]) -> "NDArray[np.float32]":
    """Return the vectors of a question and of sentences; the question's is not kept with the pages'."""
    question, *sentences = texts
    known = unit_vectors.compute(sentences)
    return np.stack([multilingual_vector(question), *(known[text] for text in sentences)])
