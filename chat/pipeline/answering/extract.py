"""The answer without a language model: the closest sentences, one a paragraph, each with its source."""

import asyncio
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from chat.models import Message
from chat.pipeline.answering.abstain import abstain
from chat.pipeline.answering.quotable import LONGEST, Quotable, quotable
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import BETWEEN, Candidate, as_source
from chat.pipeline.tuning import (
    FIGURE_BONUS,
    HINT_SHARE,
    LEAST_FAQ_SIMILARITY,
    LEXICAL_SHARE,
    PERIOD_BONUS,
    QUOTE_MARGIN,
    QUOTED_PASSAGES,
    QUOTED_SENTENCES,
    RANK_PENALTY,
)
from chat.protocol.events import Cited, Delta, Event, Sources
from core.inference.embeddings import Embedder, EmbeddingUnavailable, get_embedder
from core.terms import content_words
from knowledge.chunking import periods
from knowledge.chunking.period_match import grade_sentences
from knowledge.chunking.periods import Grade, Period, without_periods
from knowledge.retrieval.query_vectors import question_vector
from knowledge.retrieval.types import Hit, Origin

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUOTATION_MARKS = {"en": ("“", "”"), "de": ("„", "“")}
SHORTEST = 20
#: Questions after a number or a date, and what a sentence that answers them holds.
ASKS_FOR_FIGURE = re.compile(
    r"\b(when|how (much|many|long|often|high|old)|what time|deadlines?|cost|fees?|price"
    r"|wann|wie (viel|viele|lange|oft|hoch|alt)|frist|kostet|kosten|uhrzeit)\b",
    re.IGNORECASE,
)
FIGURE = re.compile(r"\d")


@dataclass(frozen=True, slots=True)
class Quotation:
    candidate: Candidate
    text: str
    score: float


def quote_best(
    question: str,
    vector: "NDArray[np.float32] | None",
    candidates: Sequence[Candidate],
    embedder: Embedder | None,
    *,
    curated: Mapping[int, Hit],
) -> list[Quotation]:
    """Choose at most QUOTED_SENTENCES quotations, best first, by similarity plus the share of the question's terms.

    `curated` holds the hits of passages that a FAQ points to: staff know best, the more so the more exactly the FAQ
    asks the same, and what they wrote as a good answer tells which sentence to quote. Without a vector terms alone
    count.
    """
    asked = content_words(without_periods(question))
    wanted = periods.asked(question)
    units = [
        (rank, candidate, quote, grade)
        for rank, candidate in enumerate(candidates[:QUOTED_PASSAGES])
        for quote, grade in _graded(candidate, wanted)
        if SHORTEST <= len(quote.text) <= LONGEST and grade != Grade.OTHER
    ]
    if not units:
        return []
    # The heading belongs to the sentence: "By 15 July." says nothing without "Application deadline".
    similarities = [0.0] * len(units)
    if vector is not None and embedder is not None:
        cosines = embedder.embed([f"{candidate.label}: {quote.text}" for _, candidate, quote, _grade in units]) @ vector
        similarities = [embedder.scale.of_passage(cosine) for cosine in cosines.tolist()]
    scored = []
    wants_figure = bool(ASKS_FOR_FIGURE.search(question))
    for (rank, candidate, quote, grade), closeness in zip(units, similarities, strict=True):
        held = content_words(quote.text)
        overlap = len(asked & held) / len(asked) if asked else 0.0
        bonus = FIGURE_BONUS if wants_figure and FIGURE.search(quote.text) else 0.0
        bonus += PERIOD_BONUS if wanted and grade == Grade.FITS else 0.0
        if (hit := curated.get(candidate.passage_id)) and hit.score > LEAST_FAQ_SIMILARITY:
            hinted = content_words(hit.hint)
            share = len(hinted & held) / len(hinted) if hinted else 0.0
            exactness = (hit.score - LEAST_FAQ_SIMILARITY) / (1 - LEAST_FAQ_SIMILARITY)
            bonus += hit.score - LEAST_FAQ_SIMILARITY + HINT_SHARE * hit.confidence * exactness * share
        score = closeness + LEXICAL_SHARE * overlap + bonus - RANK_PENALTY * rank
        scored.append(Quotation(candidate, quote.shown, score))
    scored.sort(key=lambda quotation: -quotation.score)
    chosen: list[Quotation] = []
    for quotation in scored:
        if len(chosen) == QUOTED_SENTENCES or quotation.score < scored[0].score - QUOTE_MARGIN:
            break
        if any(quotation.text in other.text for other in chosen):
            continue
        # A sentence that another one brings along is in its place, so that nothing is read twice.
        place = next((place for place, other in enumerate(chosen) if other.text in quotation.text), None)
        if place is None:
            chosen.append(quotation)
        else:
            chosen[place] = quotation
    return chosen


def _graded(candidate: Candidate, wanted: Sequence[Period]) -> list[tuple[Quotable, Grade]]:
    """Return what can be quoted of a passage, graded by the year or term that is asked for."""
    quotes = quotable(candidate.text)
    if not wanted:
        return [(quote, Grade.MAY) for quote in quotes]
    grades = grade_sentences(wanted, candidate.label.split(BETWEEN), candidate.text)
    return list(zip(quotes, grades, strict=True))


async def quote(context: Context, *, notice: str = "") -> AsyncGenerator[Event]:
    quotations = await asyncio.to_thread(closest_sentences, context)
    if not quotations:
        async for event in abstain(context, "no_evidence"):
            yield event
        return
    opening, closing = QUOTATION_MARKS.get(context.ask.language, QUOTATION_MARKS["en"])
    sources = []
    for n, quotation in enumerate(quotations, start=1):
        source = as_source(quotation.candidate, n=n, quoted=quotation.text, question=context.ask.text)
        sources.append(source)
        context.mark("first_token")
        yield Cited(source, quotation.candidate.passage_id, quotation.candidate.document_id)
        separator = "\n\n" if n > 1 else ""
        yield Delta(f"{separator}{opening}{quotation.text}{closing} [{n}]")
    yield Sources(tuple(sources))
    yield context.end(Message.Status.COMPLETE, Message.Strategy.EXTRACTIVE, notice=notice)


def closest_sentences(context: Context) -> list[Quotation]:
    """Choose the quotes of an answer that no model writes."""
    if (retrieval := context.retrieval) is None:
        return []
    question, query = context.turn.question, retrieval.query
    curated = {hit.passage_id: hit for hit in retrieval.runs.get(Origin.FAQ, ())}
    try:
        vector = query.vector if len(query.vector) else question_vector(query.model, question)
        return quote_best(question, vector, context.candidates, get_embedder(query.model), curated=curated)
    except EmbeddingUnavailable:
        context.notice = "words_only"
        return quote_best(question, None, context.candidates, None, curated=curated)
