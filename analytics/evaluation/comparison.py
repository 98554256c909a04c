"""Comparison of two runs on the same questions, with significance tests."""

from collections.abc import Sequence
from dataclasses import dataclass

from analytics.evaluation.metrics.ranking import MEASURES, bonferroni, means, randomisation_p
from analytics.models import EvaluationRun, QuestionResult

#: Measures on which a difference between profiles is tested.
TESTED = ("mrr", "recall@5")


@dataclass(frozen=True, slots=True)
class Flip:
    """A question whose first right document moved; a rank of None: it was not found."""

    question: str
    before: int | None
    after: int | None

    @property
    def is_better(self) -> bool:
        return self.after is not None and (self.before is None or self.after < self.before)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`p_values` are of paired randomisation tests, times the number of tests."""

    before: str
    after: str
    means: tuple[dict[str, float], dict[str, float]]
    p_values: dict[str, float]
    flips: Sequence[Flip]


def compare(before: EvaluationRun, after: EvaluationRun, *, comparisons: int = 1) -> Comparison:
    """Compare two runs; `comparisons` is the number of pairs of profiles tested, for the Bonferroni correction."""
    old, new = (_results(run) for run in (before, after))
    shared = sorted(old.keys() & new.keys())
    tests = comparisons * len(TESTED)
    p_values = {
        name: bonferroni(
            randomisation_p([old[pk].measures[name] for pk in shared], [new[pk].measures[name] for pk in shared]), tests
        )
        for name in TESTED
        if shared
    }
    flips = [
        Flip(old[pk].question.text, _rank(old[pk]), _rank(new[pk])) for pk in shared if _rank(old[pk]) != _rank(new[pk])
    ]
    flips.sort(key=lambda flip: (flip.is_better, -abs((flip.before or 101) - (flip.after or 101))))
    both = (
        means({str(pk): old[pk].measures for pk in shared}),
        means({str(pk): new[pk].measures for pk in shared}),
    )
    return Comparison(before.profile, after.profile, both, p_values, flips)


def _results(run: EvaluationRun) -> dict[int, QuestionResult]:
    rows = QuestionResult.objects.filter(run=run).select_related("question").defer("answer")
    return {row.question_id: row for row in rows if row.measures.keys() >= MEASURES.keys()}


def _rank(result: QuestionResult) -> int | None:
    reciprocal = result.measures["mrr"]
    return round(1 / reciprocal) if reciprocal else None
