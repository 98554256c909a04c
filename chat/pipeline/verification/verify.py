"""The door: is a sentence supported by the passage that it cites?

A sentence is aligned with the unit of the passage that says the same, every fact of it is compared with that unit, and a
fitted model weighs the differences. Nothing here reads the question or another passage.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.pipeline.guardrails.eligibility import decisions
from chat.pipeline.verification.alignment import Alignment, Candidate, align, make_candidates
from chat.pipeline.verification.comparison import Comparison, compare
from chat.pipeline.verification.facts import Facts, read_facts
from chat.pipeline.verification.units import LINK, Unit, make_plain, split_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Embed = Callable[[Sequence[str]], NDArray[np.float32]]

#: A longer sentence is a paragraph; it is not proven.
LONGEST_SENTENCE = 1_200


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it was given to the model."""

    text: str
    title: str = ""
    heading: str = ""


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence that was aligned with a passage and compared."""

    sentence: Facts
    alignment: Alignment
    comparison: Comparison


def examine(sentence: str, passage: Passage, *, embed: "Embed | None" = None) -> Checked | None:
    """Return the comparison of a sentence with its best unit; None if the passage has no unit."""
    units = split_units(passage.text, passage.title, passage.heading)
    candidates = make_candidates(units)
    if not candidates:
        return None
    said = read_facts(make_plain(sentence))
    similarities = None
    if embed is not None:
        similarities = similarity(make_plain(sentence), candidates, embed)
    alignment = align(said, candidates, similarities)
    assert alignment is not None
    whole = read_facts(f"{passage.title} {passage.heading} {make_plain(LINK.sub(_with_link, passage.text[:20000]))}")
    place = next(n for n, each in enumerate(candidates) if each is alignment.best)
    closeness = float(similarities[place]) if similarities is not None else None
    return Checked(said, alignment, compare(said, alignment, whole, candidates, similarity=closeness))


def _with_link(match) -> str:
    return match[0]


def similarity(sentence: str, candidates: Sequence[Candidate], embed: "Embed") -> "NDArray[np.float32]":
    vectors = embed([sentence, *(f"{each.unit.context} {each.text}" for each in candidates)])
    return vectors[1:] @ vectors[0]
