"""Turns texts into the input of multilingual-e5-small: for each piece of a text, the sum of its embeddings."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from core.inference.embeddings.e5.package import PackagedE5, unpacked
from core.inference.onnx.cache import load_made

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Pieces:
    """The vocabulary and the embeddings of the package; safe to share between threads."""

    def __init__(self, vocabulary: Path) -> None:
        from sentencepiece import SentencePieceProcessor

        package = PackagedE5()
        self.special, self.window = package.special, package.shape.window
        self._words, self._normalise = package.words(), package.normalise
        positions = package.vector("emb.pos").reshape(self.window, -1)
        self._places: NDArray[np.float32] = positions + package.vector("emb.type")[: package.shape.width]
        self._pieces: SentencePieceProcessor = load_made(
            vocabulary, package.sentencepiece_model, lambda file: SentencePieceProcessor(model_file=str(file))
        )

    def ids(self, text: str) -> list[int]:
        ids: list[int] = self._pieces.encode(self._normalise(text))
        return ids

    def sums(self, ids: Sequence[int]) -> "NDArray[np.float32]":
        """Return the sums of word, position and type embeddings, of shape (pieces, width)."""
        sums: NDArray[np.float32] = unpacked(self._words[list(ids)]) + self._places[: len(ids)]
        return sums


@cache
def load_pieces(vocabulary: Path) -> Pieces:
    """Return the pieces, loaded once in this process; the file is made if it is not there."""
    return Pieces(vocabulary)
