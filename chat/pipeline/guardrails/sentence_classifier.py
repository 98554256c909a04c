"""Recognises sentences of one kind by their vectors: a logistic regression over multilingual-e5-small's."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, eq=False)
class SentenceClassifier:
    """The weights (d,) of a unit vector, and the least sum of a sentence of the kind."""

    weights: "NDArray[np.float32]"
    least: float

    def score(self, vector: "NDArray[np.float32]") -> float:
        """Return how clearly a sentence is of the kind: at 0 or above it is."""
        return float(self.weights @ vector) - self.least

    def save(self, path: Path) -> None:
        np.savez_compressed(path, weights=self.weights, least=np.array([self.least]))

    @classmethod
    def load(cls, path: Path) -> Self:
        with np.load(path) as file:
            return cls(file["weights"], float(file["least"][0]))


@cache
def get_classifier(fitted: Path) -> SentenceClassifier:
    """Return the classifier of a file, loaded once."""
    return SentenceClassifier.load(fitted)
