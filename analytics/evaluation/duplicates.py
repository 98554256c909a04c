"""Which questions a set has already, by their words or by what they mean."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from analytics.evaluation.question_prompts import normalised
from analytics.models import EvaluationSet
from knowledge.generations import embedder_of, live_generation

#: Questions more similar than this are one.
SAME = 0.95


class KnownQuestions:
    """The questions of a set, whatever became of them: one that was rejected is not proposed again.

    Raises EmbeddingUnavailable.
    """

    def __init__(self, evaluation_set: EvaluationSet) -> None:
        self._embedder = embedder_of(live_generation())
        texts = list(evaluation_set.questions.values_list("text", flat=True))
        self._texts = {normalised(text) for text in texts}
        self._vectors = self._embed(texts)

    def take_new(self, texts: Sequence[str]) -> list[bool]:
        """Of each whether it is new, also among those before it; they are known from then on."""
        return [self._is_new(text, vector) for text, vector in zip(texts, self._embed(texts), strict=True)]

    def _is_new(self, text: str, vector: Any) -> bool:
        closest = float((self._vectors @ vector).max(initial=-1.0))
        if normalised(text) in self._texts or self._embedder.scale.of_question(closest) > SAME:
            return False
        self._texts.add(normalised(text))
        self._vectors = np.vstack([self._vectors, vector])
        return True

    def _embed(self, texts: Sequence[str]) -> Any:
        if not texts:
            return np.empty((0, self._embedder.dimensions), dtype=np.float32)
        return self._embedder.embed_questions(texts)
