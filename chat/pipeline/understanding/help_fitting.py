"""Fit the classifier of cries for help to the examples."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from chat.pipeline.understanding.example_classifier import ExampleClassifier
from chat.pipeline.understanding.example_fitting import fit_examples
from chat.pipeline.understanding.help_examples import fingerprint_of_examples, load_help_examples
from knowledge.retrieval.query_vectors import multilingual_vectors

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: Chosen on ordinary questions of public data sets (`docs/decisions/0023-cries-for-help.md`).
C, GAMMA = 2.0, 0.07
#: The least sum of kernels of a cry for help: with it 4 of 700 students' questions raise an alarm.
THRESHOLD = -0.305


def fit_classifier(embed: "Callable[[list[str]], NDArray[np.float32]]" = multilingual_vectors) -> ExampleClassifier:
    """Return a classifier fitted to all examples; it takes half a minute, nearly all of it for their vectors."""
    examples = load_help_examples()
    return fit_examples(
        embed([each.text for each in examples]),
        [each.kind for each in examples],
        c=C,
        gamma=GAMMA,
        threshold=THRESHOLD,
        fitted_from=fingerprint_of_examples(),
    )
