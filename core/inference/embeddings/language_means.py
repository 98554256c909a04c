"""Vectors of the multilingual model without what all texts of their language have in common.

multilingual-e5-small puts texts of one language near each other, whatever they say: a German question is closer to
most German sentences than to the English one that answers it. Without the mean vectors of their languages, texts are
compared by what they say (Libovický, Rosa and Fraser 2020, On the Language Neutrality of Pre-trained Multilingual
Representations). `manage.py fit_kind_classifier` measures the means on its ordinary examples.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEASURED = Path(__file__).parent / "language_means.npz"


def centre(vectors: "NDArray[np.float32]", languages: Sequence[str | None]) -> "NDArray[np.float32]":
    """Return unit vectors, of shape (n, 384), without the means of their languages, one for each, as unit vectors.

    A language without a mean, or an unknown one, has the mean of those that have one.
    """
    means = load_means()
    between: NDArray[np.float32] = np.stack(list(means.values())).mean(axis=0)
    left = vectors - np.stack([means.get(language or "", between) for language in languages])
    centred: NDArray[np.float32] = left / np.linalg.norm(left, axis=1, keepdims=True)
    return centred


def save_means(means: "Mapping[str, NDArray[np.float32]]") -> None:
    """Store the mean vector of each language."""
    languages = sorted(means)
    np.savez(MEASURED, languages=np.array(languages), means=np.stack([means[language] for language in languages]))


@cache
def load_means() -> "dict[str, NDArray[np.float32]]":
    """Return the mean vector of each language that has one, of shape (384,)."""
    with np.load(MEASURED) as measured:
        return dict(zip(map(str, measured["languages"]), measured["means"], strict=True))
