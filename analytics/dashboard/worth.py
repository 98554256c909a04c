"""Savings and costs of a period's answers under staff's assumptions; pure but for reading those."""

from dataclasses import dataclass

from analytics.dashboard.types import Totals
from analytics.models import Assumptions

MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Worth:
    """`minutes` of work are saved; `cost` and what a conversation costs are in `currency`. None: not known."""

    minutes: float | None
    cost: float | None
    cost_a_conversation: float | None
    currency: str


def read_assumptions() -> Assumptions:
    """Return the assumptions in force: those that nobody has changed yet need no row."""
    return Assumptions.objects.first() or Assumptions(pk=1)


def weigh(totals: Totals, assumed: Assumptions) -> Worth:
    """Say what this was worth. Each resolved conversation counts once, however many questions it had."""
    minutes = None if totals.resolved is None else totals.resolved * float(assumed.minutes)
    prices = float(assumed.read_price), float(assumed.written_price)
    if not any(prices):
        return Worth(minutes, None, None, assumed.currency)
    cost = (totals.prompt_tokens * prices[0] + totals.answer_tokens * prices[1]) / MILLION
    return Worth(minutes, cost, cost / totals.conversations if totals.conversations else None, assumed.currency)
