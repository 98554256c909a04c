"""Topics of all questions, clustered anew and matched with the topics that there were; pure.

The clustering is that of the gaps (`analytics.gaps.clustering`), and so is the matching: most shared questions first. A
topic that staff keep goes in as one cluster, so its questions stay together.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analytics.gaps.clustering import Bridge, average_link, find_translations, in_order
from analytics.gaps.matching import identify

if TYPE_CHECKING:
    from analytics.gaps.clustering import Floats, Integers


@dataclass(frozen=True, slots=True)
class Clustered:
    """`labels` is the cluster of each question, from 0 in order of their first; `topics` is the topic of each cluster
    that goes on with one, and `joined` is topic -> the cluster that took most of its questions, for topics that no
    cluster goes on with."""

    labels: "Integers"
    topics: Mapping[int, int]
    joined: Mapping[int, int]


def cluster_topics(
    vectors: "Floats",
    languages: Sequence[str],
    topics: Sequence[int | None],
    *,
    threshold: float,
    bridge: Bridge,
    kept: Set[int] = frozenset(),
    parts: Mapping[int, int] | None = None,
) -> Clustered:
    """Cluster all questions, each of which is in one of `topics` or in none yet.

    `vectors` has unit rows, of shape (n, dimensions), each in one of the bridge's `languages`; `threshold` is a cosine
    within one language. The questions of a topic that is `kept` stay in it, and two such topics are never joined.
    `parts` is row -> kept topic for what staff joined to it although it lies apart: questions that come near it belong
    to that topic.
    """
    sets = _Sets()
    nodes = np.array(_nodes(vectors, languages, [each if each in kept else None for each in topics]), dtype=np.int64)
    for language in bridge.means:
        rows = np.flatnonzero(np.array(languages) == language)
        _join_near(vectors[rows], nodes[rows], threshold, sets)
    for row, topic in (parts or {}).items():
        sets.join(topic, int(nodes[row]))
    for first, second in find_translations(vectors, languages, sets.find_all(nodes), bridge):
        sets.join(first, second)
    roots = sets.find_all(nodes)
    labels = in_order(roots)
    settled = {label: root for label, root in zip(labels.tolist(), roots.tolist(), strict=True) if root >= 0}
    return _match(labels, topics, settled)


def _match(labels: "Integers", topics: Sequence[int | None], settled: Mapping[int, int]) -> Clustered:
    """Find which cluster goes on with which topic; `settled` are those of the topics that are kept."""
    clusters: list[set[int]] = [set() for _label in range(int(labels.max(initial=-1)) + 1)]
    before: dict[int, set[int]] = defaultdict(set)
    for row, (label, topic) in enumerate(zip(labels.tolist(), topics, strict=True)):
        clusters[label].add(row)
        if topic is not None:
            before[topic].add(row)
    identity = identify(clusters, [], before, {}, threshold=1, settled=settled)
    return Clustered(labels, identity.kept, identity.merged)


def _nodes(vectors: "Floats", languages: Sequence[str], topics: Sequence[int | None]) -> list[int]:
    """Return the topic of each question, or a number below 0 of its own; the same question is compared once."""
    keys = [(language, vector.tobytes()) for language, vector in zip(languages, vectors, strict=True)]
    known = {key: topic for key, topic in zip(keys, topics, strict=True) if topic is not None}
    return [
        known.setdefault(key, -1 - row) if topic is None else topic
        for row, (key, topic) in enumerate(zip(keys, topics, strict=True))
    ]


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
        held = [place for place in places if names[place] >= 0]
        for place in places:
            # Of several that are kept, the nearest takes what is near them.
            to = max(held, key=lambda at: float(means[at] @ means[place])) if held else places[0]
            sets.join(int(names[to]), int(names[place]))


class _Sets:
    """Kept topics by their ids, and questions by numbers below 0, in sets with the topic or the first at the head."""

    def __init__(self) -> None:
        self._parent: dict[int, int] = {}

    def find(self, node: int) -> int:
        while (above := self._parent.get(node, node)) != node:
            self._parent[node] = self._parent.get(above, above)
            node = above
        return node

    def find_all(self, nodes: "Integers") -> "Integers":
        return np.array([self.find(node) for node in nodes.tolist()], dtype=np.int64)

    def join(self, first: int, second: int) -> None:
        """Join two sets, unless both are of a topic that is kept."""
        other, head = sorted((self.find(first), self.find(second)))
        if other < 0:
            self._parent[other] = head
