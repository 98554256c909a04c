"""Vectors of pages' sentences, kept and asked for by several threads."""

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from chat.pipeline.sentences.unit_vectors import UnitVectors
from core.inference.embeddings import EmbeddingUnavailable


class Embed:
    """Embeds once it may; then it raises `error`, if there is one."""

    def __init__(self, error: Exception | None = None) -> None:
        self.texts: list[str] = []
        self.error, self.began, self.may_go_on = error, threading.Event(), threading.Event()

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        self.texts += texts
        self.began.set()
        assert self.may_go_on.wait(10)
        if self.error:
            raise self.error
        return np.array([[len(text)] for text in texts], dtype=np.float32)


def test_a_sentence_that_two_ask_for_at_once_is_embedded_once() -> None:
    embed = Embed()
    vectors = UnitVectors(embed)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(vectors.compute, ["a fee", "a room"])
        assert embed.began.wait(10)
        second = threads.submit(vectors.compute, ["a fee", "an office"])
        embed.may_go_on.set()
        assert {text: float(vector[0]) for text, vector in first.result(10).items()} == {"a fee": 5, "a room": 6}
        assert {text: float(vector[0]) for text, vector in second.result(10).items()} == {"a fee": 5, "an office": 9}
    assert sorted(embed.texts) == ["a fee", "a room", "an office"]
    vectors.compute(["a fee", "a room", "an office"])
    assert len(embed.texts) == 3


def test_a_model_that_is_away_is_so_for_all_who_wait_and_is_asked_again_later() -> None:
    embed = Embed(EmbeddingUnavailable("away"))
    vectors = UnitVectors(embed)
    with ThreadPoolExecutor(2) as threads:
        first = threads.submit(vectors.compute, ["a fee"])
        assert embed.began.wait(10)
        second = threads.submit(vectors.compute, ["a fee"])
        embed.may_go_on.set()
        for one in (first, second):
            with pytest.raises(EmbeddingUnavailable):
                one.result(10)
    embed.error = None
    assert float(vectors.compute(["a fee"])["a fee"][0]) == 5
