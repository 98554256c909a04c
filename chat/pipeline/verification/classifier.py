"""The fitted weights that turn the differences between a sentence and its unit into one score; numpy alone.

A logistic regression, fitted by `python -m benchmarks.claims --fit` to `benchmarks/data/claims_dev.jsonl`; each weight
may only count the way that its feature means (`docs/decisions/0025-checking-sentences.md`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

FOLDER = Path(__file__).parent


class Judge(StrEnum):
    """Names what is weighed: words alone, facts with vectors, or both of these with the entailment model."""

    WORDS = "words"
    FACTS = "facts"
    ENTAILMENT = "entailment"

    @property
    def fitted(self) -> Path:
        return FOLDER / f"fitted_{self}.npz"


class Strictness(StrEnum):
    """The doubt that a sentence may raise and still be shown as it was written."""

    STRICT = "strict"
    BALANCED = "balanced"
    LENIENT = "lenient"


@dataclass(frozen=True, slots=True, eq=False)
class ClaimClassifier:
    """Weights (k,) of the features `names` and their sum's offset; the least score that each strictness asks for."""

    names: tuple[str, ...]
    weights: "NDArray[np.float64]"
    offset: float
    thresholds: Mapping[str, float]

    def score(self, features: Mapping[str, float]) -> float:
        """Return the probability, from 0 to 1, that the sentence is supported."""
        total = self.offset + sum(
            weight * features[name] for name, weight in zip(self.names, self.weights, strict=True)
        )
        return float(1 / (1 + np.exp(-total)))

    def save(self, path: Path) -> None:
        np.savez_compressed(
            path,
            names=np.array(self.names),
            weights=self.weights,
            offset=np.array([self.offset]),
            levels=np.array(list(self.thresholds)),
            thresholds=np.array(list(self.thresholds.values())),
        )

    def least(self, strictness: Strictness) -> float:
        return self.thresholds[strictness]

    @classmethod
    def load(cls, path: Path) -> Self:
        with np.load(path) as file:
            return cls(
                names=tuple(map(str, file["names"])),
                weights=file["weights"],
                offset=float(file["offset"][0]),
                thresholds=dict(zip(map(str, file["levels"]), map(float, file["thresholds"]), strict=True)),
            )


@cache
def get_classifier(judge: Judge) -> ClaimClassifier:
    return ClaimClassifier.load(judge.fitted)
