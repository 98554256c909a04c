"""Merging rankings; pure."""

from collections.abc import Iterable, Sequence


def weighted_rrf(runs: Iterable[Sequence[tuple[int, float]]], *, c: int = 60) -> dict[int, float]:
    """Weighted reciprocal rank fusion (Cormack et al. 2009): the sum of weight / (c + rank), ranks from 1.

    Each run is a ranking of (id, weight). Returns the score of every id, highest first; ties in order of id, so
    that the order of the runs does not matter.
    """
    scores: dict[int, float] = {}
    for run in runs:
        for rank, (item, weight) in enumerate(run, start=1):
            scores.setdefault(item, 0.0)
            scores[item] += weight / (c + rank)
    # Rounded for the order only: float addition in another order differs in the last bits.
    return dict(sorted(scores.items(), key=lambda pair: (-round(pair[1], 12), pair[0])))
