"""Fit the weights of the check of sentences (`chat/pipeline/verification`) to a file of judged sentences."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from chat.pipeline.verification.classifier import ClaimClassifier, Judge, Strictness
from chat.pipeline.verification.verify import VETOES

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: What a feature may say: that the sentence is supported, or that it is not. One of neither is not weighed, because the
#: wording of a file's sentences would teach that plain words are false and free ones true.
ENTAILMENT = "entailment"
FOR = (
    *("coverage", "own_coverage", "both_negated", "denial_agrees", "pole_agreements", "margin", "similarity"),
    ENTAILMENT,
)
NEUTRAL = frozenset(
    {
        "length", "unit_length", "is_cell", "has_vector", "left_out", "left_out_count", "figures", "figures_left_out",
        "answer_no_unit_plain", "approximate", "dropped_bounds", "permitted_there", "forbidden_there", "obliged_there",
        "exempt_there", "advised_there", "condition_there", "exception_there",
    }
)  # fmt: skip
#: Strength of the penalty on large weights, and the share of false sentences that each strictness lets pass.
PENALTY = 4.0
PASSING = {Strictness.STRICT: 0.03, Strictness.BALANCED: 0.08, Strictness.LENIENT: 0.15}
#: The share that the facts let pass where the entailment model has to agree.
PASSING_FACTS = {Strictness.STRICT: 0.125, Strictness.BALANCED: 0.2, Strictness.LENIENT: 0.25}
HARD = ("figure", "date", "amount_in_words", "polarity", "bound", "modality")
FOLDS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Fitted:
    """Holds the fitted classifiers, and the results of cross-validation by passage for the rows that are unseen.

    `shown` says which of them pass, by strictness. `scores` are those of the last judge.
    """

    classifiers: Mapping[Judge, ClaimClassifier]
    shown: "Mapping[Strictness, NDArray[np.bool_]]"
    scores: "NDArray[np.float64]"


def fit(
    rows: Sequence[dict[str, Any]],
    features: Sequence[dict[str, float]],
    is_unseen: "NDArray[np.bool_]",
    *,
    words_only: bool,
) -> Fitted:
    """Fit the facts' weights to all rows; those of both judges, and all thresholds, to what `is_unseen` marks.

    The entailment model learned from the other rows, so what it says of them is no measure.
    """
    hard = np.array([row["kind"] in HARD for row in rows])[is_unseen]
    vetoed = np.array([any(each[name] for name in VETOES) for each in features])

    def least(scores: "NDArray[np.float64]", shares: Mapping[Strictness, float]) -> dict[Strictness, float]:
        return {level: float(np.quantile(scores[hard], 1 - share)) for level, share in shares.items()}

    def judge(
        names: Sequence[str], chosen: "NDArray[np.bool_]"
    ) -> "tuple[NDArray[np.float64], NDArray[np.float64], float]":
        places = np.flatnonzero(chosen)
        scores, weights, offset = _cross_validate([rows[n] for n in places], [features[n] for n in places], names)
        return np.where(vetoed[places], 0.0, scores)[is_unseen[places]], weights, offset

    names = sorted(name for name in features[0] if name not in NEUTRAL | {ENTAILMENT})
    scores, weights, offset = judge(names, np.ones(len(rows), bool))
    strict = least(scores, PASSING)
    if words_only:
        words = ClaimClassifier(tuple(names), weights, offset, {level.value: strict[level] for level in Strictness})
        return Fitted({Judge.WORDS: words}, {level: scores >= strict[level] for level in Strictness}, scores)
    loose = least(scores, PASSING_FACTS)
    thresholds = {level.value: loose[level] for level in Strictness}
    facts = ClaimClassifier(tuple(names), weights, offset, thresholds)
    both_names = [*names, ENTAILMENT]
    both_scores, weights, offset = judge(both_names, is_unseen)
    shown, thresholds = {}, {}
    for level, share in PASSING.items():
        allowed = scores >= loose[level]
        thresholds[level.value] = float(np.quantile(np.where(allowed, both_scores, 0.0)[hard], 1 - share))
        shown[level] = allowed & (both_scores >= thresholds[level.value])
    both = ClaimClassifier(tuple(both_names), weights, offset, thresholds)
    return Fitted({Judge.FACTS: facts, Judge.ENTAILMENT: both}, shown, both_scores)


def _cross_validate(
    rows: Sequence[dict[str, Any]], features: Sequence[dict[str, float]], names: Sequence[str]
) -> "tuple[NDArray[np.float64], NDArray[np.float64], float]":
    """Return each row's score by weights fitted without its passage; then weights and offset fitted to all rows."""
    matrix = np.array([[each[name] for name in names] for each in features])
    supported = np.array([row["supported"] for row in rows])
    passages = sorted({row["passage"] for row in rows})
    fold = np.array([_fold(passages.index(row["passage"])) for row in rows])
    scores = np.zeros(len(rows))
    for number in range(FOLDS):
        kept = fold != number
        weights, offset = _regress(names, matrix[kept], supported[kept])
        scores[~kept] = 1 / (1 + np.exp(-(matrix[~kept] @ weights + offset)))
    return scores, *_regress(names, matrix, supported)


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
