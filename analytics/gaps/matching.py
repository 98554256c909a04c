"""Matching of new clusters with known gaps; pure."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats


@dataclass(frozen=True, slots=True)
class Identity:
    """`kept` is cluster -> gap, each at most once. `merged` is gap -> the cluster that took most of its questions, for
    gaps that are no cluster's any more; `split` is cluster -> the gap that most of its old questions were in, for
    clusters that are new."""

    kept: Mapping[int, int]
    merged: Mapping[int, int]
    split: Mapping[int, int]


def identify(
    clusters: Sequence[Set[int]],
    centroids: "Sequence[Floats]",
    gaps: Mapping[int, Set[int]],
    gap_centroids: "Mapping[int, Floats]",
    *,
    threshold: float,
    settled: Mapping[int, int] | None = None,
) -> Identity:
    """Most shared questions first, then, where none is shared, by the cosine of centroids, `threshold` at least.

    `clusters` and `gaps` hold ids of questions, `gap_centroids` those of gaps that can be compared; `settled` is
    cluster -> gap where that is known before. Ties go to the older gap, then to the first cluster.
    """
    owner = {question: gap for gap, questions in gaps.items() for question in questions}
    shared: dict[tuple[int, int], int] = {}
    for cluster, questions in enumerate(clusters):
        for question in questions:
            if (gap := owner.get(question)) is not None:
                shared[cluster, gap] = shared.get((cluster, gap), 0) + 1
    by_count = sorted(shared, key=lambda pair: (-shared[pair], pair[1], pair[0]))
    kept = dict(settled or {})
    goes_on = set(kept.values())
    for cluster, gap in by_count:
        if cluster not in kept and gap not in goes_on:
            kept[cluster] = gap
            goes_on.add(gap)
    split: dict[int, int] = {}
    merged: dict[int, int] = {}
    for cluster, gap in by_count:
        if cluster not in kept:
            split.setdefault(cluster, gap)
        if gap not in goes_on:
            merged.setdefault(gap, cluster)
    sharing = {*kept, *split}
    taken = goes_on | merged.keys()
    near = [
        (float(centroid @ gap_centroids[gap]), gap, cluster)
        for cluster, centroid in enumerate(centroids)
        if cluster not in sharing
        for gap in gap_centroids
        if gap not in taken
    ]
    for cosine, gap, cluster in sorted(near, key=lambda each: (-each[0], each[1], each[2])):
        if cosine >= threshold and cluster not in kept and gap not in goes_on:
            kept[cluster] = gap
            goes_on.add(gap)
    return Identity(kept, merged, split)
