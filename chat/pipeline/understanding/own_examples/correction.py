"""Corrects a classifier of messages near further examples.

It is a regression with a Gaussian kernel over what the classifier lacks: at each example as much as makes it right, and
nothing at those examples of the classifier's own that are nearest to it on the other side. Far from all of them the
classifier decides as before. Why it is not fitted anew as a whole, and the figures, are in
`docs/decisions/0028-kinds-of-messages.md`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from chat.models import ORDINARY
from chat.pipeline.understanding.example_classifier import ExampleClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]

#: Width of the kernel over unit vectors: from a squared distance of 0.25, as between unlike messages, nothing is left.
GAMMA = 10.0
#: Score of an example, and lead of its kind over the others, at the least.
MARGIN = 1.0
#: Examples of the classifier's own beside each further one that stay as they are.
KEPT = 2
#: How far an example may be missed for the sake of others near it.
NOISE = 0.05


@dataclass(frozen=True, slots=True, eq=False)
class CorrectedClassifier:
    """A classifier with its corrections: `weights` (n, 1 + k) of the score and of each kind, at `points` (n, d)."""

    base: ExampleClassifier
    points: "Floats"
    weights: "Floats"

    def recognise(self, vector: "Floats") -> str | None:
        """Return the kind of a message; None for every ordinary message."""
        of_score, *of_kinds = _kernel(vector[None], self.points)[0] @ self.weights
        if self.base.score(vector) + of_score < 0:
            return None
        return self.base.kinds[int(np.argmax(self.base.compare(vector) + of_kinds))]


def correct(base: ExampleClassifier, vectors: "Floats", kinds: Sequence[str]) -> CorrectedClassifier:
    """Return the classifier corrected at examples (n, d) with their kinds (n,): some of the base's, or ORDINARY."""
    points = np.vstack((vectors, _neighbours(base, vectors, kinds)))
    lacking = np.zeros((len(points), 1 + len(base.kinds)), dtype=np.float32)
    for row, (vector, kind) in enumerate(zip(vectors, kinds, strict=True)):
        score = base.score(vector)
        if kind == ORDINARY:
            lacking[row, 0] = min(-MARGIN - score, 0)
            continue
        lacking[row, 0] = max(MARGIN - score, 0)
        own, likely = base.kinds.index(kind), base.compare(vector)
        lacking[row, 1 + own] = max(np.delete(likely, own).max() + MARGIN - likely[own], 0)
    weights = np.linalg.solve(_kernel(points, points) + NOISE * np.eye(len(points), dtype=np.float32), lacking)
    return CorrectedClassifier(base, points, weights.astype(np.float32))


def _neighbours(base: ExampleClassifier, vectors: "Floats", kinds: Sequence[str]) -> "Floats":
    """Return the base's own examples of the other side that are nearest to each one."""
    distances = base.lengths - 2 * (vectors - base.mean) @ base.support.T  # without the example's own length
    is_question = np.array([kind == ORDINARY for kind in kinds])
    distances[is_question[:, None] == (base.weights < 0)] = np.inf
    nearest = np.argpartition(distances, KEPT, axis=1)[:, :KEPT]
    found: Floats = base.support[np.unique(nearest)] + base.mean
    return found


def _kernel(some: "Floats", others: "Floats") -> "Floats":
    distances = (some**2).sum(axis=1)[:, None] + (others**2).sum(axis=1) - 2 * some @ others.T
    found: Floats = np.exp(-GAMMA * np.maximum(distances, 0))
    return found
