"""Vectors of pages' sentences, kept in each process for the proof of a model's sentences and for quotes."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING

import numpy as np

from knowledge.retrieval.query_vectors import (
    english_vector,
    english_vectors,
    multilingual_vector,
    multilingual_vectors,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Vectors of pages' sentences that a process keeps of each model: 1.5 KB each.
KEPT = 4096
#: Texts whose vectors are computed at once: more of them would be padded to the longest.
BATCH = 8
MAX_LENGTH = 1_000


class UnitVectors:
    """Vectors of pages' sentences, kept by their text: the next question is answered from the same pages.

    Who asks for a text whose vector another thread computes waits for that: students who ask at once, above all right
    after a start, ask about the same pages.
    """

    def __init__(self, embed: "Callable[[Sequence[str]], NDArray[np.float32]] | None" = None) -> None:
        self._embed = embed
        self._lock = threading.Lock()
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._computed: dict[str, Future[NDArray[np.float32]]] = {}

    def compute(self, texts: Sequence[str]) -> "dict[str, NDArray[np.float32]]":
        """Return the vectors by text. Raise EmbeddingUnavailable."""
        with self._lock:
            known = {text: self._vectors[text] for text in texts if text in self._vectors}
            for text in known:
                self._vectors.move_to_end(text)
            others = {text: self._computed[text] for text in texts if text in self._computed}
            mine: dict[str, Future[NDArray[np.float32]]] = {
                text: Future() for text in {*texts} - known.keys() - others.keys()
            }
            self._computed |= mine
        new = self._compute(mine)
        return known | new | {text: other.result() for text, other in others.items()}

    def _compute(self, mine: "dict[str, Future[NDArray[np.float32]]]") -> "dict[str, NDArray[np.float32]]":
        """Compute the vectors for all who wait for them, or raise for them too."""
        found: dict[str, NDArray[np.float32]] = {}
        try:
            found = compute_vectors([*mine], self._embed)
        except BaseException as error:
            for future in mine.values():
                future.set_exception(error)
            raise
        finally:
            with self._lock:
                self._vectors.update(found)
                while len(self._vectors) > KEPT:
                    self._vectors.popitem(last=False)
                for text in mine:
                    del self._computed[text]
        for text, future in mine.items():
            future.set_result(found[text])
        return found


def compute_vectors(
    texts: Sequence[str], embed: "Callable[[Sequence[str]], NDArray[np.float32]] | None" = None
) -> "dict[str, NDArray[np.float32]]":
    """Compute vectors, the multilingual model's unless told otherwise. Raise EmbeddingUnavailable."""
    # Short ones first, so that few are padded.
    ordered = sorted(set(texts), key=len)
    found: dict[str, NDArray[np.float32]] = {}
    for start in range(0, len(ordered), BATCH):
        batch = ordered[start : start + BATCH]
        vectors = (embed or multilingual_vectors)([text[:MAX_LENGTH] for text in batch])
        found.update(zip(batch, vectors, strict=True))
    return found


unit_vectors = UnitVectors()
_english = UnitVectors(english_vectors)


def embed_with_question(texts: Sequence[str]) -> "NDArray[np.float32]":
    """Return the vectors of a question and of sentences; the question's is not kept with the pages'."""
    question, *sentences = texts
    known = unit_vectors.compute(sentences)
    return np.stack([multilingual_vector(question), *(known[text] for text in sentences)])


def embed_english(texts: Sequence[str]) -> "NDArray[np.float32] | None":
    """Return as `embed_with_question` by the English model; None if the two built-in models do not search."""
    question, *sentences = texts
    asked = english_vector(question)
    if asked is None:
        return None
    known = _english.compute(sentences)
    return np.stack([asked, *(known[text] for text in sentences)])
