"""Recognise cries for help by examples instead of words, in any language that the multilingual model knows.

A support vector machine with a Gaussian kernel over the message's vector says whether it is a cry for help, a logistic
regression over the same vector of which kind. Both are fitted by `manage.py fit_help_classifier` and kept beside the
examples; why not a logistic regression alone is in `docs/decisions/0023-cries-for-help.md`.
"""

import logging
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from chat.pipeline.understanding.help_examples import FOLDER, ORDINARY, fingerprint_of_examples, load_examples
from core.inference.embeddings import EmbeddingUnavailable
from core.terms import distinct_words
from knowledge.retrieval.query_vectors import multilingual_vector

if TYPE_CHECKING:
    from numpy.typing import NDArray

logger = logging.getLogger(__name__)

FITTED = FOLDER / "fitted.npz"
#: Share of words that a message has in common with an example of its kind, where no vector can be had.
LEAST_ALIKE = 0.6


class HelpClassifierOutdated(Exception):
    """The fitted classifier is not that of the examples or of the embedding model; the message says what to do."""


@dataclass(frozen=True, slots=True, eq=False)
class HelpClassifier:
    """Arrays of a fitted classifier.

    `mean` (d,) is taken from every vector. `support` (n, d) are the support vectors, `lengths` (n,) their squared
    lengths, `weights` (n,) what each counts, `gamma` the kernel's width, `threshold` the least sum of a cry for help.
    `directions` (k, d) and `offsets` (k,) are the logistic regression of `kinds`. `fitted_from` names the examples and
    the vector space.
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
        """Return how clearly this is a cry for help: at 0 or above it is one."""
        centred = vector - self.mean
        distances = self.lengths + centred @ centred - 2 * (self.support @ centred)
        return float(self.weights @ np.exp(-self.gamma * distances)) - self.threshold

    def classify(self, vector: "NDArray[np.float32]") -> str:
        """Return the likeliest kind of need."""
        return self.kinds[int(np.argmax(self.directions @ (vector - self.mean) + self.offsets))]

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


def recognised_need(text: str) -> str | None:
    """Return the kind of need that a message speaks of, one of `Need`; None for every other message."""
    try:
        vector = multilingual_vector(text)
    except EmbeddingUnavailable:
        logger.exception("cries for help are recognised by their words alone")
        return _need_by_words(text)
    classifier = get_classifier()
    return classifier.classify(vector) if classifier.score(vector) >= 0 else None


@cache
def get_classifier() -> HelpClassifier:
    """Return the fitted classifier; raises HelpClassifierOutdated."""
    classifier = HelpClassifier.load(FITTED)
    if classifier.fitted_from != fingerprint_of_examples():
        raise HelpClassifierOutdated("The examples have changed. Please run `manage.py fit_help_classifier`.")
    return classifier


def _need_by_words(text: str) -> str | None:
    """Return the kind of the example that has most words in common with the message, if that is most of them."""
    said = distinct_words(text)
    alike = [(len(said & words) / len(said | words), kind) for words, kind in _words_of_examples()]
    likeness, kind = max(alike)
    return kind if likeness >= LEAST_ALIKE and kind != ORDINARY else None


@cache
def _words_of_examples() -> list[tuple[set[str], str]]:
    return [(distinct_words(each.text), each.kind) for each in load_examples()]
