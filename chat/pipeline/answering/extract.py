"""The answer without a language model: the pages' own sentences and tables, each with its source."""

import asyncio
from collections.abc import AsyncGenerator

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.composition import Piece, compose
from chat.pipeline.answering.office.pointer import add_pointer, point_or_abstain
from chat.pipeline.answering.office.repeats import without_repeated
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import as_source
from chat.pipeline.sentences.ranking import rank_parts
from chat.pipeline.sentences.unit_vectors import embed_with_question
from chat.protocol.answer_events import Cited, Delta, Sources
from chat.protocol.event import Event
from chat.protocol.shapes import Source
from core.inference.embeddings import EmbeddingUnavailable
from core.telemetry.tracing import span
from knowledge.chunking.plain_text import escape_marks, make_plain
from knowledge.editions.terms import names
from knowledge.retrieval.types import Origin

QUOTATION_MARKS = {"en": ("“", "”"), "de": ("„", "“")}


async def quote(context: Context, *, notice: str = "") -> AsyncGenerator[Event]:
    """Answer with quotes, one number a page; link a page that staff named, or abstain, if nothing can be quoted."""
    with span("choose quotes"):
        pieces = await asyncio.to_thread(compose_quotes, context)
    if not pieces:
        async for event in point_or_abstain(context, "no_evidence"):
            yield event
        return
    sources: dict[int, Source] = {}
    separator = named = ""
    for piece in pieces:
        candidate = piece.candidate
        source = sources.get(candidate.document_id)
        if source is None:
            quoted = piece.text or make_plain("\n".join(piece.table))
            source = as_source(
                candidate, n=len(sources) + context.first_source, quoted=quoted, question=context.ask.text
            )
            sources[candidate.document_id] = source
            context.mark("first_token")
            yield Cited(source, candidate.passage_id, candidate.document_id)
            if candidate.language != context.ask.language:
                yield Delta(f"{separator}{_language_note(candidate.language, context.ask.language)}")
                separator = "\n\n"
        if candidate.edition != named:
            named = candidate.edition
            if named and not names(piece.text or candidate.label, named):
                yield Delta(f"{separator}**{escape_marks(named)}**")
                separator = "\n\n"
        yield Delta(f"{separator}{_as_text(piece, source.n, context.ask.language)}")
        separator = "\n\n"
    for event in add_pointer(context, cited=sources.keys(), n=len(sources) + context.first_source):
        if isinstance(event, Cited):
            sources[event.document_id] = event.source
        yield event
    yield Sources(tuple(sources.values()))
    yield context.end(Message.Status.COMPLETE, Message.Strategy.EXTRACTIVE, notice=notice)


def compose_quotes(context: Context) -> list[Piece]:
    """Choose what is quoted in an answer that no model writes."""
    if context.retrieval is None:
        return []
    curated = {hit.passage_id: hit for hit in context.retrieval.runs.get(Origin.FAQ, ())}
    question = context.turn.question
    try:
        rankings = rank_parts(question, context.candidates, embed=embed_with_question, curated=curated)
    except EmbeddingUnavailable:
        context.notice = "words_only"
        rankings = rank_parts(question, context.candidates, embed=None, curated=curated)
    return without_repeated(context, compose(question, rankings))


def _as_text(piece: Piece, n: int, language: str) -> str:
    if piece.table:
        return f"**{escape_marks(piece.candidate.label)}** [{n}]\n\n" + piece.shown_table
    opening, closing = QUOTATION_MARKS.get(language, QUOTATION_MARKS["en"])
    if piece.items:
        return f"{opening}{escape_marks(piece.lead)}{closing} [{n}]\n\n" + "\n".join(piece.items)
    return f"{opening}{escape_marks(piece.text)}{closing} [{n}]"


def _language_note(language: str, spoken: str) -> str:
    """Say in which language the page is that is quoted next."""
    with translation.override(spoken):
        known = {"de": _("This page is in German:"), "en": _("This page is in English:")}
        return known.get(language) or _("This page is in another language:")
