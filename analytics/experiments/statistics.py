"""The statistics of experiments: how many conversations a plan needs, when it is decided, and guard rails; pure.

Two rules. *Fixed*: one test of two shares, when all planned conversations are there. *Sequential*: up to `LOOKS` tests
on the way, whose level is spent as O'Brien and Fleming's bounds do, at whatever times the looks come (Lan and DeMets
1983). Bounds are found by integrating step by step (Armitage, McPherson and Rowe 1969). The plan grows by `inflation`,
so that its power stays.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from statistics import NormalDist
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

#: How often an experiment without a difference may end with a winner, both sides together. Below 5 %, which is what is
#: promised: tests of shares exceed their level by some tenths, and a promise is kept in each thousand, not on average.
LEVEL = 0.04
POWER = 0.8
#: Looks of the sequential rule at most; one comes once a further twentieth of the plan is there.
LOOKS = 20
#: The probability that a guard rail ends arms that are no worse than its margin, whenever one looks.
GUARD_LEVEL = 0.01
#: Conversations of each arm from which on guard rails are looked at; the bound rests on a normal approximation.
LEAST_GUARDED = 30
#: The excess over the margin that the guard rails' bound is sharpest for.
GUARD_SCALE = 0.05
#: Beyond it lies nothing that a computer's numbers tell apart.
FARTHEST = 8.0
NORMAL = NormalDist()


class Rule(StrEnum):
    """When an experiment is decided."""

    FIXED = "fixed"
    SEQUENTIAL = "sequential"


class Verdict(StrEnum):
    """The arm that is better, if any was shown to be."""

    NOW = "now"
    OTHER = "other"
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Tally:
    """Conversations of an arm, and those of them that are counted."""

    all: int = 0
    counted: int = 0

    def __add__(self, other: "Tally") -> "Tally":
        return Tally(self.all + other.all, self.counted + other.counted)

    @property
    def share(self) -> float:
        return self.counted / self.all if self.all else 0.0


@dataclass(frozen=True, slots=True)
class Plan:
    """The rule, the conversations of both arms together that it was planned for, and the other arm's share of them."""

    rule: Rule
    needed: int
    share: float

    @property
    def information(self) -> float:
        return self.needed * self.share * (1 - self.share)


@dataclass(frozen=True, slots=True)
class Decision:
    """The verdict after the first `days`, and the difference (other less now) with its interval."""

    verdict: Verdict
    days: int
    difference: float
    low: float
    high: float


def conversations_needed(rule: Rule, baseline: float, difference: float, share: float) -> int:
    """Return how many conversations find a difference of shares with a probability of `POWER`, up or down."""
    ways = [other for other in (baseline + difference, baseline - difference) if 0 <= other <= 1]
    fixed = max((_needed(baseline, other, share) for other in ways), default=_needed(baseline, 0.5, share))
    return math.ceil(fixed * (inflation() if rule is Rule.SEQUENTIAL else 1))


def _needed(now: float, other: float, share: float) -> float:
    mean = (1 - share) * now + share * other
    without = math.sqrt(mean * (1 - mean) / (share * (1 - share)))
    planted = math.sqrt(now * (1 - now) / (1 - share) + other * (1 - other) / share)
    both = _quantile(1 - LEVEL / 2) * without + _quantile(POWER) * planted
    return (both / (other - now)) ** 2 if other != now else math.inf


def decide(days: Sequence[tuple[Tally, Tally]], plan: Plan) -> Decision | None:
    """Return what the days, oldest first, decide; None as long as nothing may be said.

    Each day has the tallies of the arm as now and of the other one. What came after the day of the decision does not
    change it, so it does not matter when somebody looks.
    """
    looks, latest = Looks(), 0.0
    now, other = Tally(), Tally()
    for count, (more_now, more_other) in enumerate(days, start=1):
        now, other = now + more_now, other + more_other
        if not now.all or not other.all:
            continue
        time = min(1.0, _information(now, other) / plan.information)
        is_last = time >= 1
        if not is_last and (plan.rule is Rule.FIXED or time < latest + 1 / LOOKS):
            continue
        latest = time
        bound = _quantile(1 - LEVEL / 2) if plan.rule is Rule.FIXED else looks.take(time)[0]
        z = _z(now, other)
        if abs(z) >= bound or is_last:
            verdict = Verdict.NONE if abs(z) < bound else Verdict.OTHER if z > 0 else Verdict.NOW
            return Decision(verdict, count, *interval(now, other, bound))
    return None


def interval(now: Tally, other: Tally, bound: float) -> tuple[float, float, float]:
    """Return the difference of shares (other less now) and its interval of so many standard errors."""
    spread = bound * math.sqrt(_variance(now) + _variance(other))
    difference = other.share - now.share
    return difference, max(-1.0, difference - spread), min(1.0, difference + spread)


def is_surely_worse(now: Tally, other: Tally, margin: float) -> bool:
    """Return whether more of the other arm is counted, by more than the margin, however often one asks.

    The bound is Robbins' mixture (1970), as in Johari, Koomen, Pekelis and Walsh (2022).
    """
    excess = other.share - now.share - margin
    if min(now.all, other.all) < LEAST_GUARDED or excess <= 0:
        return False
    variance, scale = _variance(now) + _variance(other), GUARD_SCALE**2
    total = variance + scale
    evidence = math.log(variance / total) / 2 + scale * excess**2 / (2 * variance * total)
    return evidence >= -math.log(GUARD_LEVEL)


def _variance(tally: Tally) -> float:
    """Return the variance of a share; one more of each kind, so that none is taken for certain."""
    share = (tally.counted + 1) / (tally.all + 2)
    return share * (1 - share) / tally.all


def _information(now: Tally, other: Tally) -> float:
    return now.all * other.all / (now.all + other.all)


def _z(now: Tally, other: Tally) -> float:
    mean = (now + other).share
    spread = math.sqrt(mean * (1 - mean) / _information(now, other))
    return (other.share - now.share) / spread if spread else 0.0


def spent(time: float) -> float:
    """Return how much of one side's level may be spent until a time from 0 to 1."""
    return 2 * (1 - NORMAL.cdf(_quantile(1 - LEVEL / 4) / math.sqrt(time)))


def bounds(times: Sequence[float]) -> list[float]:
    """Return the z from which on each look ends the experiment; both sides alike."""
    looks = Looks()
    return [looks.take(time)[0] for time in times]


@lru_cache(maxsize=1)
def inflation() -> float:
    """Return how many times the fixed rule's conversations the sequential one needs for the same power."""
    times = tuple((look + 1) / LOOKS for look in range(LOOKS))
    fixed = _quantile(1 - LEVEL / 2) + _quantile(POWER)
    low, high = fixed, 2 * fixed
    for _step in range(30):
        drift = (low + high) / 2
        looks = Looks(drift)
        power = sum(looks.take(time)[1] for time in times)
        low, high = (drift, high) if power < POWER else (low, drift)
    return (high / fixed) ** 2


class Looks:
    """The looks so far: how probable it is that an experiment goes on at which value, and the level that is spent."""

    def __init__(self, drift: float = 0.0) -> None:
        self._drift = drift
        self._time = self._level = 0.0
        self._places = np.zeros(1)
        # Weighted densities of what goes on, without and with the drift.
        self._plain = self._moved = np.ones(1)

    def take(self, time: float) -> tuple[float, float]:
        """Return a look's bound, and the probability with the drift that the upper one is first reached there."""
        nodes, weights = _nodes()
        step, drift = math.sqrt(time - self._time), self._drift * (time - self._time)
        may = spent(time) - self._level
        edge = _edge(self._places, self._plain, step, may, FARTHEST * math.sqrt(time))
        crossed = _beyond(self._places + drift, self._moved, step, edge)
        distance = (nodes * edge)[:, None] - self._places
        self._plain = weights * edge * (_density(distance, step) @ self._plain)
        self._moved = weights * edge * (_density(distance - drift, step) @ self._moved)
        self._places, self._time, self._level = nodes * edge, time, self._level + may
        return edge / math.sqrt(time), crossed


def _edge(places: "NDArray[np.float64]", density: "NDArray[np.float64]", step: float, may: float, top: float) -> float:
    """Return the place beyond which lies as much as may be spent."""
    low, high = 0.0, top
    for _step in range(36):
        edge = (low + high) / 2
        low, high = (edge, high) if _beyond(places, density, step, edge) > may else (low, edge)
    return high


def _beyond(places: "NDArray[np.float64]", density: "NDArray[np.float64]", step: float, edge: float) -> float:
    scaled = (edge - places) / (step * math.sqrt(2))
    return float(density @ np.array([math.erfc(each) for each in scaled])) / 2


def _density(distance: "NDArray[np.float64]", step: float) -> "NDArray[np.float64]":
    found: NDArray[np.float64] = np.exp(-((distance / step) ** 2) / 2) / (step * math.sqrt(2 * math.pi))
    return found


@lru_cache(maxsize=1)
def _nodes() -> "tuple[NDArray[np.float64], NDArray[np.float64]]":
    nodes, weights = np.polynomial.legendre.leggauss(101)
    return nodes, weights


def _quantile(probability: float) -> float:
    return NORMAL.inv_cdf(probability)
