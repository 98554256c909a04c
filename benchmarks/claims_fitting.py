"""Fit the weights of the check of sentences (`chat/pipeline/verification/fitted.npz`) to a file of judged sentences."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from chat.pipeline.verification.classifier import ClaimClassifier, Strictness
from chat.pipeline.verification.verify import VETOES

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a feature may say: that the sentence is supported, or that it is not. One of neither is not weighed, because the
#: wording of a file's sentences would teach that plain words are false and free ones true.
FOR = ("coverage", "own_coverage", "both_negated", "denial_agrees", "pole_agreements", "margin", "similarity")
NEUTRAL = frozenset(
    {
        "length", "unit_length", "is_cell", "has_vector", "left_out", "left_out_count", "figures", "figures_left_out",
        "answer_no_unit_plain", "approximate", "dropped_bounds", "permitted_there", "forbidden_there", "obliged_there",
        "exempt_there", "advised_there", "condition_there", "exception_there",
    }
)  # fmt: skip
#: Strength of the penalty on large weights, and the share of false sentences that each strictness lets pass.
PENALTY = 4.0
PASSING = {Strictness.STRICT: 0.025, Strictness.BALANCED: 0.08, Strictness.LENIENT: 0.15}
HARD = ("figure", "date", "amount_in_words", "polarity", "bound", "modality")
FOLDS = 8


def fit(
    rows: Sequence[dict[str, Any]], features: Sequence[dict[str, float]]
) -> tuple[ClaimClassifier, "NDArray[np.float64]"]:
    """Return the classifier fitted to all rows, and each row's score by one fitted without its passage."""
    names = sorted(name for name in features[0] if name not in NEUTRAL)
    matrix = np.array([[each[name] for name in names] for each in features])
    supported = np.array([row["supported"] for row in rows])
    passages = sorted({row["passage"] for row in rows})
    fold = np.array([_fold(passages.index(row["passage"])) for row in rows])
    hard = np.array([row["kind"] in HARD for row in rows])
    scores = np.zeros(len(rows))
    for number in range(FOLDS):
        kept = fold != number
        weights, offset = _regress(names, matrix[kept], supported[kept])
        scores[~kept] = 1 / (1 + np.exp(-(matrix[~kept] @ weights + offset)))
    weights, offset = _regress(names, matrix, supported)
    vetoed = np.array([any(each[name] for name in VETOES) for each in features])
    scores[vetoed] = 0.0
    thresholds = {level.value: float(np.quantile(scores[hard], 1 - share)) for level, share in PASSING.items()}
    return ClaimClassifier(tuple(names), weights, offset, thresholds), scores


def _fold(number: int) -> int:
    return number % FOLDS


def _regress(
    names: Sequence[str], matrix: "NDArray[np.float64]", supported: "NDArray[np.bool_]"
) -> tuple["NDArray[np.float64]", float]:
    """Return weights and offset of a logistic regression whose weights keep their sign."""
    from scipy.optimize import minimize

    scale = matrix.std(axis=0) + 1e-9
    scaled = matrix / scale
    target = np.where(supported, 1.0, -1.0)
    share = np.where(supported, 0.5 / supported.mean(), 0.5 / (1 - supported.mean()))
    bounds = [(0.0, None) if name in FOR else (None, 0.0) for name in names] + [(None, None)]

    def loss(parameters: "NDArray[np.float64]") -> tuple[float, "NDArray[np.float64]"]:
        weights, offset = parameters[:-1], parameters[-1]
        margin = target * (scaled @ weights + offset)
        lost = share * np.logaddexp(0, -margin)
        slope = -share * target / (1 + np.exp(margin))
        gradient = np.append(scaled.T @ slope + PENALTY * 2 * weights, slope.sum())
        return float(lost.sum() + PENALTY * weights @ weights), gradient

    found = minimize(loss, np.zeros(len(names) + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    return found[:-1] / scale, float(found[-1])
