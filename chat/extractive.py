"""Answers without a language model: the sentences of the sources that are closest to the question, as quotes."""

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.rewriting import topic_words
from chat.sources import LINKED, Candidate, plain
from chat.wording import terms
from knowledge.inference.embedder import Embedder
from knowledge.passages.sentences import sentence_spans
from knowledge.retrieval.contracts import Hit

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LIST_MARK = re.compile(r"^(?:[-*+•]|\d{1,3}[.)])\s+")
TABLE_RULE = re.compile(r"^\|?[\s:|-]+\|?$")
ENDED = re.compile(r"[.!?…][\"”“»)]*$")
#: Sentences that say nothing without the one before; "Sie" is mostly who is spoken to, "es" mostly nothing.
POINTS_BACK = re.compile(
    r"(?:This|These|Those|They|It|He|She|Its|Their|Er|Ihm|Dies|Diese[mnrs]?|Deren|Dessen|Dafür|Damit|Dazu|Dabei|Davon)\b"
    r"(?! (?:page|site|university|semester|term|year|Seite|Universität|Semester|Jahr)\b)"
)
REFERS = re.compile(r"^(?:See|Siehe|More|Mehr|This page in|Diese Seite auf)\b")
BREAK = re.compile(r"\n\s*\n")
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


def only_refers(sentence: str) -> bool:
    """Whether it says no more than where else to read: "See [the deadlines](…) (in German)."."""
    said, begins = REFERS.subn("", LINKED.sub(" ", sentence.strip()))
    return bool(begins and LINKED.search(sentence)) and len(topic_words(said)) <= 1


def quotable(passage: str) -> list[str]:
    """The passage's sentences, list items and table rows; a sentence that leads to a list takes it along."""
    return [own for own, _whole in quotable_wholes(passage)]


def quotable_wholes(passage: str) -> list[tuple[str, str]]:
    """Each as `quotable` has it, and as it is shown: what cannot stand alone, with what it goes on from."""
    spans = sentence_spans(passage)
    raw = [passage[start:end] for start, end in spans]
    texts = [readable(unit, passage) for unit in raw]
    items = [bool(LIST_MARK.match(unit.strip())) for unit in raw]
    rows = [unit.strip().startswith("|") for unit in raw]
    for place, unit in enumerate(raw):
        if not items[place] and not rows[place] and only_refers(unit):
            texts[place] = ""
    wholes = list(texts)
    for place in range(1, len(texts)):
        before = place - 1
        if items[place]:
            while before > 0 and items[before]:
                before -= 1
            goes_on = texts[place][:1].islower() and not items[before] and not ENDED.search(texts[before])
        else:
            goes_on = bool(POINTS_BACK.match(texts[place])) and not BREAK.search(
                passage[spans[before][1] : spans[place][0]]
            )
        if goes_on and texts[before] and not rows[before] and len(texts[before]) + len(texts[place]) < LONGEST:
            wholes[place] = f"{texts[before]} {texts[place].rstrip(',;')}"
    for place, text in enumerate(texts):
        if not text or items[place] or rows[place] or ENDED.search(text):
            continue
        for item in itertools.takewhile(lambda later: items[later], range(place + 1, len(texts))):
            if len(texts[place]) + len(texts[item]) > LONGEST:
                break
            separator = " " if texts[place] == text else "; "
            texts[place] += separator + texts[item].rstrip(".,;")
            wholes[place] = texts[place]
    return list(zip(texts, wholes, strict=True))


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
        (rank, candidate, text, whole)
        for rank, candidate in enumerate(candidates[:PASSAGES])
        for text, whole in quotable_wholes(candidate.text)
        if SHORTEST <= len(text) <= LONGEST
    ]
    if not units:
        return []
    # The heading belongs to the sentence: "By 15 July." says nothing without "Application deadline".
    similarities = [0.0] * len(units)
    if vector is not None and embedder is not None:
        cosines = embedder.embed([f"{candidate.label}: {text}" for _, candidate, text, _ in units]) @ vector
        similarities = [embedder.scale.of_passage(cosine) for cosine in cosines.tolist()]
    scored = []
    wants_figure = bool(ASKS_FOR_FIGURE.search(question))
    for (rank, candidate, text, whole), closeness in zip(units, similarities, strict=True):
        overlap = len(asked & terms(text)) / len(asked) if asked else 0.0
        bonus = FIGURE_BONUS if wants_figure and FIGURE.search(text) else 0.0
        if (hit := curated.get(candidate.passage_id)) and hit.score > FAQ_LEAST:
            hinted = terms(hit.hint)
            share = len(hinted & terms(text)) / len(hinted) if hinted else 0.0
            exactness = (hit.score - FAQ_LEAST) / (1 - FAQ_LEAST)
            bonus += hit.score - FAQ_LEAST + HINT_SHARE * hit.confidence * exactness * share
        scored.append(Quotation(candidate, whole, closeness + LEXICAL_SHARE * overlap + bonus - RANK_PENALTY * rank))
    scored.sort(key=lambda quotation: -quotation.score)
    chosen: list[Quotation] = []
    for quotation in scored:
        if len(chosen) == SENTENCES or quotation.score < scored[0].score - MARGIN:
            break
        if any(quotation.text in other.text for other in chosen):
            continue
        # A sentence that another one brings along is in its place, so that nothing is read twice.
        held = next((place for place, other in enumerate(chosen) if other.text in quotation.text), None)
        if held is None:
            chosen.append(quotation)
        else:
            chosen[held] = quotation
    return chosen
