"""Average-link clustering of unit vectors; pure.

Exact, without a matrix of all pairs: the mean cosine between two clusters is the product of their mean vectors, and
since average link is reducible, every pair of clusters that are each other's nearest may be joined in the same round
(RAC, Sumengen et al. 2021).
"""

from typing import TYPE_CHECKING

import numpy as np

from knowledge.inference.embedders.similarity import COMMON, Band

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Integers = NDArray[np.int64]

#: Rows of similarities at a time: with 10,000 clusters, 40 MB.
BLOCK = 1024


def average_link(vectors: "Floats", *, threshold: float) -> "Integers":
    """The cluster of each row, numbered from 0 in order of their first rows.

    `vectors` has unit rows, of shape (n, dimensions). Clusters are joined, the most similar ones first, as long as the
    mean cosine of their pairs is `threshold` or more. Ties go to what comes first, so equal input has equal output.
    """
    labels = np.arange(len(vectors))
    sums = np.array(vectors, dtype=np.float32)
    sizes = np.ones(len(vectors), dtype=np.float32)
    names = np.arange(len(vectors))  # of the clusters that may still be joined, by their first rows
    nearest, similarity = _nearest(sums, np.arange(len(sums)))
    while True:
        # What is far from all others stays so: a mean is never above its largest part.
        alive = similarity >= threshold
        if not alive.all():
            kept = np.flatnonzero(alive)
            place = np.full(len(alive), -1)
            place[kept] = np.arange(len(kept))
            names, sums, sizes, similarity = names[kept], sums[kept], sizes[kept], similarity[kept]
            nearest = place[nearest[kept]]
        if not len(names):
            break
        first, second = _reciprocal(nearest, similarity)
        labels = _renamed(labels, names[second], names[first])
        sums[first] += sums[second]
        sizes[first] += sizes[second]
        joined = np.zeros(len(names), dtype=bool)
        joined[first] = joined[second] = True
        stale = joined | (nearest < 0) | joined[nearest]
        kept = np.setdiff1d(np.arange(len(names)), second)
        place = np.full(len(names), -1)
        place[kept] = np.arange(len(kept))
        names, sums, sizes = names[kept], sums[kept], sizes[kept]
        nearest, similarity, stale = place[nearest[kept]], similarity[kept], stale[kept]
        rows = np.flatnonzero(stale)
        nearest[rows], similarity[rows] = _nearest(sums / sizes[:, None], rows)
    return np.unique(labels, return_inverse=True)[1]


def _nearest(means: "Floats", rows: "Integers") -> "tuple[Integers, Floats]":
    """For each of `rows` the most similar other cluster and how similar it is; -1 and -inf where there is none."""
    nearest = np.full(len(rows), -1)
    similarity = np.full(len(rows), -np.inf, dtype=np.float32)
    if len(means) < 2:
        return nearest, similarity
    for begin in range(0, len(rows), BLOCK):
        block = rows[begin : begin + BLOCK]
        products = means[block] @ means.T
        products[np.arange(len(block)), block] = -np.inf
        best = products.argmax(axis=1)
        nearest[begin : begin + BLOCK] = best
        similarity[begin : begin + BLOCK] = products[np.arange(len(block)), best]
    return nearest, similarity


def _reciprocal(nearest: "Integers", similarity: "Floats") -> "tuple[Integers, Integers]":
    """Pairs that are each other's nearest, the smaller first; the most similar pair where rounding hides them."""
    places = np.arange(len(nearest))
    first = np.flatnonzero((nearest[nearest] == places) & (places < nearest))
    if len(first):
        return first, nearest[first]
    best = int(similarity.argmax())
    pair = sorted((best, int(nearest[best])))
    return np.array(pair[:1]), np.array(pair[1:])


def _renamed(labels: "Integers", old: "Integers", new: "Integers") -> "Integers":
    names = np.arange(len(labels))
    names[old] = new
    return names[labels]


def in_similarity_of(band: Band, similarity: float) -> float:
    """The cosine that a model with this band has where all models have this similarity (`Scale.of_question`)."""
    return COMMON.questions.to(band, similarity)
