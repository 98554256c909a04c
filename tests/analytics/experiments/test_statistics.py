"""When an experiment is decided, how often wrongly, and how many conversations it needs."""

import numpy as np
import pytest

from analytics.experiments import statistics
from analytics.experiments.statistics import (
    LEVEL,
    Plan,
    Rule,
    Tally,
    Verdict,
    bounds,
    conversations_needed,
    decide,
    inflation,
    is_surely_worse,
    spent,
)

Days = list[tuple[Tally, Tally]]


def simulated(chance: np.random.Generator, plan: Plan, now: float, other: float, days: int = 25) -> Days:
    """Days of which the planned conversations come in twenty."""
    found = []
    for _day in range(days):
        begun = chance.poisson(plan.needed / 20)
        split = chance.binomial(begun, plan.share)
        counted = chance.binomial([begun - split, split], [now, other])
        found.append((Tally(begun - split, int(counted[0])), Tally(int(split), int(counted[1]))))
    return found


def test_bounds_are_those_of_the_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lan and DeMets' bounds of O'Brien and Fleming's kind, five looks, two sides, 5 %: as R's ldbounds has them."""
    monkeypatch.setattr(statistics, "LEVEL", 0.05)
    found = bounds([0.2, 0.4, 0.6, 0.8, 1.0])
    assert found == pytest.approx([4.8769, 3.3569, 2.6803, 2.2898, 2.0310], abs=0.0005)


def test_the_whole_level_is_spent_at_the_end_and_next_to_nothing_at_the_beginning() -> None:
    assert spent(1) == pytest.approx(LEVEL / 2)
    assert spent(0.05) < 1e-6
    assert 1 < inflation() < 1.06


@pytest.mark.parametrize("rule", list(Rule))
@pytest.mark.parametrize("share", [0.5, 0.2])
def test_experiments_without_a_difference_seldom_name_a_winner_and_planted_ones_are_found(
    rule: Rule, share: float
) -> None:
    chance = np.random.default_rng(5)
    plan = Plan(rule, conversations_needed(rule, 0.6, 0.1, share), share)
    ended = [decide(simulated(chance, plan, 0.6, 0.6), plan) for _ in range(150)]
    assert sum(each is None or each.verdict is not Verdict.NONE for each in ended) <= 12
    found = [decide(simulated(chance, plan, 0.6, 0.7), plan) for _ in range(150)]
    right = sum(each is not None and each.verdict is Verdict.OTHER for each in found)
    assert right >= 105  # of 120 that are expected


def test_a_fixed_plan_says_nothing_before_its_end_and_a_sequential_one_where_it_is_clear() -> None:
    clear = [(Tally(100, 30), Tally(100, 90))]
    assert decide(clear, Plan(Rule.FIXED, 1000, 0.5)) is None
    early = decide(clear, Plan(Rule.SEQUENTIAL, 1000, 0.5))
    assert early is not None
    assert (early.verdict, early.days) == (Verdict.OTHER, 1)
    assert 0 < early.low < early.difference < early.high
    at_the_end = decide(clear * 5, Plan(Rule.FIXED, 1000, 0.5))
    assert at_the_end is not None
    assert (at_the_end.verdict, at_the_end.days) == (Verdict.OTHER, 5)


def test_what_comes_after_the_decision_changes_nothing() -> None:
    plan = Plan(Rule.SEQUENTIAL, 1000, 0.5)
    days = [(Tally(100, 30), Tally(100, 90))]
    assert decide([*days, (Tally(900, 900), Tally(900, 0))], plan) == decide(days, plan)


def test_an_arm_without_a_conversation_or_all_alike_decide_nothing() -> None:
    plan = Plan(Rule.SEQUENTIAL, 100, 0.5)
    assert decide([], plan) is None
    assert decide([(Tally(500, 500), Tally())], plan) is None
    alike = decide([(Tally(50, 50), Tally(50, 50))], plan)
    assert alike is not None
    assert alike.verdict is Verdict.NONE


def test_more_is_needed_for_smaller_differences_and_unequal_shares() -> None:
    equal = conversations_needed(Rule.FIXED, 0.6, 0.05, 0.5)
    assert conversations_needed(Rule.FIXED, 0.6, 0.025, 0.5) > 3.8 * equal
    assert conversations_needed(Rule.FIXED, 0.6, 0.05, 0.1) > 2.5 * equal
    assert conversations_needed(Rule.FIXED, 1.0, 0.05, 0.5) > 0
    assert conversations_needed(Rule.FIXED, 0.5, 0.5, 0.01) > 0


def test_a_guard_rail_breaks_where_the_other_arm_is_surely_worse_and_seldom_by_chance() -> None:
    assert is_surely_worse(Tally(100, 5), Tally(100, 50), 0.05)
    assert not is_surely_worse(Tally(100, 50), Tally(100, 5), 0.05)
    assert not is_surely_worse(Tally(20, 0), Tally(20, 20), 0.05)
    assert not is_surely_worse(Tally(1000, 100), Tally(1000, 150), 0.05)
    chance = np.random.default_rng(3)
    broken = 0
    for _try in range(200):
        steps = chance.binomial(20, [[0.1, 0.15]] * 60).cumsum(axis=0)  # at its margin, asked 60 times
        broken += any(
            is_surely_worse(Tally(20 * n, int(now)), Tally(20 * n, int(other)), 0.05)
            for n, (now, other) in enumerate(steps, start=1)
        )
    assert broken <= 6
