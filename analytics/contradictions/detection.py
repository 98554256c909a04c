"""The search for contradictions: pairs of statements that are alike, and what each says differently; pure."""

from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from analytics.contradictions.candidates import Counts, find_pairs, weigh_words
from analytics.contradictions.comparison.amounts import find_amounts
from analytics.contradictions.comparison.differences import Difference, find_difference
from analytics.contradictions.comparison.pages import are_parallel
from analytics.contradictions.comparison.scope import may_compare
from analytics.contradictions.comparison.statements import LEAST_TERMS, Source, Statement

#: Of the statements of another page that are like one, those that are compared with it; the first that agrees ends it.
TRIED = 3


#: The same words with so many values on so many pages are a pattern that each page fills in for its own subject.
PATTERN = 4
VALUES = frozenset({"figure", "date"})


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Two statements that contradict each other."""

    first: Statement
    second: Statement
    difference: Difference


def detect(
    sources: Sequence[Source],
    statements: Sequence[Statement],
    counts: Counts,
    neighbours: Mapping[int, Sequence[int]],
    chosen: Container[int] | None = None,
) -> list[Found]:
    """Return the contradictions between `statements` of different owners, the clearest first.

    `counts` weigh their words, and `neighbours` are the places of the sources near to each. With `chosen`, places of
    sources, one side of each pair is one of them.
    """
    words = weigh_words(statements, counts)
    pairs = find_pairs(statements, words, neighbours, chosen)
    templates = _find_templates(statements)
    found = []
    tried: dict[tuple[int, str], int] = {}
    for pair in pairs:
        first, second = statements[pair.first], statements[pair.second]
        if min(len(first.terms), len(second.terms)) < LEAST_TERMS:
            continue
        if not may_compare(sources[first.source], sources[second.source]):
            continue
        if are_parallel(sources[first.source], sources[second.source]):
            continue
        sides = ((pair.first, second.owner), (pair.second, first.owner))
        if any(tried.get(side, 0) >= TRIED for side in sides):
            continue
        for side in sides:
            tried[side] = tried.get(side, 0) + 1
        if _say_the_same(first, second):
            for side in sides:
                tried[side] = TRIED
            continue
        if difference := find_difference(first, second, words.weights, sources):
            if difference.kind in VALUES and {first.terms, second.terms} & templates:
                continue
            for side in sides:
                tried[side] = TRIED
            found.append(Found(first, second, difference))
    found += _find_amounts(sources, statements, found, chosen)
    return sorted(found, key=lambda each: -each.difference.score)


def _find_amounts(
    sources: Sequence[Source], statements: Sequence[Statement], known: Sequence[Found], chosen: Container[int] | None
) -> list[Found]:
    """Return the named amounts that differ; of one statement and another page, one, and none that is known."""
    seen = {side for each in known for side in _sides(each.first, each.second)}
    found = []
    for first, second, difference in find_amounts(statements, sources, chosen):
        sides = _sides(first, second)
        places = sources[first.source], sources[second.source]
        if not seen & sides and may_compare(*places) and not are_parallel(*places):
            seen |= sides
            found.append(Found(first, second, difference))
    return found


def _sides(first: Statement, second: Statement) -> set[tuple[str, str]]:
    """Return each statement's text with the other one's page."""
    return {(first.unit.text, second.owner), (second.unit.text, first.owner)}


def _say_the_same(first: Statement, second: Statement) -> bool:
    """Return whether the letters and digits are the same: "nicht ständig" is "nichtständig"."""
    return _read_letters(first.unit.text) == _read_letters(second.unit.text)


@lru_cache(maxsize=16_384)
def _read_letters(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))


def _find_templates(statements: Sequence[Statement]) -> set[frozenset[str]]:
    """Return the words of statements that many pages make with a value of their own each."""
    texts: dict[frozenset[str], set[str]] = {}
    owners: dict[frozenset[str], set[str]] = {}
    for each in statements:
        texts.setdefault(each.terms, set()).add(each.unit.text)
        owners.setdefault(each.terms, set()).add(each.owner)
    return {terms for terms, found in texts.items() if len(found) >= PATTERN and len(owners[terms]) >= PATTERN}
