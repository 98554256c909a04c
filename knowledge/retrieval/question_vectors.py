"""Vectors of questions, kept for a while: the same question is asked again by other tabs, retries and staff."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from knowledge.hashing import fingerprint
from knowledge.inference.embedder import get_embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

KEPT = 2048


class _Cache:
    """By fingerprint, so that no student's words stay in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()

    def get(self, model: str, text: str) -> "NDArray[np.float32]":
        key = fingerprint(model, text)
        with self._lock:
            if (known := self._vectors.get(key)) is not None:
                self._vectors.move_to_end(key)
                return known
        vector: NDArray[np.float32] = get_embedder(model).embed_questions([text])[0]
        with self._lock:
            self._vectors[key] = vector
            if len(self._vectors) > KEPT:
                self._vectors.popitem(last=False)
        return vector

    def clear(self) -> None:
        with self._lock:
            self._vectors.clear()


_cache = _Cache()
question_vector, forget_vectors = _cache.get, _cache.clear


def guess_vector(model: str, question: "NDArray[np.float32]", guesses: Sequence[str]) -> "NDArray[np.float32]":
    """The unit mean of the guesses' vectors and the question's own, as in HyDE (Gao et al. 2023)."""
    mean = np.vstack((get_embedder(model).embed(guesses), question)).mean(axis=0)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
    return unit
