"""Pairs of statements that may be about the same matter: near passages, and rare words in common; numpy and scipy."""

from collections import Counter
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from analytics.contradictions.comparison.statements import Statement

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy import sparse

    Floats = NDArray[np.float32]
    Ints = NDArray[np.int64]

#: The nearest passages of each, by their vectors, whose statements are all compared.
NEIGHBOURS = 8
#: Words in at most this many statements lead to each other.
RARE = 150
#: Cosine of two statements' words, weighed by how rare they are, from which they are compared.
LEAST_COSINE = 0.45
#: Words are weighed as if there were at least so many statements: of a few pages, every word is rare.
FEWEST = 2_000
ROWS, AT_ONCE = 1024, 200_000


@dataclass(frozen=True, slots=True, eq=False)
class Words:
    """Statements (n) by words: unit rows weighed by rarity, the weight of each word, and the columns of rare words."""

    rows: "sparse.csr_array"
    weights: dict[str, float]
    rare: "Ints"


@dataclass(frozen=True, slots=True)
class Counts:
    """How many statements there are, and in how many of them each word stands; words that are missing stand in one."""

    statements: int
    words: Mapping[str, int]


@dataclass(frozen=True, slots=True, order=True)
class Pair:
    """Places of two statements, and the cosine of their words."""

    cosine: float
    first: int
    second: int


def count_words(statements: Sequence[Statement]) -> Counts:
    counted = Counter(term for each in statements for term in each.terms)
    return Counts(len(statements), {word: count for word, count in counted.items() if count > 1})


def weigh_words(statements: Sequence[Statement], counts: Counts) -> Words:
    """Return the statements' words, weighed by their inverse document frequency as counted."""
    # A web process loads this module and compares only when an answer is saved: SciPy takes a quarter of a second.
    from scipy import sparse

    columns: dict[str, int] = {}
    indices = [columns.setdefault(term, len(columns)) for each in statements for term in sorted(each.terms)]
    pointers = np.cumsum([0, *(len(each.terms) for each in statements)])
    counted = np.array([counts.words.get(word, 1) for word in columns], np.int64)
    idf = np.log((max(counts.statements, FEWEST) + 1) / counted) + 0.5
    shape = (len(statements), len(columns))
    rows = sparse.csr_array((idf[indices].astype(np.float32), indices, pointers), shape=shape)
    norms = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    rows.data /= np.repeat(np.maximum(norms, 1e-6), np.diff(rows.indptr)).astype(np.float32)
    return Words(rows, dict(zip(columns, map(float, idf), strict=True)), np.flatnonzero(counted <= RARE))


def find_neighbours(vectors: "Floats", owners: "Ints") -> dict[int, list[int]]:
    """Return, for each of the unit rows, the places of those nearest to it that another page or FAQ owns."""
    count = min(NEIGHBOURS, len(vectors))
    found: dict[int, list[int]] = {}
    for at in range(0, len(vectors), ROWS):
        similarities = vectors[at : at + ROWS] @ vectors.T
        similarities[owners[at : at + ROWS, None] == owners[None, :]] = -1
        nearest = np.argpartition(-similarities, count - 1, axis=1)[:, :count]
        found.update(enumerate(nearest.tolist(), start=at))
    return found


def find_pairs(
    statements: Sequence[Statement],
    words: Words,
    neighbours: Mapping[int, Sequence[int]],
    chosen: "Container[int] | None" = None,
) -> list[Pair]:
    """Return pairs of statements of different owners, most alike first.

    `neighbours` are the near sources of each source. With `chosen`, one side of each pair is of one of these sources.
    """
    if not statements:
        return []
    picked = np.array([n for n, each in enumerate(statements) if chosen is None or each.source in chosen], np.int64)
    firsts, seconds = _by_rare_words(words, picked)
    near_firsts, near_seconds = _by_neighbours(statements, picked, neighbours)
    first, second = np.concatenate((firsts, near_firsts)), np.concatenate((seconds, near_seconds))
    low, high = np.minimum(first, second), np.maximum(first, second)
    owners = {owner: place for place, owner in enumerate(dict.fromkeys(each.owner for each in statements))}
    owner = np.array([owners[each.owner] for each in statements])
    codes = np.unique((low * len(statements) + high)[owner[low] != owner[high]])
    low, high = codes // len(statements), codes % len(statements)
    parts = [
        _cosines(words.rows, low[at : at + AT_ONCE], high[at : at + AT_ONCE]) for at in range(0, len(low), AT_ONCE)
    ]
    cosines = np.concatenate(parts) if parts else np.zeros(0, np.float32)
    kept = np.flatnonzero(cosines >= LEAST_COSINE)
    order = kept[np.argsort(-cosines[kept], kind="stable")]
    return [Pair(float(cosines[at]), int(low[at]), int(high[at])) for at in order]


def _by_rare_words(words: Words, picked: "Ints") -> tuple["Ints", "Ints"]:
    """Return pairs of a picked statement and another one that has rare words in common with it."""
    rare = words.rows[:, words.rare].tocsr()
    other = rare.T.tocsr()
    firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for at in range(0, len(picked), ROWS):
        part = picked[at : at + ROWS]
        product = (rare[part] @ other).tocoo()
        is_near = product.data >= LEAST_COSINE / 2
        firsts.append(part[product.row[is_near]].astype(np.int64))
        seconds.append(product.col[is_near].astype(np.int64))
    return np.concatenate(firsts), np.concatenate(seconds)


def _by_neighbours(
    statements: Sequence[Statement], picked: "Ints", neighbours: Mapping[int, Sequence[int]]
) -> tuple["Ints", "Ints"]:
    """Return all pairs of a picked statement and one of a source near to its own."""
    of_source: dict[int, list[int]] = {}
    for place, each in enumerate(statements):
        of_source.setdefault(each.source, []).append(place)
    firsts, seconds = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)]
    for source in dict.fromkeys(statements[place].source for place in picked.tolist()):
        own = np.array(of_source[source], np.int64)
        there = np.array([p for other in neighbours.get(source, ()) for p in of_source.get(other, ())], np.int64)
        firsts.append(np.repeat(own, len(there)))
        seconds.append(np.tile(there, len(own)))
    return np.concatenate(firsts), np.concatenate(seconds)


def _cosines(rows: "sparse.csr_array", low: "Ints", high: "Ints") -> "Floats":
    return np.asarray(rows[low].multiply(rows[high]).sum(axis=1), dtype=np.float32).ravel()
