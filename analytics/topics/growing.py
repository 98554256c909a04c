"""Topics that grow: new questions join the topics that there are, or each other; pure.

It is the clustering of the gaps (`analytics.gaps.clustering`), begun where the night before ended: what is in a topic
in one language is one cluster from the start. So a topic keeps its identity, and a night takes as long as its new
questions.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analytics.gaps.clustering import Bridge, average_link, find_translations, in_order

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats, Integers


@dataclass(frozen=True, slots=True)
class Grown:
    """`labels` is the cluster of each question, from 0 in order of their first; `topics` is the topic of each cluster
    that goes on with one, and `joined` topic -> the topic that it was joined to."""

    labels: "Integers"
    topics: Mapping[int, int]
    joined: Mapping[int, int]


def grow(
    vectors: "Floats",
    languages: Sequence[str],
    topics: Sequence[int | None],
    *,
    threshold: float,
    bridge: Bridge,
    kept: Collection[int] = (),
    parts: Mapping[int, int] | None = None,
) -> Grown:
    """Cluster all questions, each of which is in one of `topics` or in none yet.

    `vectors` has unit rows, of shape (n, dimensions), each in one of the bridge's `languages`; `threshold` is a cosine
    within one language. Topics that are as near to each other as their own questions are joined, the smaller to the
    larger; two that are `kept` never are. `parts` is row -> topic for what staff joined to one although it lies apart:
    questions that come near it belong to that topic.
    """
    sets = _Sets(Counter(topic for topic in topics if topic is not None), kept)
    nodes = np.array(_nodes(vectors, languages, topics, sets), dtype=np.int64)
    for language in bridge.means:
        rows = np.flatnonzero(np.array(languages) == language)
        _join_near(vectors[rows], nodes[rows], threshold, sets)
    for row, topic in (parts or {}).items():
        if sets.find(int(nodes[row])) < 0:
            sets.join(topic, int(nodes[row]))
    roots = np.array([sets.find(node) for node in nodes.tolist()], dtype=np.int64)
    for first, second in find_translations(vectors, languages, roots, bridge):
        sets.join(first, second)
    roots = np.array([sets.find(node) for node in nodes.tolist()], dtype=np.int64)
    labels = in_order(roots)
    of_label = dict(zip(labels.tolist(), roots.tolist(), strict=True))
    known = {topic for topic in topics if topic is not None}
    return Grown(
        labels,
        {label: root for label, root in of_label.items() if root >= 0},
        {topic: root for topic in known if (root := sets.find(topic)) != topic},
    )


def _nodes(vectors: "Floats", languages: Sequence[str], topics: Sequence[int | None], sets: "_Sets") -> list[int]:
    """Return the topic of each question, or a number of its own; the same question is compared once."""
    keys = [(language, vector.tobytes()) for language, vector in zip(languages, vectors, strict=True)]
    known = {key: topic for key, topic in zip(keys, topics, strict=True) if topic is not None}
    nodes = []
    for key, topic in zip(keys, topics, strict=True):
        if topic is None and key not in known:
            known[key] = sets.add()
        nodes.append(known[key] if topic is None else topic)
    return nodes


def _join_near(vectors: "Floats", nodes: "Integers", threshold: float, sets: "_Sets") -> None:
    """Join the questions and topics of one language."""
    if not len(nodes):
        return
    names, of_row = np.unique(nodes, return_inverse=True)
    sizes = np.bincount(of_row).astype(np.float32)
    means = np.zeros((len(names), vectors.shape[1]), dtype=np.float32)
    np.add.at(means, of_row, vectors)
    means /= sizes[:, None]
    # In the order of their size, so that among equals what is large comes first.
    order = np.lexsort((np.abs(names), -sizes))
    names, means, sizes = names[order], means[order], sizes[order]
    clusters: dict[int, list[int]] = defaultdict(list)
    for place, label in enumerate(average_link(means, threshold=threshold, sizes=sizes).tolist()):
        clusters[label].append(place)
    for places in clusters.values():
        held = [place for place in places if sets.is_kept(int(names[place]))]
        for place in places:
            # Of several that are kept, the nearest takes what is near them.
            to = max(held, key=lambda at: float(means[at] @ means[place])) if held else places[0]
            sets.join(int(names[to]), int(names[place]))


class _Sets:
    """Topics by their ids, and questions without one by numbers below 0, in sets with one topic at the head."""

    def __init__(self, sizes: Mapping[int, int], kept: Collection[int]) -> None:
        self._sizes, self._kept = dict(sizes), frozenset(kept)
        self._parent: dict[int, int] = {}
        self._added = 0

    def add(self) -> int:
        self._added += 1
        return -self._added

    def is_kept(self, node: int) -> bool:
        return node in self._kept

    def find(self, node: int) -> int:
        while (above := self._parent.get(node, node)) != node:
            self._parent[node] = self._parent.get(above, above)
            node = above
        return node

    def join(self, first: int, second: int) -> None:
        """Join two sets, unless staff keep both their heads apart."""
        pair = self.find(first), self.find(second)
        if pair[0] == pair[1] or all(map(self.is_kept, pair)):
            return
        head, other = sorted(pair, key=self._rank)
        self._parent[other] = head
        self._sizes[head] = self._sizes.get(head, 1) + self._sizes.get(other, 1)

    def _rank(self, node: int) -> tuple[bool, bool, int, int]:
        """Return what sorts heads first: kept topics, topics, the larger, the older."""
        return not self.is_kept(node), node < 0, -self._sizes.get(node, 1), abs(node)
