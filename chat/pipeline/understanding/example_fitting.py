"""Fit a classifier of messages to example sentences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from chat.models import ORDINARY
from chat.pipeline.understanding.example_classifier import ExampleClassifier

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Vectors are centred and stretched by so much: their distances lie around 5 then, where the kernel tells them apart.
SCALE = 10.0


def fit_examples(
    vectors: "NDArray[np.float32]",
    kinds: Sequence[str],
    *,
    c: float,
    gamma: float,
    threshold: float,
    fitted_from: str,
) -> ExampleClassifier:
    """Return a classifier of the kinds that are not ORDINARY; `vectors` is (n, d), one a kind of `kinds`.

    `c` and `gamma` are those of the support vector machine, `threshold` the least sum of its kernels.
    """
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    names = np.array(kinds)
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    is_wanted = names != ORDINARY
    machine = SVC(C=c, gamma=gamma).fit(centred * SCALE, is_wanted)
    regression = LogisticRegression(max_iter=3000).fit(centred[is_wanted] * SCALE, names[is_wanted])
    return ExampleClassifier(
        mean=mean,
        support=centred[machine.support_],
        lengths=(centred[machine.support_] ** 2).sum(axis=1),
        weights=machine.dual_coef_[0].astype(np.float32),
        gamma=gamma * SCALE**2,
        threshold=threshold - float(machine.intercept_[0]),
        directions=(regression.coef_ * SCALE).astype(np.float32),
        offsets=regression.intercept_.astype(np.float32),
        kinds=tuple(map(str, regression.classes_)),
        fitted_from=fitted_from,
    )
