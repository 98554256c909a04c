"""The German and the English answer of one FAQ compared: their figures, dates, limits, and yes or no; pure.

Both should say the same. Words of the two languages are compared by their meanings, so that only the sentences that
translate each other are; whatever one answer leaves out contradicts nothing.
"""

from collections.abc import Iterable, Iterator, Sequence
from itertools import product

from analytics.contradictions.comparison.differences import Difference
from analytics.contradictions.comparison.statements import Source, Statement, read_terms, split_source
from analytics.contradictions.comparison.values import is_equal, is_within, sort_of
from analytics.contradictions.comparison.wording import BOUNDS, excess
from chat.pipeline.verification.alignment import has_word, holds
from chat.pipeline.verification.facts import Facts
from chat.pipeline.verification.measured_figures import Figure
from chat.pipeline.verification.signals import EXEMPT, FORBIDDEN, MODALITY, OBLIGED, PERMITTED, find_negators
from chat.pipeline.verification.words import fold, opposites

#: Shares of the words that two sentences have in common: from which a figure, a limit, and a "not" are compared.
LEAST_ALIKE, LEAST_ALIKE_WORDED, LEAST_ALIKE_DENIED = 0.3, 0.4, 0.55
#: What a figure in common counts, in words.
FIGURE_WEIGHT = 2
#: A sentence in the same place of its answer is likelier to be the translation.
SAME_PLACE = 0.2
#: Of two sentences one of which has a "not", the longer one has at most so many times the words.
MOST_LONGER = 1.6
CONTRARY = frozenset({frozenset({OBLIGED, EXEMPT}), frozenset({FORBIDDEN, PERMITTED})})
DATED = ("date", "time", "year")
#: Measures of time in two groups. Only those of one group can be converted: a month has no fixed number of weeks.
SHORT, LONG = frozenset({"minute", "hour", "day", "week"}), frozenset({"month", "year"})

Differing = tuple[Statement, Statement, Difference]


def read_answer(sources: Sequence[Source], places: Iterable[int]) -> list[Statement]:
    """Return all sentences of an answer, the sources at `places`, also those too short to be compared with pages."""
    return [
        Statement(place, sources[place].owner, unit, read_terms(unit.text))
        for place in places
        for unit in split_source(sources[place])
    ]


def compare_answers(first: Sequence[Statement], second: Sequence[Statement]) -> list[Differing]:
    """Return what two answers to one question, each in its language, say differently; of two sentences one thing."""
    pairs = _pair(first, second)
    found: dict[tuple[int, int], Differing] = {}
    for each in (*_answers(first, second), *_values(first, second, pairs), *_wordings(pairs)):
        found.setdefault((id(each[0]), id(each[1])), each)
    return list(found.values())


def _answers(first: Sequence[Statement], second: Sequence[Statement]) -> Iterator[Differing]:
    """Yield the first sentences if one says yes and the other one no."""
    for one, other in zip(first[:1], second[:1], strict=False):
        if one.own.answer and other.own.answer and one.own.answer != other.own.answer:
            said = [each.unit.text.split()[0].strip(",.:;!–-") for each in (one, other)]
            yield one, other, Difference("polarity", said[0], said[1], 1.0)


def _values(first: Sequence[Statement], second: Sequence[Statement], pairs: Sequence["Paired"]) -> Iterator[Differing]:
    """Yield sentences of which each has one value of a sort that the other answer has nowhere.

    Of two sentences that translate each other with as many values, each has one that the other sentence has not.
    """
    for one, other, alike, is_mutual in pairs:
        change = _find_change(_missing(one, second), _missing(other, first))
        if not change and is_mutual and len(one.own.figures) == len(other.own.figures):
            change = _find_change(_missing(one, [other]), _missing(other, [one]))
        if change:
            yield one, other, Difference(*change, alike)


def _missing(statement: Statement, others: Sequence[Statement]) -> list[Figure]:
    """Return the figures of a sentence that none of the others has."""
    figures = [figure for each in others for figure in each.own.figures]
    keys = frozenset(key for each in others for key in each.own.figure_keys)
    return [each for each in statement.own.figures if not _is_said(each, figures, keys)]


def _is_said(figure: Figure, figures: Sequence[Figure], keys: frozenset[str]) -> bool:
    """Return whether a figure is one of these, or all of it is among the keys, such as both ends of "9 bis 12 Uhr"."""
    if sort_of(figure) == "time":
        return any(reading <= keys for reading in figure.readings if all(key.startswith("t:") for key in reading))
    return holds(figure, keys) or any(is_equal(figure, each) for each in figures)


def _find_change(ours: Sequence[Figure], theirs: Sequence[Figure]) -> tuple[str, str, str] | None:
    """Return kind and words of the value of a sort that each side has otherwise; None if a side has several."""
    for sort in dict.fromkeys(map(_sort, ours)):
        mine, yours = ([each for each in side if _sort(each) == sort] for side in (ours, theirs))
        if len(mine) == len(yours) == 1 and _is_other(mine[0], yours[0]):
            kind = "date" if sort in DATED else "figure"
            return kind, mine[0].text.strip(" .,;"), yours[0].text.strip(" .,;")
    return None


def _sort(figure: Figure) -> str:
    """Return the sort of a figure; a bare number may be one of hours or euros, as in "14 Wochenstunden"."""
    sort = sort_of(figure)
    return sort if sort in DATED else ""


def _is_other(one: Figure, other: Figure) -> bool:
    """Return whether two figures that are not equal are of one thing, and cannot mean the same: "about 300" may."""
    if one.is_approximate or other.is_approximate or is_within(one, other) or is_within(other, one):
        return False
    measures = {each.measure for each in (one, other)} - {""}
    return len(measures) < 2 or measures <= SHORT or measures <= LONG


def _wordings(pairs: Sequence["Paired"]) -> Iterator[Differing]:
    """Yield sentences that translate each other, with the same figures, and bound, demand or deny otherwise."""
    for one, other, alike, is_mutual in pairs:
        if alike < LEAST_ALIKE_WORDED or not is_mutual or _missing(one, [other]) or _missing(other, [one]):
            continue
        if worded := _find_wording(one.own, other.own, alike):
            yield one, other, Difference(*worded, alike)


def _find_wording(one: Facts, other: Facts, alike: float) -> tuple[str, str, str] | None:
    if ("only" in one.quantities) != ("only" in other.quantities) or bool(one.exceptions) != bool(other.exceptions):
        return None  # "closed except in July", "open only in July"
    ours, theirs = excess(BOUNDS, one.text, other.text)
    is_denied = one.negations % 2 != other.negations % 2
    if ours and theirs and not is_denied:
        return "bound", next(iter(ours.values())), next(iter(theirs.values()))
    if ours or theirs:
        return None  # "less than 60: not possible", "at least 60"
    if is_denied or not one.negations:
        for name in sorted(one.poles.keys() & other.poles.keys()):
            if not one.poles[name] & other.poles[name]:
                return "polarity", _first_negator(one.text), _first_negator(other.text)
    if not is_denied:
        return None
    ours, theirs = excess(MODALITY, one.text, other.text)
    if len(ours) == len(theirs) == 1 and frozenset((*ours, *theirs)) in CONTRARY:
        return "modality", next(iter(ours.values())), next(iter(theirs.values()))
    sizes = sorted((len(one.content), len(other.content)))
    is_translation = alike >= LEAST_ALIKE_DENIED and sizes[1] <= MOST_LONGER * sizes[0]
    both = one.modality & other.modality
    if not is_translation or FORBIDDEN in both or EXEMPT in both:
        return None  # "not possible" and "prohibited"
    return "polarity", _first_negator(one.text), _first_negator(other.text)


def _first_negator(text: str) -> str:
    return next((text[begin:end] for begin, end in find_negators(text)), "")


#: Two sentences, how much they are alike, and whether each is most like the other one.
Paired = tuple[Statement, Statement, float, bool]


def _pair(first: Sequence[Statement], second: Sequence[Statement]) -> list[Paired]:
    """Return pairs of sentences of which one is most like the other among all of its answer."""
    if not first or not second:
        return []
    places = list(product(range(len(first)), range(len(second))))
    alike = {(i, j): _alike(first[i].own, second[j].own) for i, j in places}
    rank = {(i, j): alike[i, j] + SAME_PLACE * (1 - abs(i / len(first) - j / len(second))) for i, j in places}
    there = {max((pair for pair in places if pair[0] == i), key=rank.__getitem__) for i in range(len(first))}
    back = {max((pair for pair in places if pair[1] == j), key=rank.__getitem__) for j in range(len(second))}
    return [
        (first[i], second[j], alike[i, j], (i, j) in there & back)
        for i, j in sorted(there | back)
        if alike[i, j] >= LEAST_ALIKE
    ]


def _alike(one: Facts, other: Facts) -> float:
    """Return the mean share of what each of two sentences says that the other one says too."""
    return (_share(one, other) + _share(other, one)) / 2


def _share(ours: Facts, theirs: Facts) -> float:
    """Return the share of words in common, opposites too; figures in common count as words, others not at all."""
    names = opposites()
    words = [has_word(word, theirs.keys) or names.get(fold(word.text), "")[1:] in theirs.poles for word in ours.content]
    same = FIGURE_WEIGHT * sum(holds(figure, theirs.figure_keys) for figure in ours.figures)
    weight = len(words) + same
    return (sum(words) + same) / weight if weight else 0.0
