"""Aligns a sentence with the unit of a passage, or the two units, that it says again; pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from chat.pipeline.verification.facts import Facts, read_facts
from chat.pipeline.verification.measured_figures import Figure
from chat.pipeline.verification.units import Unit
from chat.pipeline.verification.words import Word

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

#: What a word counts that stands only in the heading, the title or a column's name.
CONTEXT_SHARE = 0.5
FIGURE_SHARE = 0.45
LENGTH_PENALTY = 0.002
VECTOR_SHARE = 4.0
#: A unit whose score is this near the best one's may be the one that is meant; it is quoted beside it.
TIE = 0.3
#: What a second unit must add, as a share of the sentence's words.
LEAST_GAIN = 0.18
#: The shortest beginning, or end, that two words may have in common to be taken for one.
COMMON = 5


@dataclass(frozen=True, slots=True)
class Candidate:
    """A unit with what it says; a table's cell with its row's label is a candidate beside its row."""

    unit: Unit
    text: str
    own: Facts
    whole: Facts
    row: int = -1

    def has_word(self, word: Word) -> bool:
        return has_word(word, self.whole.keys)


def has_word(word: Word, keys: frozenset[str]) -> bool:
    """Return whether the keys hold the word, a form of it, or a compound that begins or ends with it."""
    if word.keys & keys:
        return True
    plain = max((key for key in word.keys if not key.startswith("#")), key=len, default="")
    if len(plain) < COMMON:
        return False
    head = plain[: max(COMMON, len(plain) - 2)]
    return any(
        key.startswith(head) or (len(key) >= COMMON and (plain.startswith(key) or plain.endswith(key)))
        for key in keys
        if key[0] == head[0] or plain.endswith(key)
    )


def make_candidates(units: Sequence[Unit]) -> list[Candidate]:
    return list(_cached_candidates(tuple(units)))


@lru_cache(maxsize=256)
def _cached_candidates(units: tuple[Unit, ...]) -> tuple[Candidate, ...]:
    found = []
    for number, unit in enumerate(units):
        if len(unit.cells) > 2:
            label_name, label = unit.cells[0]
            for name, cell in unit.cells[1:]:
                if cell:
                    text = f"{label_name}: {label}; {name}: {cell}" if label_name else f"{label}; {name}: {cell}"
                    whole = f"{unit.context} {text}"
                    found.append(Candidate(unit, text, read_facts(text), read_facts(whole), row=number))
        found.append(Candidate(unit, unit.shown, read_facts(unit.shown), read_facts(unit.whole), row=number))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Alignment:
    """The best candidate, a second one where it adds something, and how well each of all fits."""

    best: Candidate
    second: Candidate | None
    scores: tuple[float, ...]
    coverage: float
    rival: float
    runner_up: Candidate | None = None


def align(
    sentence: Facts, candidates: Sequence[Candidate], similarities: "NDArray[np.float32] | None" = None
) -> Alignment | None:
    """Return the candidate that says best what the sentence says; similarities are cosines, one a candidate."""
    if not candidates:
        return None
    content = sentence.content
    figure_total = len(sentence.figures)
    scores = []
    covers = []
    for place, candidate in enumerate(candidates):
        covered = [
            1.0
            if has_word(word, candidate.own.keys)
            else CONTEXT_SHARE
            if has_word(word, candidate.whole.keys)
            else 0.0
            for word in content
        ]
        covers.append(covered)
        share = sum(covered) / len(content) if content else 0.0
        held = sum(holds(figure, candidate.whole.figure_keys) for figure in sentence.figures)
        score = share + (FIGURE_SHARE * held / figure_total if figure_total else 0.0)
        score -= LENGTH_PENALTY * len(candidate.own.content)
        if similarities is not None:
            score += VECTOR_SHARE * float(similarities[place])
        scores.append(score)
    order = sorted(range(len(candidates)), key=lambda place: -scores[place])
    best = candidates[order[0]]
    covered = covers[order[0]]
    second = None
    if content:
        gains = []
        for place in order[1:12]:
            other = candidates[place]
            if other.row == best.row and other.unit is best.unit and len(other.text) <= len(best.text):
                continue
            missing = [f for f in sentence.figures if not holds(f, best.whole.figure_keys)]
            if best.unit.cells and other.unit.cells and not missing:
                continue  # another row is about something else
            gain = sum(max(0.0, theirs - ours) for theirs, ours in zip(covers[place], covered, strict=True)) / len(
                content
            )
            gain += 0.3 * sum(holds(f, other.own.figure_keys) for f in missing) / max(1, figure_total)
            gains.append((gain, -order.index(place), other))
        if gains:
            gain, _, other = max(gains, key=lambda each: each[:2])
            if gain >= LEAST_GAIN:
                second = other
    coverage = sum(1 for share in covered if share) / len(content) if content else 1.0
    rival = next(
        (p for p in order[1:] if candidates[p].unit is not best.unit and best.unit.text not in candidates[p].text), None
    )
    margin = scores[order[0]] - scores[rival] if rival is not None else 1.0
    runner_up = candidates[rival] if rival is not None and margin < TIE else None
    return Alignment(best, second, tuple(scores), coverage, margin, runner_up)


def holds(figure: Figure, keys: frozenset[str]) -> bool:
    """Return whether one of the figure's readings stands among the keys."""
    return any(reading <= keys for reading in figure.readings)
