"""Figures, dates, times and ordinals that a sentence has otherwise than its unit; pure."""

import re

from chat.pipeline.verification.alignment import Candidate, holds
from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import NON_EU, Facts, read_facts
from chat.pipeline.verification.measured_figures import Figure
from chat.pipeline.verification.words import read_words, word_keys
from knowledge.words.numerals import ORDINALS

ORDINAL = re.compile(
    r"(?<!\bat )\b(?:first(?!\s*(?:$|[,.;:!?]|(?:because|before|and|if|when|then)\b))"
    r"|second|third|fourth|fifth|sixth|seventh|eighth|ninth|tenth"
    r"|(?:erst|zweit|dritt|viert|fünft|sechst|siebt|acht|neunt|zehnt)e[nrsm]?)\b",
    re.I,
)
#: "B2", "DSH-2", "CS-101"
CODE = re.compile(r"\b[A-ZÄÖÜ]{1,5}-?\d+(?:[.-]\d+)*\b")
#: Figures that stand closer are parts of one, such as "11-637", in characters.
APART = 8
#: How far from a figure a word may stand and still say what the figure is of, in characters.
NEAR = 60
#: Whatever has such a date ends on it.
DEADLINE = word_keys("deadline") & word_keys("frist")
DIRECTIONS = {"least": "most", "most": "least"}


def compare_figures(found: Differences, sentence: Facts, unit: Facts, whole: Facts, passage: Facts) -> None:
    """Compare figures, their measures and bounds, and ordinals."""
    missing = [figure for figure in sentence.figures if not holds(figure, whole.figure_keys)]
    nowhere = [figure for figure in missing if not holds(figure, passage.figure_keys)]
    found.add("figures", min(len(sentence.figures), 4))
    found.add("figures_missing", min(len(missing), 3))
    found.add("figures_nowhere", min(len(nowhere), 3))
    found.add(
        "figure_in_context_only",
        any(holds(f, whole.figure_keys) and not holds(f, unit.figure_keys) for f in sentence.figures),
    )
    if missing:
        found.doubt(
            "date" if any(k.startswith("d:") for r in missing[0].readings for k in r) else "figure", missing[0].text
        )
    measures = bounds = loose = relation = approximate = added_bound = dropped_bound = 0
    for figure in sentence.figures:
        twins = [other for other in unit.figures if any(a & b for a in figure.readings for b in other.readings)]
        if not twins:
            continue
        if figure.measure and all(
            t.measure and t.measure != figure.measure and not _converts(figure, t) for t in twins
        ):
            measures += 1
            found.doubt("figure", figure.text + " " + figure.measure)
        if figure.bound and all(t.bound == DIRECTIONS[figure.bound] for t in twins):
            bounds += 1
            found.doubt("bound", figure.text)
        elif figure.bound and all(not t.bound for t in twins):
            added_bound += 1
            if figure.bound == "least" and DEADLINE & whole.keys and _sort(figure) == "date":
                bounds += 1
                found.doubt("bound", figure.text)
        elif not figure.bound and all(t.bound for t in twins):
            dropped_bound += 1
        if figure.relation and all(t.relation and t.relation != figure.relation for t in twins):
            relation += 1
            found.doubt("bound", figure.text)
        if figure.is_approximate and not any(t.is_approximate for t in twins):
            approximate += 1
        loose += len(twins) == 0
    for name, value in (
        ("measures", measures),
        ("bound_conflicts", bounds),
        ("added_bounds", added_bound),
        ("dropped_bounds", dropped_bound),
        ("relation_conflicts", relation),
        ("approximate", approximate),
    ):
        found.add(name, min(value, 2))
    if sentence.figures:
        unsaid = [
            f for f in unit.figures if not any(a & b for s in sentence.figures for a in s.readings for b in f.readings)
        ]
        found.add("figures_left_out", min(len(unsaid), 3))
    else:
        found.add("figures_left_out", 0)
    ours, theirs = set(map(_ordinal, ORDINAL.findall(sentence.text))), set(map(_ordinal, ORDINAL.findall(whole.text)))
    found.add("exchanged_figures", min(count_exchanged(sentence, unit), 3))
    known = re.sub(r"\s?-\s?", "-", whole.text).lower()
    strange = [code for code in CODE.findall(sentence.text) if code.lower() not in known]
    found.add("codes_missing", bool(strange))
    if strange:
        found.doubt("name", strange[0])
    found.add("ordinal_conflict", bool(ours and theirs and not ours & theirs))
    found.add("ordinal_missing", bool(ours and not theirs))


def _ordinal(word: str) -> str:
    word = word.lower()
    return str(ORDINALS.get(word) or ORDINALS.get(re.sub(r"e[nrsm]?$", "", word)) or word)


def _converts(one: Figure, other: Figure) -> bool:
    pair = {one.measure, other.measure}
    if pair == {"day", "workday"}:
        return False
    return one.readings[0] != other.readings[0] or "" in pair


def find_other_column(sentence: Facts, best: Candidate) -> bool:
    """Return whether a figure stands in another column of the row than the one that the sentence names."""
    cells = [
        (frozenset(k for w in read_words(_joined(name)) for k in w.keys), read_facts(cell))
        for name, cell in best.unit.cells[1:]
    ]
    if len(cells) < 2:
        return False

    def own(keys: frozenset[str]) -> frozenset[str]:
        return keys.difference(*(other for other, _ in cells if other is not keys))

    for figure in sentence.figures:
        here = [own(keys) for keys, cell in cells if holds(figure, cell.figure_keys)]
        there = [own(keys) for keys, cell in cells if not holds(figure, cell.figure_keys)]
        if here and any(keys & sentence.keys for keys in there) and not any(keys & sentence.keys for keys in here):
            return True
    return False


def _joined(name: str) -> str:
    return NON_EU.sub("noneu", name)


def find_nearer_figure(sentence: Facts, unit: Facts) -> float:
    """Return by how much more words of the sentence stand near another figure of the unit than near its own, 0 to 1.

    "The rate for Medicare is 6.2 %" where the page has "Social Security is 6.2 % and Medicare is 1.45 %".
    """
    most = 0.0
    for figure in sentence.figures:
        own = [each for each in unit.figures if _same(figure, each)]
        rivals = [
            each
            for each in unit.figures
            if each not in own
            and _sort(each) == _sort(figure)
            and not any(_same(ours, each) for ours in sentence.figures)
        ]
        if not own or not rivals:
            continue
        votes = [0, 0]
        for word in sentence.content:
            places = [each.start for each in unit.content if each.keys & word.keys]
            nearest = [min((abs(p - f.start) for p in places for f in each), default=NEAR) for each in (own, rivals)]
            if min(nearest) < NEAR:
                votes[nearest[1] < nearest[0]] += 1
        most = max(most, (votes[1] - votes[0]) / max(sum(votes), 1))
    return most


def count_exchanged(sentence: Facts, unit: Facts) -> int:
    """Return for how many words the sentence has another one of its figures nearest than the unit has.

    "more than 100 people and 500 projects" where the page has "more than 500 people and 100 projects".
    """
    pairs = [(figure, [each for each in unit.figures if _same(figure, each)]) for figure in sentence.figures]
    pairs = [(figure, there) for figure, there in pairs if there]
    exchanged = kept = 0
    for place, (one, one_there) in enumerate(pairs):
        for other, other_there in pairs[place + 1 :]:
            if _same(one, other) or _sort(one) != _sort(other) or abs(one.start - other.start) < APART:
                continue
            for word in sentence.content:
                places = [each.start for each in unit.content if each.keys & word.keys]
                if not places:
                    continue
                here = abs(word.start - one.start) - abs(word.start - other.start)
                there = min(abs(p - f.start) for p in places for f in one_there) - min(
                    abs(p - f.start) for p in places for f in other_there
                )
                if here and there and min(abs(word.start - one.start), abs(word.start - other.start)) < NEAR:
                    exchanged += (here > 0) != (there > 0)
                    kept += (here > 0) == (there > 0)
    return max(exchanged - kept, 0)


def _same(one: Figure, other: Figure) -> bool:
    return any(a & b for a in one.readings for b in other.readings)


def _sort(figure: Figure) -> str:
    is_date = any(key.startswith("d:") for reading in figure.readings for key in reading)
    return "date" if is_date else figure.measure
