"""The priority of a gap; pure."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

#: After so many days a visitor counts half: a deadline that has passed loses its priority within a month.
HALF_LIFE_DAYS = 14.0
#: Share by which a new gap gains, and one that nobody asks about any more loses.
TREND_SHARE = 0.5
WEEK = timedelta(days=7)


@dataclass(frozen=True, slots=True)
class Priority:
    """Distinct visitors: in all, in the last 7 days, and in the 7 before."""

    visitors: int
    this_week: int
    week_before: int
    weight: float


def compute_priority(asked: Iterable[tuple[Hashable, datetime]], *, now: datetime) -> Priority:
    """Compute the priority of a gap from (visitor, time) pairs.

    The weight is the sum over visitors of 2^(-age / HALF_LIFE_DAYS), with the age of each one's last question in days,
    times 1 + TREND_SHARE * (a - b) / (a + b), with a visitors in the last 7 days and b in the 7 before.
    """
    asked = list(asked)
    last: dict[Hashable, datetime] = {}
    for visitor, at in asked:
        last[visitor] = max(at, last.get(visitor, at))
    this_week = len({visitor for visitor, at in asked if at > now - WEEK})
    week_before = len({visitor for visitor, at in asked if now - 2 * WEEK < at <= now - WEEK})
    recent = sum(0.5 ** (max(now - at, timedelta()).total_seconds() / 86_400 / HALF_LIFE_DAYS) for at in last.values())
    both = this_week + week_before
    trend = (this_week - week_before) / both if both else 0.0
    return Priority(len(last), this_week, week_before, recent * (1 + TREND_SHARE * trend))
