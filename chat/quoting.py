"""The answer of an assistant without a language model: the closest sentences, one a paragraph, each with its source."""

import asyncio
from collections.abc import AsyncGenerator

from chat.abstaining import abstain
from chat.context import Context
from chat.events import Cited, Delta, Event, Sources
from chat.extractive import Quotation, quote_best
from chat.models import Message
from chat.sources import as_source
from knowledge.inference.embedder import EmbeddingUnavailable, get_embedder
from knowledge.retrieval.contracts import Origin
from knowledge.retrieval.question_vectors import question_vector


async def quote(context: Context, *, notice: str = "") -> AsyncGenerator[Event]:
    quotations = await asyncio.to_thread(closest_sentences, context)
    if not quotations:
        async for event in abstain(context, "no_evidence"):
            yield event
        return
    opening, closing = "„“" if context.ask.language == "de" else "“”"
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
    """What is quoted where no model writes."""
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
