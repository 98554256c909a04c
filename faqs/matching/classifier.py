"""The classifier of one collection's questions by FAQ: a linear model over a question's vector; numpy alone."""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: The class of questions that no FAQ is about.
NO_FAQ = 0
#: Centred vectors are made this long: a logistic regression tells them apart there without large weights.
LENGTH = 5.0
#: How the similarity to the nearest phrasing and the probability that its FAQ is meant go together: the probability is
#: one half at MIDDLE, and SLOPE is that of the logistic curve. Measured on clinc150, a quarter of it out of scope
#: (docs/decisions/0031-matching-is-learned.md). All that reads a similarity reads what was learned by this.
MIDDLE, SLOPE = 0.52, 8.5
BENT = 0.9


class BrokenWeights(ValueError):
    """Stored weights cannot be read."""


def centre(vectors: "NDArray[np.float32]", mean: "NDArray[np.float32]") -> "NDArray[np.float32]":
    """Return vectors (n, d) less their mean, each of one length; the mean itself stays 0."""
    centred = vectors - mean
    lengths = np.linalg.norm(centred, axis=1, keepdims=True)
    scaled: NDArray[np.float32] = centred * (LENGTH / np.maximum(lengths, 1e-6))
    return scaled


@dataclass(frozen=True, slots=True)
class Curve:
    """Log odds that the FAQ with the best score is meant, linear in its score and in the cosine of its nearest phrasing
    (after Platt 1999)."""

    of_score: float
    of_cosine: float
    intercept: float

    def log_odds(self, score: float, cosine: float) -> float:
        return self.of_score * score + self.of_cosine * cosine + self.intercept


@dataclass(frozen=True, slots=True, eq=False)
class MatchClassifier:
    """Arrays of a fitted classifier.

    `mean` (d,) is taken from every vector. `directions` (k, d) and `offsets` (k,) are the logistic regression of
    `faqs` (k,), ids of FAQs or NO_FAQ. `asks` (n, d) are the unit vectors of all ways to ask, those of `faqs[i]` from
    `begins[i]` to `begins[i + 1]`.
    """

    mean: "NDArray[np.float32]"
    directions: "NDArray[np.float32]"
    offsets: "NDArray[np.float32]"
    faqs: "NDArray[np.int64]"
    asks: "NDArray[np.float16]"
    begins: "NDArray[np.int64]"
    curve: Curve

    def scores(self, vectors: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Return the score of each FAQ for each vector, of shape (n, k)."""
        scores: NDArray[np.float32] = centre(vectors, self.mean) @ self.directions.T + self.offsets
        return scores

    def nearest(self, vector: "NDArray[np.float32]", place: int) -> float:
        """Return the cosine of a vector and the nearest way to ask the FAQ at that place."""
        ways = self.asks[self.begins[place] : self.begins[place + 1]].astype(np.float32)
        return float((ways @ vector).max())

    def match(self, vector: "NDArray[np.float32]", *, most: int) -> list[tuple[int, float]]:
        """Return (FAQ, log odds that it is meant) of the `most` likeliest FAQs, likeliest first.

        FAQs that are less likely than that none is meant are left out. How near the likeliest one is to the question
        raises or lowers all alike.
        """
        scores = self.scores(vector[None])[0]
        least = scores[self.faqs == NO_FAQ].max(initial=-np.inf)
        first = np.argpartition(-scores, most)[:most] if most < len(scores) else np.arange(len(scores))
        order = first[np.argsort(-scores[first], kind="stable")]
        order = order[scores[order] > least]
        if not len(order):
            return []
        cosine = self.nearest(vector, int(order[0]))
        return [(int(self.faqs[place]), self.curve.log_odds(float(scores[place]), cosine)) for place in order]

    def dump(self) -> bytes:
        """Return it as bytes, the weights in half precision."""
        file = io.BytesIO()
        np.savez(
            file,
            mean=self.mean.astype(np.float16),
            directions=self.directions.astype(np.float16),
            offsets=self.offsets,
            faqs=self.faqs,
            asks=self.asks,
            begins=self.begins,
            curve=np.array([self.curve.of_score, self.curve.of_cosine, self.curve.intercept]),
        )
        return file.getvalue()

    @classmethod
    def load(cls, stored: bytes) -> Self:
        """Read what `dump` wrote. Raise BrokenWeights."""
        try:
            with np.load(io.BytesIO(stored), allow_pickle=False) as file:
                directions = file["directions"].astype(np.float32)
                found = cls(
                    file["mean"].astype(np.float32),
                    directions,
                    file["offsets"],
                    file["faqs"],
                    file["asks"],
                    file["begins"],
                    Curve(*map(float, file["curve"])),
                )
        except Exception as error:  # numpy and zipfile raise many kinds for damaged bytes
            raise BrokenWeights(f"{type(error).__name__} while reading stored weights") from error
        if directions.shape != (len(found.faqs), len(found.mean)) or not np.isfinite(directions).all():
            raise BrokenWeights("the arrays of stored weights do not fit together")
        return found


def probability(log_odds: float) -> float:
    return float(1 / (1 + np.exp(-np.clip(log_odds, -50, 50))))


def similarity_of(log_odds: float) -> float:
    """Return the similarity, 0 to 1, at which an FAQ's nearest phrasing makes it as likely that the FAQ is meant.

    From BENT on it approaches 1 ever more slowly, so that of two likely FAQs the likelier one stays first.
    """
    similarity = max(0.0, MIDDLE + log_odds / SLOPE)
    if similarity <= BENT:
        return similarity
    return 1 - (1 - BENT) * float(np.exp((BENT - similarity) / (1 - BENT)))


def probability_at(similarity: float) -> float:
    """Return how likely it is that an FAQ is meant whose nearest phrasing has that similarity."""
    return probability((similarity - MIDDLE) * SLOPE)
