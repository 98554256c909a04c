"""The threshold that keeps a promise: conformal risk control, and Learn then Test."""

import math
import random

import pytest

from analytics.promise.calibration import (
    Form,
    Outcome,
    binomial_cdf,
    choose_threshold,
    curve,
    grid,
    is_kept,
    least_outcomes,
    outcomes_to_keep,
)


def asked(chance: random.Random, count: int) -> list[Outcome]:
    """Return questions whose answer is wrong the more often the less evidence it has: half of them at none."""
    scores = [chance.random() for _ in range(count)]
    return [Outcome(score, is_wrong=chance.random() > 0.5 + score / 2) for score in scores]


def true_risk(threshold: float | None) -> float:
    """Return the share of all questions that are answered wrongly: the integral of (1 - s) / 2 from the threshold."""
    return 0.0 if threshold is None else (1 - threshold) ** 2 / 4


def test_thresholds_begin_where_answers_were_seen() -> None:
    assert grid(0.4)[:3] == [0.4, 0.41, 0.42]
    assert grid(0.405)[:2] == [0.405, 0.41]
    assert grid(0.0)[0] == 0.0
    assert grid(1.0) == [1.0]


def test_the_risk_counts_wrong_answers_among_all_questions() -> None:
    outcomes = [Outcome(0.9, is_wrong=False), Outcome(0.5, is_wrong=True), Outcome(0.2, is_wrong=False, is_shown=False)]
    at_low, at_high = curve(outcomes, [0.4, 0.6])
    assert (at_low.wrong, at_low.answered) == (1 / 3, 2 / 3)
    assert (at_high.wrong, at_high.answered) == (0, 1 / 3)


def test_a_promise_needs_so_many_verdicts_at_least() -> None:
    assert [least_outcomes(share, Form.MEAN) for share in (0.05, 0.1, 0.01)] == [19, 9, 99]
    assert [least_outcomes(share, Form.PROBABLE) for share in (0.05, 0.1, 0.01)] == [45, 22, 230]
    for form in Form:
        for share in (0.01, 0.05, 0.1, 0.2):
            needed = least_outcomes(share, form)
            assert is_kept(0, needed, share, form)
            assert not is_kept(0, needed - 1, share, form)


def test_how_many_verdicts_keep_a_threshold_with_some_wrong_answers() -> None:
    needed = outcomes_to_keep(0.03, 0.05, Form.PROBABLE)
    assert needed is not None
    assert is_kept(math.ceil(0.03 * needed), needed, 0.05, Form.PROBABLE)
    assert outcomes_to_keep(0.05, 0.05, Form.MEAN) is None
    assert outcomes_to_keep(0.0499, 0.05, Form.PROBABLE, most=200) is None


def test_the_binomial_distribution_is_exact() -> None:
    assert binomial_cdf(0, 10, 0.5) == pytest.approx(0.5**10)
    assert binomial_cdf(2, 5, 0.3) == pytest.approx(0.83692)
    assert binomial_cdf(5, 5, 0.3) == 1.0


def test_without_verdicts_enough_there_is_no_threshold() -> None:
    few = [Outcome(0.9, is_wrong=False)] * 18
    assert choose_threshold(few, 0.05, Form.MEAN, lowest=0.4) is None
    assert choose_threshold([*few, few[0]], 0.05, Form.MEAN, lowest=0.4) == 0.4


def test_wrong_answers_that_nothing_holds_back_break_the_promise() -> None:
    outcomes = [Outcome(0.9, is_wrong=False)] * 90 + [Outcome(math.inf, is_wrong=True)] * 10
    assert choose_threshold(outcomes, 0.05, Form.MEAN, lowest=0.4) is None


def test_a_lower_threshold_is_never_tried_behind_one_that_fails() -> None:
    outcomes = [Outcome(0.8, is_wrong=True)] * 10 + [Outcome(0.5, is_wrong=False)] * 90
    assert choose_threshold(outcomes, 0.05, Form.PROBABLE, lowest=0.4) == 0.81


def test_on_average_the_promise_is_kept_and_nearly_used_up() -> None:
    chance = random.Random(1)
    chosen = [choose_threshold(asked(chance, 200), 0.05, Form.MEAN, lowest=0.0) for _ in range(400)]
    mean = sum(map(true_risk, chosen)) / len(chosen)
    assert 0.04 < mean <= 0.05


def test_with_learn_then_test_at_most_a_tenth_of_calibrations_exceed_the_promise() -> None:
    chance = random.Random(2)
    chosen = [choose_threshold(asked(chance, 200), 0.05, Form.PROBABLE, lowest=0.0) for _ in range(400)]
    assert sum(true_risk(each) > 0.05 for each in chosen) / len(chosen) <= 0.1
