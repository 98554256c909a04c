"""A classifier of messages that is fitted to example sentences.

A support vector machine with a Gaussian kernel over the message's vector says whether it is one of the kinds that are
looked for, a logistic regression over the same vector which one. `example_fitting` fits both.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from chat.models import ORDINARY
from core.terms import distinct_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Share of words that a message has in common with an example of its kind, where no vector can be had.
LEAST_ALIKE = 0.6


class ClassifierOutdated(Exception):
    """The fitted classifier is not that of the examples; the message says what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class ExampleClassifier:
    """Arrays of a fitted classifier.

    `mean` (d,) is taken from every vector. `support` (n, d) are the support vectors, `lengths` (n,) their squared
    lengths, `weights` (n,) what each counts, `gamma` the kernel's width, `threshold` the least sum of a message of one
    of the kinds. `directions` (k, d) and `offsets` (k,) are the logistic regression of `kinds`. `fitted_from` names the
    examples and the vector space.
    """

    mean: "NDArray[np.float32]"
    support: "NDArray[np.float32]"
    lengths: "NDArray[np.float32]"
    weights: "NDArray[np.float32]"
    gamma: float
    threshold: float
    directions: "NDArray[np.float32]"
    offsets: "NDArray[np.float32]"
    kinds: tuple[str, ...]
    fitted_from: str

    def score(self, vector: "NDArray[np.float32]") -> float:
        """Return how clearly this is a message of one of the kinds: at 0 or above it is one."""
        centred = vector - self.mean
        distances = self.lengths + centred @ centred - 2 * (self.support @ centred)
        return float(self.weights @ np.exp(-self.gamma * distances)) - self.threshold

    def compare(self, vector: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Return how likely each of the kinds is beside the others (k,)."""
        return self.directions @ (vector - self.mean) + self.offsets

    def classify(self, vector: "NDArray[np.float32]") -> str:
        """Return the likeliest kind."""
        return self.kinds[int(np.argmax(self.compare(vector)))]

    def recognise(self, vector: "NDArray[np.float32]") -> str | None:
        """Return the kind of a message; None for every ordinary message."""
        return self.classify(vector) if self.score(vector) >= 0 else None

    def save(self, path: Path) -> None:
        np.savez_compressed(
            path,
            mean=self.mean,
            support=self.support.astype(np.float16),
            weights=self.weights,
            numbers=np.array([self.gamma, self.threshold]),
            directions=self.directions,
            offsets=self.offsets,
            names=np.array([*self.kinds, self.fitted_from]),
        )

    @classmethod
    def load(cls, path: Path) -> Self:
        with np.load(path) as file:
            gamma, threshold = map(float, file["numbers"])
            *kinds, fitted_from = map(str, file["names"])
            support = file["support"].astype(np.float32)
            return cls(
                mean=file["mean"],
                support=support,
                lengths=(support**2).sum(axis=1),
                weights=file["weights"],
                gamma=gamma,
                threshold=threshold,
                directions=file["directions"],
                offsets=file["offsets"],
                kinds=tuple(kinds),
                fitted_from=fitted_from,
            )


def kind_by_words(text: str, examples: Iterable[tuple[set[str], str]]) -> str | None:
    """Return the kind of the example that has most words in common with the message, if that is most of them.

    `examples` are the words of each example, with its kind.
    """
    said = distinct_words(text)
    alike = [(len(said & words) / len(said | words), kind) for words, kind in examples]
    likeness, kind = max(alike)
    return kind if likeness >= LEAST_ALIKE and kind != ORDINARY else None
