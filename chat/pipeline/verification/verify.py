"""The door: is a sentence supported by the passage that it cites?

A sentence is aligned with the unit of the passage that says the same, every fact of it is compared with that unit, and
a fitted model weighs the differences. Nothing here reads the question or another passage.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.pipeline.guardrails.addresses import emails, links, phones
from chat.pipeline.guardrails.eligibility import may_decide
from chat.pipeline.guardrails.outcomes import tells_outcome
from chat.pipeline.guardrails.refusals import refuses
from chat.pipeline.sentences.comparatives import asks_to_compare
from chat.pipeline.verification.alignment import Alignment, Candidate, align, make_candidates
from chat.pipeline.verification.classifier import Judge, Strictness, get_classifier
from chat.pipeline.verification.comparison import compare
from chat.pipeline.verification.differences.types import Differences
from chat.pipeline.verification.facts import Facts, read_facts
from chat.pipeline.verification.units import LONGEST, as_sentence, is_question, split_units

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Embed = Callable[[Sequence[str]], "NDArray[np.float32]"]
#: Given a text of a page and a sentence, returns the logarithm of the odds that the text says the sentence.
Entails = Callable[[str, str], float]

#: A longer sentence is a paragraph; it is not proven.
LONGEST_SENTENCE = 1_200
#: How many of the best candidates by words are compared by vectors.
COMPARED = 6
#: Least share of words, or cosine, by which a unit is taken to be about the same: 0.995 of the faithful sentences of
#: `benchmarks/data/claims_dev.jsonl` reach one of them, 0.58 of sentences beside a passage that was not theirs.
SHARED, CLOSE = 0.2, 0.8
MARKER = re.compile(r"\s*\[\d{1,3}(?:\s*[,;]\s*\d{1,3})*\]")
#: Openings of sentences that lead to others, or end an answer, and say nothing of the university.
CONNECTIVE = re.compile(
    r"^(?:here (?:is|are|'s)|the following|in (?:summary|short|brief)[,:]?$|i hope|hope (?:this"
    r"|that)|let me know|feel free"
    r"|(?:you can )?find (?:more|further)|(?:for )?(?:more|further) (?:information|details"
    r"|questions)|if you have (?:any |more |further )*questions"
    r"|according to the (?:page|sources?|documents?)|(?:good|great) question|to answer your question"
    r"|hier (?:ist|sind|finden|steht)|folgende[srn]?|im folgenden|zusammengefasst|kurz gesagt"
    r"|ich hoffe|weitere (?:informationen|einzelheiten)"
    r"|mehr (?:dazu|informationen)|bei (?:weiteren )?(?:fragen|rückfragen)|wenn sie (?:noch "
    r"|weitere )*fragen|gute frage|gerne)\b",
    re.IGNORECASE,
)
#: More words of meaning than this make a fact of what begins as a connective.
LONGEST_CONNECTIVE = 6
#: Doubts that no score outweighs.
VETOES = (
    *("figures_missing", "unknown_addresses", "measures", "cell_conflict"),
    *("codes_missing", "weekday_conflict", "month_conflict", "term_conflict", "period_conflict", "every_second_there"),
)


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage as it was given to the model."""

    text: str
    title: str = ""
    heading: str = ""

    @property
    def label(self) -> str:
        return " › ".join(part for part in (self.title, self.heading) if part)


@dataclass(frozen=True, slots=True)
class Meaning:
    """Compares texts by meaning, with an embedding model and an entailment model."""

    embed: Embed
    entails: Entails


@dataclass(frozen=True, slots=True)
class Reason:
    """One doubt: "figure", "date", "polarity", "bound", "modality", "condition", "subject", "quantifier", "name",
    "address", "invented", "decision", "question", "too_long", "unaligned" or "unclear"; `text` is the part that
    raised it."""

    kind: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The decision on a sentence as written; `passage` is the place of the one that it was compared with.

    `unit` is the page's own sentence, list item or table row that it was aligned with, to be shown in its place; empty
    if there is none. `is_connective` sentences state nothing.
    """

    is_supported: bool
    score: float
    reasons: tuple[Reason, ...] = ()
    unit: str = ""
    passage: int | None = None
    is_connective: bool = False


@dataclass(frozen=True, slots=True)
class Checked:
    """A sentence that was aligned with a passage and compared."""

    sentence: Facts
    alignment: Alignment
    comparison: Differences

    @property
    def is_vetoed(self) -> bool:
        # Without a word of meaning, as in "U s e  o n l y", there is nothing to compare.
        return (
            not self.sentence.content or any(self.comparison.features[name] for name in VETOES) or self._compares_rows()
        )

    def _compares_rows(self) -> bool:
        """Return whether a sentence sets a row against the others ("the cheapest hall"): one row does not tell."""
        unit = self.alignment.best.unit
        return bool(unit.cells) and asks_to_compare(self.sentence.text) and not asks_to_compare(unit.whole)


def verify(
    sentence: str,
    passages: Sequence[Passage],
    *,
    language: str = "",
    strictness: Strictness = Strictness.STRICT,
    meaning: Meaning | None = None,
) -> Verdict:
    """Return whether one of the passages that the sentence cites supports it.

    `language` is the sentence's; it decides nothing yet, since both languages' words are read side by side.
    """
    text = MARKER.sub("", sentence).strip()
    if is_connective(text):
        return Verdict(True, 1.0, is_connective=True)
    if is_question(text):
        return Verdict(False, 0.0, (Reason("question"),))
    for place, passage in enumerate(passages):
        if is_quote(text, passage):
            return Verdict(True, 1.0, (), text, place)
    if len(text) > LONGEST_SENTENCE:
        return Verdict(False, 0.0, (Reason("too_long"),))
    checked = [(place, examine(text, passage, meaning=meaning)) for place, passage in enumerate(passages)]
    compared = [(place, each, _score(each)) for place, each in checked if each is not None]
    if not compared:
        return Verdict(False, 0.0, (Reason("unaligned"),))
    place, best, score = max(compared, key=lambda each: each[2])
    reasons = tuple(Reason(kind, said) for kind, said in best.comparison.doubts.items())
    vector = None if meaning is None else meaning.embed([as_sentence(text)])[0]
    if may_decide(text) or (vector is not None and tells_outcome(vector)):
        return Verdict(False, 0.0, (Reason("decision", text), *reasons), _quotable(best), place)
    if vector is not None and refuses(vector):
        return Verdict(False, 0.0, (Reason("unclear"),), _quotable(best), place)
    if _is_supported(text, best, score, passages[place], strictness, meaning):
        return Verdict(True, score, (), _unit(best), place)
    return Verdict(False, score, reasons or (Reason("unclear"),), _quotable(best), place)


def choose_passage(sentence: str, passages: Sequence[Passage], *, meaning: Meaning | None = None) -> int | None:
    """Return the place of the passage that supports a sentence without a citation best; None if no word is shared."""
    text = MARKER.sub("", sentence).strip()[:LONGEST_SENTENCE]
    found = []
    for place, passage in enumerate(passages):
        checked = examine(text, passage, meaning=meaning)
        if checked is not None and checked.alignment.coverage > 0:
            found.append((_score(checked), checked.alignment.coverage, -place))
    return -max(found)[2] if found else None


def is_quote(text: str, passage: Passage) -> bool:
    """Return whether a sentence is one of the passage's own, word for word; a part of one may leave out a condition."""
    said = _bare(as_sentence(text))
    units = split_units(passage.text, passage.title, passage.heading)
    return bool(said) and any(said in (_bare(unit.text), _bare(unit.shown)) for unit in units)


def _bare(text: str) -> str:
    return " ".join(text.split()).strip(" .\"“”„'").casefold()


def is_connective(text: str) -> bool:
    """Return whether a sentence only leads to others and holds no fact."""
    if not text.strip(" .,:;!?-–*"):
        return True
    if len(text) > 200 or not CONNECTIVE.search(text.strip(" *")):
        return False
    facts = read_facts(text)
    has_address = any(True for read in (emails, links, phones) for _ in read(text))
    return (
        not (facts.figures or facts.negations or has_address or facts.modality & {"obliged", "exempt", "forbidden"})
        and len(facts.content) <= LONGEST_CONNECTIVE
    )


def examine(sentence: str, passage: Passage, *, meaning: Meaning | None = None) -> Checked | None:
    """Return the comparison of a sentence with its best unit; None if the passage has no unit."""
    candidates = make_candidates(split_units(passage.text, passage.title, passage.heading))
    if not candidates:
        return None
    text = as_sentence(sentence)
    said = read_facts(text)
    similarities = None if meaning is None else _similarities(text, said, candidates, meaning.embed)
    alignment = align(said, candidates, similarities)
    if alignment is None:
        return None
    whole = read_facts(f"{passage.title} {passage.heading} {passage.text[:LONGEST]}")
    closeness = None
    if similarities is not None:
        closeness = float(similarities[next(n for n, each in enumerate(candidates) if each is alignment.best)])
    return Checked(said, alignment, compare(said, alignment, whole, candidates, similarity=closeness))


def read_unit(checked: Checked, passage: Passage) -> str:
    """Return the aligned words as the entailment model reads them: after title and heading."""
    return f"{passage.label}: {_unit(checked)}"


def _is_supported(
    text: str, checked: Checked, score: float, passage: Passage, strictness: Strictness, meaning: Meaning | None
) -> bool:
    """Return whether the facts allow a sentence and, where the entailment model can be asked, it agrees."""
    if meaning is None:
        return score >= get_classifier(Judge.WORDS).least(strictness)
    facts, both = get_classifier(Judge.FACTS), get_classifier(Judge.ENTAILMENT)
    if score < facts.least(strictness):
        return False
    entailment = meaning.entails(read_unit(checked, passage), text)
    return both.score(checked.comparison.features | {"entailment": entailment}) >= both.least(strictness)


def _score(checked: Checked) -> float:
    if checked.is_vetoed:
        return 0.0
    features = checked.comparison.features
    return get_classifier(Judge.FACTS if features["has_vector"] else Judge.WORDS).score(features)


def _quotable(checked: Checked) -> str:
    """Return the page's own words to be shown in the sentence's place; empty if they are about something else."""
    features = checked.comparison.features
    is_close = features["has_vector"] and features["similarity"] >= CLOSE
    return _unit(checked) if checked.alignment.coverage >= SHARED or is_close else ""


def _unit(checked: Checked) -> str:
    """Return the page's own words: the aligned unit, with a second one that adds to it or is as close."""
    best, other = checked.alignment.best.unit, checked.alignment.second or checked.alignment.runner_up
    if other is None or other.unit.shown in best.shown:
        return best.shown
    # One that points back is shown with the sentence before it, which may be the first of the two.
    return other.unit.shown if best.shown in other.unit.shown else f"{best.shown} {other.unit.shown}"


def _similarities(text: str, said: Facts, candidates: Sequence[Candidate], embed: Embed) -> "NDArray[np.float32]":
    vectors = embed([text, *(each.text for each in candidates)])
    similarities: NDArray[np.float32] = vectors[1:] @ vectors[0]
    return similarities
