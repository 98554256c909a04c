"""Verdicts: is a question answered better or worse, and which questions matter most; pure."""

from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Truth:
    """The known right result: the documents (ids) that answer, and whether there is an answer at all."""

    accepted: AbstractSet[int] = frozenset()
    answerable: bool | None = None

    @property
    def should_answer(self) -> bool | None:
        return True if self.accepted else self.answerable


@dataclass(frozen=True, slots=True)
class Served:
    """A student's result: the documents (ids) given to the answer in their order, whether it abstains, and its
    text where it was worked out."""

    documents: tuple[int, ...]
    abstains: bool
    answer: str = ""


@dataclass(frozen=True, slots=True)
class Difference:
    """`severity` puts the questions that deserve the first look first; 0 where nothing changed."""

    verdict: Verdict
    sources: bool
    decision: bool
    answer: bool
    severity: int


def quality(served: Served, truth: Truth) -> tuple[float, ...] | None:
    """Rate an answer, the most important criterion first; return None if nobody knows what is right.

    The criteria are what it does (1 right, 0.5 abstains without need, 0 misleads), the reciprocal rank of the first
    accepted document among those given, and the share of the accepted ones that are given.
    """
    if truth.should_answer is None:
        return None
    ranks = [rank for rank, document in enumerate(served.documents, start=1) if document in truth.accepted]
    recall = len(ranks) / len(truth.accepted) if truth.accepted else 0.0
    return _deed(served, truth, found=bool(ranks)), 1 / ranks[0] if ranks else 0.0, recall


def _deed(served: Served, truth: Truth, *, found: bool) -> float:
    if not truth.should_answer:
        return 1.0 if served.abstains else 0.0
    if served.abstains:
        return 0.5
    return 0.0 if truth.accepted and not found else 1.0


def difference(before: Served, after: Served, truth: Truth) -> Difference:
    was, is_now = quality(before, truth), quality(after, truth)
    if was is None or is_now is None:
        verdict = Verdict.UNKNOWN
    elif was == is_now:
        verdict = Verdict.SAME
    else:
        verdict = Verdict.BETTER if is_now > was else Verdict.WORSE
    sources = before.documents != after.documents
    decision = before.abstains != after.abstains
    answer = before.answer != after.answer
    return Difference(verdict, sources, decision, answer, _severity(verdict, sources, decision, answer, after.abstains))


def _severity(verdict: Verdict, sources: bool, decision: bool, answer: bool, abstains: bool) -> int:
    """6 worse; then what nobody has judged: 5 no longer answered, 4 newly answered, 3 other sources, 2 another answer;
    1 better; 0 unchanged."""
    if verdict == Verdict.WORSE:
        return 6
    if verdict == Verdict.BETTER:
        return 1
    if decision:
        return 5 if abstains else 4
    if sources:
        return 3
    return 2 if answer else 0
