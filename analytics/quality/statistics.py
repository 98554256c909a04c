"""The statistics of judged samples: agreement of two judges, and whether fewer answers are right than before; pure."""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

#: The normal quantile of a two-sided interval of 95 %.
Z = 1.96
#: The newest nights that are compared with those before: a great drop shows in two, a smaller one in a week or four.
WINDOWS = (2, 7, 28)
#: Nights before a window that it is compared with, and the answers that these need.
EARLIER_NIGHTS, LEAST_EARLIER = 56, 50
#: The p-value at which a drop is noticed. In a simulated year without one it gives less than two notices.
ALARM = 0.004
#: The p-value at which a drop is over.
OVER = 0.1


@dataclass(frozen=True, slots=True)
class Kappa:
    """Cohen's kappa with its interval of 95 %; `agreed` is the share of items of one mind."""

    value: float
    low: float
    high: float
    agreed: float
    items: int


def cohens_kappa(pairs: Sequence[tuple[Hashable, Hashable]]) -> Kappa | None:
    """Return the agreement of the first and the second judge of each item, beyond that of chance.

    The standard error is that of Fleiss, Cohen and Everitt (1969). None without items, or if both gave one and the same
    verdict to all: then chance explains everything.
    """
    count = len(pairs)
    if not count:
        return None
    first, second = (Counter(side) for side in zip(*pairs, strict=True))
    agreed = sum(one == other for one, other in pairs) / count
    by_chance = sum(first[name] * second[name] for name in first) / count**2
    if by_chance == 1:
        return None
    value = (agreed - by_chance) / (1 - by_chance)
    cells = Counter(pairs)
    spread = 0.0
    for (one, other), times in cells.items():
        marginal = (second[one] + first[other]) / count
        term = ((1 - by_chance) - (marginal * (1 - agreed))) if one == other else -(marginal * (1 - agreed))
        spread += times / count * term**2
    variance = (spread - (agreed * by_chance - 2 * by_chance + agreed) ** 2) / (count * (1 - by_chance) ** 4)
    error = Z * math.sqrt(max(0.0, variance))
    return Kappa(value, max(-1.0, value - error), min(1.0, value + error), agreed, count)


@dataclass(frozen=True, slots=True)
class Night:
    """The judged answers of a night, and how many of them are right."""

    right: int
    judged: int


@dataclass(frozen=True, slots=True)
class Drop:
    """The shares of right answers in the last `nights` and in those before."""

    nights: int
    share: float
    before: float


def find_drop(nights: Sequence[Night], *, level: float = ALARM) -> Drop | None:
    """Return the drop that the newest nights show, oldest night first; the shortest window that shows one.

    The test is Fisher's exact one, one-sided: how often so few of the right answers would fall into the window by
    chance. With five answers a night two nights show a fall from nine right of ten to three of ten, with twenty to six.
    """
    for window in WINDOWS:
        recent, earlier = nights[-window:], nights[-window - EARLIER_NIGHTS : -window]
        now, then = _added(recent), _added(earlier)
        if len(recent) < window or then.judged < LEAST_EARLIER or not now.judged:
            continue
        if fisher_less(now, then) <= level:
            return Drop(window, now.right / now.judged, then.right / then.judged)
    return None


def fisher_less(now: Night, then: Night) -> float:
    """Return the probability that `now` has so few right answers or fewer, given how many both have together."""
    right, judged = now.right + then.right, now.judged + then.judged
    ways = _log_choose(judged, now.judged)
    least = max(0, now.judged - (judged - right))
    return min(
        1.0,
        sum(
            math.exp(_log_choose(right, k) + _log_choose(judged - right, now.judged - k) - ways)
            for k in range(least, now.right + 1)
        ),
    )


def _added(nights: Sequence[Night]) -> Night:
    return Night(sum(each.right for each in nights), sum(each.judged for each in nights))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
