"""The levels of headings: what bookmarks tell of others that look alike, else larger above smaller; pure."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from statistics import median

from knowledge.ingest.pdf.candidates import Candidate, Cluster
from knowledge.ingest.pdf.numbering import RANK

#: Headings go no deeper.
DEEPEST = 4
#: What stands on one level: headings numbered alike (kind, depth), or ones without a number that look alike.
Tier = tuple[str, int] | tuple[float, bool]


def known_levels(candidates: Sequence[Candidate], told: Mapping[int, int]) -> dict[Cluster, int]:
    """Levels of the looks that bookmarks have told of; `told` has a level by a heading's first line."""
    votes: dict[Cluster, Counter[int]] = defaultdict(Counter)
    for candidate in candidates:
        if level := told.get(candidate.start):
            votes[candidate.cluster][level] += 1
            votes["", 0, *candidate.lines[0].style][level] += 1
    return {cluster: levels.most_common(1)[0][0] for cluster, levels in votes.items()}


def levels_of(candidates: Sequence[Candidate], known: Mapping[Cluster, int]) -> dict[Cluster, int]:
    """A level for every cluster: larger letters stand above smaller ones, shorter numbers above longer ones."""
    sizes = _sizes(candidates)
    items = _listlike(sizes)
    clusters = {candidate.cluster for candidate in candidates}
    sections = {cluster for cluster in clusters if cluster[:2] not in items}
    tier_of = _tiers(candidates, sections)
    level_of: dict[Tier, int] = {}
    level = 0
    for tier in _ordered(set(tier_of.values()), sizes):
        told = next((known[cluster] for cluster in known if _own_tier(cluster) == tier), None)
        level = level_of[tier] = min(DEEPEST, level + 1) if told is None else told
    return {
        cluster: min(DEEPEST, known.get(cluster, level_of[tier_of[cluster]])) if cluster in sections else DEEPEST
        for cluster in clusters
    }


def _sizes(candidates: Sequence[Candidate]) -> dict[tuple[str, int], float]:
    """The usual size of the letters, by the way of numbering."""
    sizes: dict[tuple[str, int], list[float]] = defaultdict(list)
    for candidate in candidates:
        if candidate.kind:
            sizes[candidate.kind, candidate.depth].append(candidate.size)
    return {numbered: median(values) for numbered, values in sizes.items()}


def _listlike(sizes: Mapping[tuple[str, int], float]) -> set[tuple[str, int]]:
    """Bold items of a numbered list: they are smaller than the sections that they stand in."""
    numbers = {depth: size for (kind, depth), size in sizes.items() if kind == "number"}
    return {
        ("number", depth)
        for depth, size in numbers.items()
        if any(deeper > depth and larger > size + 0.3 for deeper, larger in numbers.items())
    }


def _own_tier(cluster: Cluster) -> Tier:
    kind, depth, size, bold = cluster
    return (kind, depth) if kind else (size, bold)


def _tiers(candidates: Sequence[Candidate], clusters: set[Cluster]) -> dict[Cluster, Tier]:
    """Each cluster's tier; a heading without a number that looks like numbered ones has theirs."""
    numbered = Counter(c.cluster for c in candidates if c.kind and c.cluster in clusters)
    looks: dict[Tier, Tier] = {}
    for (kind, depth, size, bold), _count in numbered.most_common():
        looks.setdefault((size, bold), (kind, depth))
    return {
        cluster: _own_tier(cluster) if cluster[0] else looks.get(_own_tier(cluster), _own_tier(cluster))
        for cluster in clusters
    }


def _ordered(tiers: set[Tier], sizes: Mapping[tuple[str, int], float]) -> list[Tier]:
    """From the highest to the lowest."""

    def height(tier: Tier) -> tuple[float, int, int]:
        if isinstance(tier[0], str):
            return -sizes[tier[0], tier[1]], RANK[tier[0]], tier[1]
        return -tier[0], len(RANK) + 1 - tier[1], 0

    order = sorted(tiers, key=height)
    # Numbers count on from the shortest one, whatever their letters' sizes are.
    slots = [index for index, tier in enumerate(order) if tier[0] == "number"]
    numbers = sorted((order[slot] for slot in slots), key=lambda tier: tier[1])
    for slot, tier in zip(slots, numbers, strict=True):
        order[slot] = tier
    return order
