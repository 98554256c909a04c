"""Simulates experiments with the product's own decision: how often one without a difference names a winner, how often a
planted difference is found, and how many conversations that takes.

A day has a random number of conversations, split by chance. Guard rails are left out: they name no winner. They are
simulated apart, at their margin and without a difference, asked every night for a hundred nights.
"""

from typing import Any

import numpy as np

from analytics.experiments.statistics import Plan, Rule, Tally, Verdict, conversations_needed, decide, is_surely_worse
from benchmarks.measuring import say, table

#: The share now, the difference that is planned for, and the other arm's share of conversations.
PLANS = ((0.6, 0.05, 0.5), (0.85, 0.05, 0.5), (0.6, 0.1, 0.2))
EXPERIMENTS, DAYS, NIGHTS, A_NIGHT = 1000, 21, 100, 50
#: The share of the arm as now that a guard rail counts, and that of the other one.
GUARDED = ((0.1, 0.1), (0.1, 0.15), (0.1, 0.25))
MARGIN = 0.05


def measure(quick: bool) -> dict[str, Any]:
    count = 100 if quick else EXPERIMENTS
    rows = [simulate(rule, *plan, count) for rule in Rule for plan in PLANS]
    table(tuple(rows[0]), [tuple(row.values()) for row in rows])
    guards = [simulate_guard(*shares, count) for shares in GUARDED]
    say()
    table(tuple(guards[0]), [tuple(row.values()) for row in guards])
    return {"experiments": rows, "guards": guards}


def simulate(rule: Rule, now: float, difference: float, share: float, count: int) -> dict[str, Any]:
    plan = Plan(rule, conversations_needed(rule, now, difference, share), share)
    chance = np.random.default_rng(0)
    without = [run(chance, plan, now, now) for _ in range(count)]
    up = [run(chance, plan, now, now + difference) for _ in range(count)]
    down = [run(chance, plan, now, now - difference) for _ in range(count)]
    return {
        "rule": rule.value,
        "share now": now,
        "difference": difference,
        "arms": f"{1 - share:.0%} / {share:.0%}",
        "planned": plan.needed,
        "winners without a difference": sum(verdict is not Verdict.NONE for verdict, _used in without),
        "found, better": round(sum(verdict is Verdict.OTHER for verdict, _used in up) / count, 3),
        "found, worse": round(sum(verdict is Verdict.NOW for verdict, _used in down) / count, 3),
        "conversations, without": round(float(np.mean([used for _verdict, used in without]))),
        "conversations, with": round(float(np.mean([used for _verdict, used in up]))),
    }


def run(chance: np.random.Generator, plan: Plan, now: float, other: float) -> tuple[Verdict, int]:
    """Return the verdict of one experiment, and how many conversations it took."""
    days = []
    while (decision := decide(days, plan)) is None:
        days = [*days, *(day(chance, plan, now, other) for _ in range(DAYS * 2))]
    used = days[: decision.days]
    return decision.verdict, sum(one.all + two.all for one, two in used)


def day(chance: np.random.Generator, plan: Plan, now: float, other: float) -> tuple[Tally, Tally]:
    begun = chance.poisson(plan.needed / DAYS)
    split = chance.binomial(begun, plan.share)
    good = chance.binomial([begun - split, split], [now, other])
    return Tally(int(begun - split), int(good[0])), Tally(int(split), int(good[1]))


def simulate_guard(now: float, other: float, count: int) -> dict[str, Any]:
    """Count the experiments that a guard rail ends, and after how many nights."""
    chance = np.random.default_rng(1)
    ended = []
    for _try in range(count):
        counted = chance.binomial(A_NIGHT, [[now, other]] * NIGHTS).cumsum(axis=0)
        nights = (
            night
            for night, (one, two) in enumerate(counted, start=1)
            if is_surely_worse(Tally(A_NIGHT * night, int(one)), Tally(A_NIGHT * night, int(two)), MARGIN)
        )
        ended.append(next(nights, None))
    found = [night for night in ended if night is not None]
    return {
        "counted now": now,
        "in the other arm": other,
        "margin": MARGIN,
        "ended": round(len(found) / count, 3),
        "nights, median": round(float(np.median(found))) if found else None,
        f"after so many nights of {A_NIGHT} an arm": NIGHTS,
    }
