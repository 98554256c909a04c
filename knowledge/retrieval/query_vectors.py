"""Cache of questions' vectors: other tabs, retries and staff ask the same question again."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from core.hashing import fingerprint
from core.inference.embeddings import configured_model, get_embedder
from core.inference.embeddings.calibration import Scale
from core.inference.embeddings.e5.embedder import MULTILINGUAL
from core.inference.embeddings.ensemble import (
    JOINED,
    MULTILINGUAL_SCALE,
    english_part,
    multilingual_part,
    only_multilingual,
)
from core.inference.embeddings.minilm import MINILM
from core.language import detect_language
from knowledge.retrieval.types import Query

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


def search_vector(model: str, text: str) -> "tuple[NDArray[np.float32], Scale]":
    """Return the unit vector that a question is searched with, and the scale of its cosines.

    Of the two built-in models side by side only the multilingual one compares a German question: to the English one
    its words are noise. Raises EmbeddingUnavailable.
    """
    vector = question_vector(model, text)
    if model == JOINED and detect_language(text) == "de":
        return only_multilingual(vector), MULTILINGUAL_SCALE
    return vector, get_embedder(model).scale


def whole_vector(query: Query) -> "NDArray[np.float32]":
    """Return the question's vector as whole as texts' vectors are, for what was fitted to those."""
    return _cache.get(query.model, query.text) if query.model == JOINED else query.vector


def multilingual_vector(text: str) -> "NDArray[np.float32]":
    """Return multilingual-e5-small's unit vector of a message, of shape (384,), whatever model searches.

    Where the two built-in models search side by side it is a part of their vector, which retrieval needs anyway; no
    server besides is asked for it. Raises EmbeddingUnavailable.
    """
    if configured_model() == JOINED:
        return multilingual_part(_cache.get(JOINED, text))
    return _cache.get(MULTILINGUAL, text)


def multilingual_vectors(texts: Sequence[str]) -> "NDArray[np.float32]":
    """Return the vectors of several messages, of shape (len(texts), 384); as `multilingual_vector`."""
    return get_embedder(MULTILINGUAL).embed_questions(texts)


def english_vector(text: str) -> "NDArray[np.float32] | None":
    """Return all-MiniLM-L6-v2's unit vector of a message, of shape (384,), where the two built-in models search.

    It is None with other models: none is loaded for it alone. Raises EmbeddingUnavailable.
    """
    return english_part(_cache.get(JOINED, text)) if configured_model() == JOINED else None


def english_vectors(texts: Sequence[str]) -> "NDArray[np.float32]":
    """Return the vectors of several texts, of shape (len(texts), 384); as `english_vector`."""
    return get_embedder(MINILM).embed(texts)


def guess_vector(model: str, question: "NDArray[np.float32]", guesses: Sequence[str]) -> "NDArray[np.float32]":
    """Return the unit mean of the guesses' vectors and the question's own, as in HyDE (Gao et al. 2023)."""
    mean = np.vstack((get_embedder(model).embed(guesses), question)).mean(axis=0)
    unit: NDArray[np.float32] = mean / np.linalg.norm(mean)
    return unit
