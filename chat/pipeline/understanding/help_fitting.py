"""Fit the classifier of cries for help to the examples."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from chat.pipeline.understanding.help_classifier import HelpClassifier
from chat.pipeline.understanding.help_examples import ORDINARY, fingerprint_of_examples, load_examples
from knowledge.retrieval.query_vectors import multilingual_vectors

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: Vectors are centred and stretched by so much: their distances lie around 5 then, where the kernel tells them apart.
SCALE = 10.0
#: Chosen on ordinary questions of public data sets (`docs/decisions/0023-cries-for-help.md`).
C, GAMMA = 1.0, 0.07
#: The least sum of kernels of a cry for help: with it one of 1,000 ordinary questions raises an alarm.
THRESHOLD = 0.16


def fit_classifier(embed: "Callable[[list[str]], NDArray[np.float32]]" = multilingual_vectors) -> HelpClassifier:
    """Return a classifier fitted to all examples; it takes half a minute, nearly all of it for their vectors."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.svm import SVC

    examples = load_examples()
    vectors = embed([each.text for each in examples])
    kinds = np.array([each.kind for each in examples])
    mean = vectors.mean(axis=0)
    centred = vectors - mean
    is_help = kinds != ORDINARY
    machine = SVC(C=C, gamma=GAMMA).fit(centred * SCALE, is_help)
    regression = LogisticRegression(max_iter=3000).fit(centred[is_help] * SCALE, kinds[is_help])
    return HelpClassifier(
        mean=mean,
        support=centred[machine.support_],
        lengths=(centred[machine.support_] ** 2).sum(axis=1),
        weights=machine.dual_coef_[0].astype(np.float32),
        gamma=GAMMA * SCALE**2,
        threshold=THRESHOLD - float(machine.intercept_[0]),
        directions=(regression.coef_ * SCALE).astype(np.float32),
        offsets=regression.intercept_.astype(np.float32),
        kinds=tuple(map(str, regression.classes_)),
        fitted_from=fingerprint_of_examples(),
    )
