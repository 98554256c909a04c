"""Recognise by a sentence's vector that it tells its reader an outcome: that they are admitted, exempt, have passed.

A logistic regression over multilingual-e5-small's vector, fitted by `python -m benchmarks.decisions --fit` to sentences
that two hands wrote (`docs/decisions/0066-outcomes-are-learned.md`).
"""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FITTED = Path(__file__).parent / "fitted_outcomes.npz"


@dataclass(frozen=True, slots=True, eq=False)
class OutcomeClassifier:
    """The weights (d,) of a unit vector, and the least sum of a sentence that tells an outcome."""

    weights: "NDArray[np.float32]"
    least: float

    def score(self, vector: "NDArray[np.float32]") -> float:
        """Return how clearly a sentence tells an outcome: at 0 or above it does."""
        return float(self.weights @ vector) - self.least

    def save(self, path: Path) -> None:
        np.savez_compressed(path, weights=self.weights, least=np.array([self.least]))

    @classmethod
    def load(cls, path: Path) -> Self:
        with np.load(path) as file:
            return cls(file["weights"], float(file["least"][0]))


def tells_outcome(vector: "NDArray[np.float32]") -> bool:
    """Return whether the sentence of this vector, of shape (384,), tells its reader an outcome."""
    return get_classifier().score(vector) >= 0


@cache
def get_classifier() -> OutcomeClassifier:
    return OutcomeClassifier.load(FITTED)
