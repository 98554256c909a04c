"""Answers without a language model: the sentences of the sources that are closest to the question, as quotes."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.sources import Candidate, plain
from knowledge.inference.embedder import Embedder
from knowledge.passages.sentences import split_sentences

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WORD = re.compile(r"\w+")
#: Passages whose sentences are compared, sentences that are quoted, and their least and most characters.
PASSAGES, SENTENCES = 4, 3
SHORTEST, LONGEST = 20, 600
#: A further sentence is quoted only when it is nearly as close as the best one.
MARGIN = 0.12
LEXICAL_SHARE = 0.35
RANK_PENALTY = 0.02


@dataclass(frozen=True, slots=True)
class Quotation:
    candidate: Candidate
    text: str
    score: float


def terms(text: str) -> set[str]:
    """Words that carry meaning, roughly stemmed: long enough, cut to six letters; figures stay whole."""
    return {word[:6] for word in WORD.findall(text.lower()) if len(word) > 3 or word.isdecimal()}


def quote_best(
    question: str, vector: "NDArray[np.float32]", candidates: Sequence[Candidate], embedder: Embedder
) -> list[Quotation]:
    """At most SENTENCES quotations, best first; closeness is the cosine plus the share of the question's terms."""
    asked = terms(question)
    units = [
        (rank, candidate, text)
        for rank, candidate in enumerate(candidates[:PASSAGES])
        for sentence in split_sentences(candidate.text)
        if SHORTEST <= len(text := plain(sentence)) <= LONGEST
    ]
    if not units:
        return []
    # The heading belongs to the sentence: "By 15 July." says nothing without "Application deadline".
    cosines = embedder.embed([f"{candidate.label}: {text}" for _, candidate, text in units]) @ vector
    scored = []
    for (rank, candidate, text), cosine in zip(units, cosines.tolist(), strict=True):
        overlap = len(asked & terms(text)) / len(asked) if asked else 0.0
        scored.append(Quotation(candidate, text, cosine + LEXICAL_SHARE * overlap - RANK_PENALTY * rank))
    scored.sort(key=lambda quotation: -quotation.score)
    chosen: list[Quotation] = []
    for quotation in scored:
        if len(chosen) == SENTENCES or quotation.score < scored[0].score - MARGIN:
            break
        if all(quotation.text != other.text for other in chosen):
            chosen.append(quotation)
    return chosen
