"""Fusion of rankings; pure."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from knowledge.retrieval.tuning import RRF_CONSTANT


class Fusion(StrEnum):
    """Settings by which several rankings become one."""

    RRF = "rrf"
    SCORES = "scores"


def weighted_rrf(runs: Iterable[Sequence[tuple[int, float]]], *, c: int = RRF_CONSTANT) -> dict[int, float]:
    """Fuse rankings by weighted reciprocal rank (Cormack et al. 2009): sums of weight / (c + rank), ranks from 1.

    Each run is a ranking of (id, weight). Returns the score of every id, highest first; ties in order of id, so that
    the order of the runs does not matter.
    """
    scores: dict[int, float] = {}
    for run in runs:
        for rank, (item, weight) in enumerate(run, start=1):
            scores.setdefault(item, 0.0)
            scores[item] += weight / (c + rank)
    return _highest_first(scores)


def weighted_scores(runs: Iterable[Sequence[tuple[int, float, float]]]) -> dict[int, float]:
    """Fuse rankings by a convex combination (Bruch et al. 2023): sums of weight × score / the run's best score.

    Each run is a ranking of (id, weight, score), best first; scores below 0 count as 0. Returns as `weighted_rrf`.
    """
    scores: dict[int, float] = {}
    for run in runs:
        best = max((score for _item, _weight, score in run), default=0.0)
        for item, weight, score in run:
            scores.setdefault(item, 0.0)
            if best > 0:
                scores[item] += weight * max(0.0, score) / best
    return _highest_first(scores)


def _highest_first(scores: Mapping[int, float]) -> dict[int, float]:
    # Rounded for the order only: float addition in another order differs in the last bits.
    return dict(sorted(scores.items(), key=lambda pair: (-round(pair[1], 12), pair[0])))
