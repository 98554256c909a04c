"""Word pieces' vectors in their context, for BERTScore."""

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from knowledge.inference.embedders.minilm import MINILM, MiniLMEmbedder

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Whose vectors they are, as the results name it.
MODEL = f"{MINILM}, last layer"


class TokenEncoder(MiniLMEmbedder):
    """all-MiniLM-L6-v2 before its word pieces are averaged: English, the first 256 of them."""

    def pieces(self, text: str) -> "NDArray[np.float32]":
        """Unit vectors of shape (pieces, dimensions), without those of the marks at both ends."""
        ids = np.array([self._tokenizer.encode(text).ids], dtype=np.int64)
        inputs = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        (hidden,) = self._session.run(["last_hidden_state"], inputs)
        inner: NDArray[np.float32] = hidden[0][1:-1]
        inner /= np.linalg.norm(inner, axis=1, keepdims=True)
        return inner


@cache
def get_token_encoder() -> TokenEncoder:
    return TokenEncoder()
