"""Amounts of money by their names, "the late fee of €30" or a row of a list of fees; pure.

Such statements are short, and share too few words with others to be compared as sentences.
"""

import re
from collections import defaultdict
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from analytics.contradictions.comparison.differences import Difference
from analytics.contradictions.comparison.scope import differ
from analytics.contradictions.comparison.statements import Source, Statement, comparable
from analytics.contradictions.comparison.values import is_equal
from chat.pipeline.verification.facts import Facts, read_facts
from chat.pipeline.verification.measured_figures import LEAST_WORD, MOST_WORD, Figure
from chat.pipeline.verification.words import Word, fold, read_words, stem

#: Between a name and its amount; words may stand between the verb and the amount.
NAMED = re.compile(
    r"(?P<name>(?:[\w'’-]+\s+){1,5}?)"
    r"(?:of|von|in Höhe von"
    r"|(?:is|are|costs?|amounts? to|comes? to|beträgt|betragen|kostet|kosten)\b[^,;:.€$£]{0,90}?)\s*"
    r"(?:[€$£]|EUR|USD)?\s*$",
    re.IGNORECASE,
)
CURRENCY = re.compile(r"\s?(?:[€$£]|EUR\b|USD\b)")
#: A name begins behind these.
BEGINS = re.compile(
    r"^.*(?:[,;:.()]|\b(?:a|an|the|this|your|every|each|any|and|or|der|die|das|den|dem|des|ein|eine|einen|einer|und|oder"
    r"|in|for|to|on|at|für|im|bei|zu)\b)\s*",
    re.IGNORECASE | re.DOTALL,
)
#: Words that name no thing of their own.
LIGHT = frozenset(
    {"additional", "further", "full", "total", "sum", "amount", "amounts", "current", "usual", "other", "it", "that"}
    | {"zusatzlich", "zusatzliche", "volle", "voller", "gesamt", "summe", "betrag", "aktuelle", "hohe", "sie", "es"}
)
#: Who or what an amount is bounded to.
BOUNDED = re.compile(
    r"\b(?:for|if|when|unless|except|without|only|reduced|instead|fur|für|wenn|falls|sofern|bei|ohne|nur|ermäßigt\w*)\b[^,;:]*",
    re.IGNORECASE,
)
#: Behind these stands what the head of a name belongs to: "deposit of a locker".
BELONGS = re.compile(r"\b(?:of|in|at|from|von|vom|des|der|eine[rs]|im|am)\b", re.IGNORECASE)
#: An amount behind these is a limit or an estimate.
ESTIMATE = re.compile(r"\b(?:about|around|approximately|from|between|etwa|rund|ca|ab)\b", re.IGNORECASE)
LIMITS = (LEAST_WORD, MOST_WORD, ESTIMATE)
#: A row with more cells, or a cell of more words, says more than an amount.
MOST_CELLS, MOST_CELL_WORDS = 2, 3
#: Words in both names together: one alone names too many things.
LEAST_WORDS = 2
SHORTEST_TAIL = 5
#: More values of one name are those of things that the names do not tell apart.
MOST_VALUES = 3
SCORE = 0.5


Parts = tuple[Figure, tuple[Word, ...], tuple[Word, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class Amount:
    """An amount of money: the words of its name, the words one of which is its head, and what the statement says."""

    statement: Statement
    figure: Figure
    name: tuple[Word, ...]
    heads: tuple[Word, ...]

    @property
    def stems(self) -> frozenset[str]:
        return frozenset(stem(fold(word.text)) for word in self.name)


def find_amounts(
    statements: Sequence[Statement], sources: Sequence[Source], chosen: Container[int] | None = None
) -> Iterator[tuple[Statement, Statement, Difference]]:
    """Yield pairs of statements of different owners that give one name different amounts.

    With `chosen`, places of sources, one side of each pair is of one of them.
    """
    for first, second in _pair_by_head(_read_amounts(statements)):
        places = (first.statement.source, second.statement.source)
        if first.statement.owner == second.statement.owner:
            continue
        if chosen is not None and not any(place in chosen for place in places):
            continue
        if _says(first, second.figure) or _says(second, first.figure) or not _have_one_name(first, second):
            continue
        if differ(first.statement, second.statement, sources):
            continue
        said = (first.figure.text.strip(" .,;"), second.figure.text.strip(" .,;"))
        yield first.statement, second.statement, Difference("figure", *said, SCORE)


def _read_amounts(statements: Sequence[Statement]) -> list[Amount]:
    """Return the amounts without those of a name that many values go by."""
    found = [
        Amount(each, *parts)
        for each in statements
        for parts in (_read_row(each.unit.cells) if each.unit.cells else _read_sentence(each.unit.text))
    ]
    values: dict[frozenset[str], set[tuple[str, str]]] = defaultdict(set)
    for each in found:
        values[each.stems].add((each.statement.owner, each.figure.text))
    many = {
        key for key, pairs in values.items() if min(len(set(side)) for side in zip(*pairs, strict=True)) > MOST_VALUES
    }
    return [each for each in found if each.stems not in many]


def _pair_by_head(amounts: Sequence[Amount]) -> list[tuple[Amount, Amount]]:
    """Return pairs of amounts with heads that may be one word, in order."""
    heads = {fold(word.text) for each in amounts for word in each.heads}
    places: dict[str, set[int]] = defaultdict(set)
    for place, each in enumerate(amounts):
        for text in {fold(word.text) for word in each.heads}:
            tails = [text[at:] for at in range(len(text) - SHORTEST_TAIL + 1) if text[at:] in heads]
            for key in {stem(text), *map(stem, tails)}:
                places[key].add(place)
    pairs = {pair for found in places.values() for pair in combinations(sorted(found), 2)}
    return [(amounts[one], amounts[other]) for one, other in sorted(pairs)]


def _says(amount: Amount, figure: Figure) -> bool:
    return any(is_equal(each, figure) for each in amount.statement.own.figures)


def _read_row(cells: Sequence[tuple[str, str]]) -> Iterator[Parts]:
    if len(cells) != MOST_CELLS:
        return
    (_first, label), (column, cell) = cells
    facts = read_facts(cell)
    figures = facts.figures
    if len(figures) != 1 or not _is_money(figures[0], facts) or len(cell.split()) > MOST_CELL_WORDS:
        return
    name = _content(label)
    if name and not read_facts(label).figures:
        yield figures[0], name, (*_content(BELONGS.split(BOUNDED.sub("", label))[0])[-1:], *_content(column))


def _read_sentence(text: str) -> Iterator[Parts]:
    facts = read_facts(comparable(text))
    for figure in facts.figures:
        if not _is_money(figure, facts) or figure.bound or figure.is_approximate:
            continue
        match = NAMED.search(facts.text[: figure.start])
        if match and not any(limit.search(match[0]) for limit in LIMITS):
            name = _content(BEGINS.sub("", match["name"]))
            if name:
                yield figure, name, name[-1:]


def _is_money(figure: Figure, facts: Facts) -> bool:
    return figure.measure == "money" or bool(CURRENCY.match(facts.text, figure.start + len(figure.text)))


def _content(text: str) -> tuple[Word, ...]:
    return tuple(word for word in read_words(text) if word.keys and fold(word.text) not in LIGHT)


def _have_one_name(one: Amount, other: Amount) -> bool:
    """Return whether each side says the words of the other one's name, and nothing bounds one side alone."""
    if not any(_is_one_word(head, each) for head in one.heads for each in other.heads):
        return False
    if len(one.stems | other.stems) < LEAST_WORDS:
        return False
    for ours, theirs in ((one, other), (other, one)):
        bounds = " ".join(BOUNDED.findall(comparable(ours.statement.unit.text)))
        whole = theirs.statement.whole.words
        if not all(any(_is_one_word(word, each) for each in whole) for word in (*ours.name, *_content(bounds))):
            return False
    return True


def _is_one_word(one: Word, other: Word) -> bool:
    """Return whether the words have one stem, or one is a compound that ends in the other: "Semesterbeitrag".

    Meanings are too coarse here: a fee and a contribution have one.
    """
    first, second = fold(one.text), fold(other.text)
    shorter, longer = sorted((first, second), key=len)
    return stem(first) == stem(second) or (len(shorter) >= SHORTEST_TAIL and longer.endswith(shorter))
