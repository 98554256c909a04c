"""The measured replies of a run as one table; pure. A reply is what `analytics.evaluation.answers.runner` stores of
it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np

from analytics.evaluation.metrics.answers import MEASURES
from analytics.evaluation.metrics.selectivity import Decision, curve, selectivity

TIMES = ("seconds", "first_token_seconds")
#: Groups of questions, in the order of a table's columns.
GROUPS: Mapping[str, "Callable[[Answered], bool]"] = {
    "all": lambda each: True,
    "answerable": lambda each: each.answerable is True,
    "unanswerable": lambda each: each.answerable is False,
    "single_turn": lambda each: not each.is_follow_up,
    "follow_up": lambda each: each.is_follow_up,
}


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with its replies; `without_history` are those to it alone, where that was asked for."""

    answerable: bool | None
    is_follow_up: bool
    replies: Sequence[Mapping[str, Any]]
    without_history: Sequence[Mapping[str, Any]]
    perplexity: float | None

    def decisions(self, *, with_history: bool = True) -> list[Decision]:
        """Empty where nobody said whether it can be answered."""
        return [
            Decision(self.answerable, not reply["declined"], reply["evidence"])
            for reply in (self.replies if with_history else self.without_history)
            if self.answerable is not None
        ]


def summed_up(answered: Sequence[Answered], *, memory: bool) -> dict[str, Any]:
    """Return groups, selectivity and its curve, and the memory test of SyllabusRAG if it was made."""
    decisions = [decision for each in answered for decision in each.decisions()]
    found: dict[str, Any] = {name: group([each for each in answered if fits(each)]) for name, fits in GROUPS.items()}
    found["selectivity"] = selectivity(decisions)
    found["selectivity_curve"] = curve(decisions)
    if memory:
        follow_ups = [each for each in answered if each.is_follow_up]
        found["memory"] = memory_test(follow_ups)
    return found


def group(answered: Sequence[Answered]) -> dict[str, Any]:
    """Average over questions the means of their replies, of those with a value; percentiles are over replies."""
    return _row([each.replies for each in answered], [each.perplexity for each in answered])


def memory_test(follow_ups: Sequence[Answered]) -> dict[str, Any]:
    """Follow-up questions with and without what was said before, and the difference the history makes."""
    both = [
        _row([each.replies if is_with else each.without_history for each in follow_ups], [])
        | selectivity([one for each in follow_ups for one in each.decisions(with_history=is_with)])
        for is_with in (True, False)
    ]
    names = [name for name in both[0] if name not in {"questions", *TIMES}]
    return {
        "with_history": both[0],
        "without_history": both[1],
        "difference": {name: _minus(both[0][name], both[1][name]) for name in names},
    }


def average_replies(replies: Sequence[Mapping[str, Any]]) -> dict[str, float | None]:
    """Average the measures of one question's replies."""
    return {name: _mean([reply["measures"][name] for reply in replies]) for name in MEASURES}


def _row(by_question: Sequence[Sequence[Mapping[str, Any]]], perplexities: Sequence[float | None]) -> dict[str, Any]:
    replies = [reply for each in by_question for reply in each]
    of_questions = [average_replies(each) for each in by_question]
    row: dict[str, Any] = {
        "questions": len(by_question),
        "answered": _mean([float(not reply["declined"]) for reply in replies]),
        "abstained": _mean([float(reply["abstained"]) for reply in replies]),
        **{name: _mean([values[name] for values in of_questions]) for name in MEASURES},
    }
    row["perplexity"] = _mean(perplexities)
    for name in TIMES:
        row[name] = _percentiles([reply[name] for reply in replies if reply[name] is not None])
    return row


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


def _minus(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else one - other


def _percentiles(values: Sequence[float]) -> dict[str, float | None]:
    if not values:
        return {"p50": None, "p95": None}
    return {"p50": float(np.median(values)), "p95": float(np.percentile(values, 95))}
