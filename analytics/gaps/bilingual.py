"""Clusters of questions in English and German; pure.

Models put all texts of a language near one another, so a question is nearer to a stranger in its own language than to
its translation. Questions are therefore clustered within each language, and clusters of both are then brought together
on vectors less their language's mean (Libovický et al. 2020), where translations are closest again.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analytics.gaps.clustering import average_link
from analytics.gaps.translations import PAIRS

if TYPE_CHECKING:
    from collections.abc import Callable

    from analytics.gaps.clustering import Floats, Integers

#: Between the mean similarity of unrelated questions (0) and that of translations (1): where no two strangers of
#: `translations.PAIRS` would be joined. A wrong pair costs staff more than a missed one.
NEARNESS = 0.65


@dataclass(frozen=True, slots=True)
class Bridge:
    """Where a model's languages lie: the mean vector of each, and the least similarity of a pair across them."""

    means: "dict[str, Floats]"
    threshold: float

    def language_of(self, vector: "Floats") -> str:
        """Which language's mean is nearest: for a question without a word that tells."""
        return max(self.means, key=lambda language: float(vector @ _unit(self.means[language][None])[0]))


def measured_bridge(embed_questions: "Callable[[Sequence[str]], Floats]") -> Bridge:
    """Of a few questions and their translations."""
    texts = {"en": [english for english, _german in PAIRS], "de": [german for _english, german in PAIRS]}
    vectors = {language: embed_questions(of_it) for language, of_it in texts.items()}
    means = {language: of_it.mean(axis=0) for language, of_it in vectors.items()}
    products = _unit(vectors["en"] - means["en"]) @ _unit(vectors["de"] - means["de"]).T
    others = products[~np.eye(len(PAIRS), dtype=bool)].mean()
    return Bridge(means, float(others + NEARNESS * (np.diag(products).mean() - others)))


def clusters_of(vectors: "Floats", languages: Sequence[str], *, threshold: float, bridge: Bridge) -> "Integers":
    """The cluster of each row, numbered from 0 in order of their first rows.

    `vectors` has unit rows, of shape (n, dimensions), and each row is in one of the bridge's `languages`; `threshold`
    is a cosine within one language. A cluster is joined with the one of the other language where each is the other's
    nearest.
    """
    spoken = np.array(languages)
    labels = np.zeros(len(vectors), dtype=np.int64)
    means: dict[str, tuple[Integers, Floats]] = {}
    named = 0
    for language, mean in bridge.means.items():
        rows = np.flatnonzero(spoken == language)
        own = average_link(vectors[rows], threshold=threshold)
        count = int(own.max(initial=-1)) + 1
        sums = np.zeros((count, vectors.shape[1]), dtype=np.float32)
        np.add.at(sums, own, _unit(vectors[rows] - mean))
        sizes = np.bincount(own, minlength=count).astype(np.float32)
        means[language] = np.arange(named, named + count, dtype=np.int64), sums / sizes[:, None]
        labels[rows] = own + named
        named += count
    (english, first), (german, second) = means.values()
    if len(english) and len(german):
        products = first @ second.T
        there, back = products.argmax(axis=1), products.argmax(axis=0)
        places = np.arange(len(english))
        mutual = (back[there] == places) & (products[places, there] >= bridge.threshold)
        names = np.arange(named)
        names[german[there[mutual]]] = english[mutual]
        labels = names[labels]
    return in_order(labels)


def in_order(labels: "Integers") -> "Integers":
    """The same clusters, numbered from 0 in order of their first rows."""
    _names, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    ordered: Integers = np.argsort(np.argsort(first))[inverse]
    return ordered


def centroid_of(vectors: "Floats") -> "Floats":
    """The unit vector in the middle."""
    middle: Floats = _unit(vectors.mean(axis=0, keepdims=True))[0]
    return middle


def _unit(vectors: "Floats") -> "Floats":
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    units: Floats = (vectors / np.maximum(lengths, 1e-9)).astype(np.float32)
    return units
