"""Answers without a language model: the sentences of the sources that are closest to the question, as quotes."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.sources import Candidate, plain
from chat.wording import terms
from knowledge.inference.embedder import Embedder
from knowledge.passages.sentences import split_sentences
from knowledge.retrieval.contracts import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIST_MARK = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
TABLE_RULE = re.compile(r"^\|?[\s:|-]+\|?$")
ENDED = re.compile(r"[.!?…][\"”“»)]*$")
CELL_END = re.compile(r"(?<!\\)\|")
#: Passages whose sentences are compared, sentences that are quoted, and their least and most characters.
PASSAGES, SENTENCES = 6, 3
SHORTEST, LONGEST = 20, 600
#: A further sentence is quoted only when it is nearly as close as the best one.
MARGIN = 0.12
LEXICAL_SHARE = 0.5
RANK_PENALTY = 0.01
#: Questions after a number or a date, and what a sentence that answers them holds.
ASKS_FOR_FIGURE = re.compile(
    r"\b(when|how (much|many|long|often|high|old)|what time|deadlines?|cost|fees?|price"
    r"|wann|wie (viel|viele|lange|oft|hoch|alt)|frist|kostet|kosten|uhrzeit)\b",
    re.IGNORECASE,
)
FIGURE = re.compile(r"\d")
FIGURE_BONUS = 0.15
#: From this similarity on, the more exactly a curated FAQ asks the same, the more its documents are preferred.
FAQ_LEAST = 0.6
HINT_SHARE = 0.8


@dataclass(frozen=True, slots=True)
class Quotation:
    candidate: Candidate
    text: str
    score: float


def readable(unit: str, passage: str) -> str:
    """A sentence, list item or table row as a quote; a row says which column each cell is from."""
    unit = LIST_MARK.sub("", unit.strip())
    rows = [line.strip() for line in passage.splitlines() if line.strip().startswith("|")]
    if unit not in rows:
        return plain(unit)
    if TABLE_RULE.match(unit):
        return ""
    cells = _cells(unit)
    header = _cells(rows[0])
    if unit == rows[0] and len(rows) > 1 and TABLE_RULE.match(rows[1]):
        return ""
    named = zip(header, cells, strict=False)
    return "; ".join(f"{name}: {cell}" if name else cell for name, cell in named if cell)


def quotable(passage: str) -> list[str]:
    """The passage's sentences, list items and table rows; a sentence that leads to a list takes it along."""
    raw = split_sentences(passage)
    texts = [readable(unit, passage) for unit in raw]
    items = [bool(LIST_MARK.match(unit.strip())) for unit in raw]
    for place, text in enumerate(texts):
        if items[place] or raw[place].strip().startswith("|") or ENDED.search(text):
            continue
        for item in itertools.takewhile(lambda later: items[later], range(place + 1, len(texts))):
            if len(texts[place]) + len(texts[item]) > LONGEST:
                break
            separator = " " if texts[place] == text else "; "
            texts[place] += separator + texts[item].rstrip(".,;")
    return texts


def _cells(row: str) -> list[str]:
    return [plain(cell) for cell in CELL_END.split(row.strip().strip("|"))]


def quote_best(
    question: str,
    vector: "NDArray[np.float32] | None",
    candidates: Sequence[Candidate],
    embedder: Embedder | None,
    *,
    curated: Mapping[int, Hit],
) -> list[Quotation]:
    """At most SENTENCES quotations, best first; closeness is the similarity plus the share of the question's terms.

    `curated` holds the hits of passages that a FAQ points to: staff know best, the more so the more exactly the FAQ
    asks the same, and what they wrote as a good answer tells which sentence to quote. Without a vector terms alone
    count.
    """
    asked = terms(question)
    units = [
        (rank, candidate, text)
        for rank, candidate in enumerate(candidates[:PASSAGES])
        for text in quotable(candidate.text)
        if SHORTEST <= len(text) <= LONGEST
    ]
    if not units:
        return []
    # The heading belongs to the sentence: "By 15 July." says nothing without "Application deadline".
    similarities = [0.0] * len(units)
    if vector is not None and embedder is not None:
        cosines = embedder.embed([f"{candidate.label}: {text}" for _, candidate, text in units]) @ vector
        similarities = [embedder.scale.of_passage(cosine) for cosine in cosines.tolist()]
    scored = []
    wants_figure = bool(ASKS_FOR_FIGURE.search(question))
    for (rank, candidate, text), closeness in zip(units, similarities, strict=True):
        overlap = len(asked & terms(text)) / len(asked) if asked else 0.0
        bonus = FIGURE_BONUS if wants_figure and FIGURE.search(text) else 0.0
        if (hit := curated.get(candidate.passage_id)) and hit.score > FAQ_LEAST:
            hinted = terms(hit.hint)
            share = len(hinted & terms(text)) / len(hinted) if hinted else 0.0
            bonus += hit.score - FAQ_LEAST + HINT_SHARE * hit.confidence * share
        scored.append(Quotation(candidate, text, closeness + LEXICAL_SHARE * overlap + bonus - RANK_PENALTY * rank))
    scored.sort(key=lambda quotation: -quotation.score)
    chosen: list[Quotation] = []
    for quotation in scored:
        if len(chosen) == SENTENCES or quotation.score < scored[0].score - MARGIN:
            break
        if all(quotation.text != other.text for other in chosen):
            chosen.append(quotation)
    return chosen
