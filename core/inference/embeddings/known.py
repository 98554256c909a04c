"""An embedding model beside a file of vectors that it has made before: what is known need not be computed again."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.hashing import fingerprint
from core.inference.embeddings.base import Embedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: By `passage_key` or `question_key`.
Vectors = Mapping[str, "NDArray[np.float16]"]


class KnownVectors:
    """An `Embedder` that looks a text up first; with vectors of another recipe it computes all of them."""

    def __init__(self, embedder: Embedder, recipe: str, vectors: Vectors) -> None:
        self._embedder = embedder
        self._vectors = vectors if recipe == embedder.recipe else {}
        self.model, self.recipe, self.dimensions = embedder.model, embedder.recipe, embedder.dimensions
        self.scale = embedder.scale

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._looked_up(texts, passage_key, self._embedder.embed)

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        return self._looked_up(texts, question_key, self._embedder.embed_questions)

    def _looked_up(
        self, texts: Sequence[str], key: Callable[[str], str], embed: Callable[[Sequence[str]], "NDArray[np.float32]"]
    ) -> "NDArray[np.float32]":
        vectors = np.empty((len(texts), self.dimensions), dtype=np.float32)
        missing = []
        for row, text in enumerate(texts):
            known = self._vectors.get(key(text))
            if known is None:
                missing.append(row)
            else:
                vectors[row] = known
        if missing:
            vectors[missing] = embed([texts[row] for row in missing])
        return vectors


def passage_key(text: str) -> str:
    """Return what a passage's vector is known by, which is its `input_hash`."""
    return fingerprint(text)


def question_key(text: str) -> str:
    return fingerprint("question", text)


def write_vectors(path: Path, recipe: str, vectors: Vectors) -> None:
    """Write vectors as the database keeps them, in half precision and sorted, so that equal ones make an equal file."""
    keys = sorted(vectors)
    np.savez(path, recipe=recipe, keys=np.array(keys), vectors=np.array([vectors[key] for key in keys], np.float16))


def with_known(embedder: Embedder, path: Path) -> KnownVectors:
    """Return the model beside the vectors of a file that `write_vectors` wrote."""
    with np.load(path, allow_pickle=False) as file:
        return KnownVectors(
            embedder, str(file["recipe"]), dict(zip(file["keys"].tolist(), file["vectors"], strict=True))
        )
