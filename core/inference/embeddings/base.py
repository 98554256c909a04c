"""The protocol of an embedding model: vectors of questions and passages, lengths, and a scale."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from core.inference.embeddings.calibration import Scale

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class EmbeddingUnavailable(Exception):
    """The embedding model cannot be loaded or run; the message says what to do."""


class Embedder(Protocol):
    """A model that turns texts into unit vectors.

    `model` is the name that `get_embedder` finds it by, `dimensions` the length of its vectors, `scale` the range of
    its cosines. `recipe` names the vector space: vectors of different recipes are never compared. Some models read a
    question in another way than a passage, so there is a method for each.
    """

    model: str
    recipe: str
    dimensions: int
    scale: Scale

    def embed(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embed passages as unit vectors of shape (len(texts), dimensions), in the order of the texts.

        Raises EmbeddingUnavailable.
        """

    def embed_questions(self, texts: Sequence[str]) -> "NDArray[np.float32]":
        """Embed questions, as `embed`; compare these vectors with those of answers and of other questions."""

    def count_tokens(self, text: str) -> int:
        """Count a text's word pieces, without special ones and without a limit."""
