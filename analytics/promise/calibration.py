"""The evidence threshold that keeps a promise about wrong answers, from answers of known outcome; pure.

The loss of a question at a threshold is 1 if its answer is shown there and wrong, else 0, so the risk is the share of
wrong answers among all questions, abstentions included. It can only fall as the threshold rises.

Two forms. Conformal risk control (Angelopoulos, Bates, Fisch, Lei and Schuster 2022) holds on average: over many
calibrations the expected share is at most the promise. Learn then Test (Angelopoulos, Bates, Candès, Jordan and Lei
2021), here with exact binomial p-values and fixed-sequence testing, holds for this calibration: with a probability of
1 − `MISS` the share is at most the promise. Both need that the outcomes are a random sample of what is asked.
"""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

#: How often the high-probability form may fail.
MISS = 0.1
#: Thresholds are multiples of this one, fixed before any outcome is seen.
STEP = 0.01


class Form(StrEnum):
    """Kinds of promise: about the expected share, or about the share with a probability of 1 − `MISS`."""

    MEAN = "mean"
    PROBABLE = "probable"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A question of the sample: from which threshold on its answer is not shown, and whether that answer is wrong.

    `score` is its evidence, and infinite for an answer that no threshold holds back. For a question that was abstained
    from `is_wrong` is False: nothing wrong was shown.
    """

    score: float
    is_wrong: bool
    is_shown: bool = True


@dataclass(frozen=True, slots=True)
class Point:
    """A threshold with the shares, from 0 to 1, of all questions that are answered wrongly and that are answered."""

    threshold: float
    wrong: float
    answered: float


def grid(lowest: float) -> list[float]:
    """Return the thresholds from `lowest` to 1, in rising order.

    What was asked at one threshold says nothing about lower ones, whose answers nobody saw.
    """
    first = math.ceil(round(lowest / STEP, 6))
    steps = [round(step * STEP, 6) for step in range(first, round(1 / STEP) + 1)]
    return steps if steps and steps[0] == round(lowest, 6) else [lowest, *steps]


def curve(outcomes: Sequence[Outcome], thresholds: Sequence[float]) -> list[Point]:
    """Return the shares at each threshold; without outcomes they are 0."""
    count = max(1, len(outcomes))
    shown = sorted(each.score for each in outcomes if each.is_shown)
    wrong = sorted(each.score for each in outcomes if each.is_shown and each.is_wrong)

    def share(scores: list[float], threshold: float) -> float:
        return (len(scores) - bisect_left(scores, threshold)) / count

    return [Point(each, share(wrong, each), share(shown, each)) for each in thresholds]


def least_outcomes(promise: float, form: Form) -> int:
    """Return how many outcomes a promise (0 to 1) needs if none of them is wrong."""
    if form is Form.MEAN:
        return math.ceil(round(1 / promise - 1, 9))
    return math.ceil(round(math.log(MISS) / math.log1p(-promise), 9))


def outcomes_to_keep(wrong: float, promise: float, form: Form, *, most: int = 5000) -> int | None:
    """Return how many outcomes allow a threshold whose share of wrong answers is `wrong`.

    None: the share is too close to the promise, or above it, for `most` outcomes.
    """
    if wrong >= promise:
        return None
    return next(
        (n for n in range(least_outcomes(promise, form), most + 1) if is_kept(math.ceil(wrong * n), n, promise, form)),
        None,
    )


def is_kept(wrong: int, count: int, promise: float, form: Form) -> bool:
    """Return whether `wrong` of `count` outcomes support the promise."""
    if form is Form.MEAN:
        return (wrong + 1) / (count + 1) <= promise
    return binomial_cdf(wrong, count, promise) <= MISS


def choose_threshold(outcomes: Sequence[Outcome], promise: float, form: Form, *, lowest: float) -> float | None:
    """Return the lowest threshold on the grid that keeps the promise; None if there is none.

    From the highest threshold down, the last before the first that is not supported: for the mean the loss is
    monotone, and for the probable form fixed-sequence testing spends nothing on further tests that way.
    """
    found = None
    for point in reversed(curve(outcomes, grid(lowest))):
        if not is_kept(round(point.wrong * len(outcomes)), len(outcomes), promise, form):
            break
        found = point.threshold
    return found


def binomial_cdf(successes: int, count: int, share: float) -> float:
    """Return the probability of at most so many successes; `share` lies between 0 and 1."""
    if successes >= count:
        return 1.0
    logs = math.log(share), math.log1p(-share)
    total = 0.0
    for k in range(successes + 1):
        chosen = math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1)
        total += math.exp(chosen + k * logs[0] + (count - k) * logs[1])
    return min(1.0, total)
