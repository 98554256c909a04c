"""The real embedder, watched."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from core.inference import embeddings as embedding
from core.inference.embeddings import get_embedder


class Watched:
    """Embeds as the real one and keeps what it was given (`asked`: as questions); `before` is called ahead of it."""

    def __init__(self, recipe: str | None = None, before: Callable[[], None] = lambda: None) -> None:
        self._embedder = get_embedder()
        self.recipe = recipe or self._embedder.recipe
        self.model = recipe or self._embedder.model
        self.dimensions = self._embedder.dimensions
        self.scale = self._embedder.scale
        self.before = before
        self.seen: list[str] = []
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.before()
        self.seen += texts
        return self._embedder.embed(texts)

    def embed_questions(self, texts: Sequence[str]) -> Any:
        self.before()
        self.seen += texts
        self.asked += texts
        return self._embedder.embed_questions(texts)

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)


class Instant(Watched):
    """Gives every text the same vector, of any length; for what is about amounts."""

    def __init__(self, recipe: str | None = None, dimensions: int = 384) -> None:
        super().__init__(recipe)
        self.dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> Any:
        self.seen += texts
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        vectors[:, 0] = 1
        return vectors

    embed_questions = embed


def use(monkeypatch: pytest.MonkeyPatch, watched: Watched) -> Watched:
    """Make the settings ask for this embedder; every other is found under its own name."""
    load = embedding._load
    monkeypatch.setattr(embedding, "configured_model", lambda: watched.model)
    monkeypatch.setattr(embedding, "_load", lambda model: watched if model == watched.model else load(model))
    return watched


@contextmanager
def using(watched: Watched) -> Iterator[Watched]:
    with pytest.MonkeyPatch.context() as monkeypatch:
        yield use(monkeypatch, watched)
