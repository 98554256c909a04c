"""The real embedder, watched."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from knowledge.inference.embedder import get_embedder
from knowledge.models import DIMENSIONS


class Watched:
    """Embeds as the real one and keeps what it was given; `before` is called ahead of every call."""

    def __init__(self, recipe: str | None = None, before: Callable[[], None] = lambda: None) -> None:
        self._embedder = get_embedder()
        self.recipe = recipe or self._embedder.recipe
        self.before = before
        self.seen: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.before()
        self.seen += texts
        return self._embedder.embed(texts)

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)


class Instant(Watched):
    """Gives every text the same vector; for what is about amounts."""

    def embed(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        vectors = np.zeros((len(texts), DIMENSIONS), dtype=np.float32)
        vectors[:, 0] = 1
        return vectors
