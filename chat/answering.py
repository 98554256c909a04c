"""THE pipeline: one question in, events out. Every door relays this generator, so what is measured is what is served.

It stores nothing: `chat.production` saves a visitor's questions and answers around it.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from django.conf import settings
from django.utils import translation
from django.utils.translation import gettext as _

from chat.events import Abstain, Cited, Contact, Delta, End, Error, Event, Replace, Sources
from chat.evidence import evidence_of
from chat.extractive import Quotation, quote_best
from chat.grounding import StreamResolver, VerdictReader, attribute
from chat.hyde import hypothesise
from chat.models import Message
from chat.profiles import PROFILES, Profile, retrieve_with
from chat.prompts import build_messages
from chat.sources import Candidate, as_source, load_candidates
from chat.threads import in_database
from knowledge.inference import chat_model
from knowledge.inference.chat_model import ModelUnavailable
from knowledge.inference.embedder import get_embedder
from knowledge.retrieval.contracts import Origin
from knowledge.retrieval.hybrid import Retrieval
from knowledge.retrieval.question_vectors import question_vector
from knowledge.retrieval.scoping import scope_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Ask:
    """A checked question (`chat.guard`) with what it needs to be answered; `history` is (role, text), oldest first."""

    text: str
    language: str = "en"
    history: Sequence[tuple[str, str]] = ()
    collections: Sequence[str] = ()
    profile: Profile = PROFILES["default"]
    institution: str = "the university"
    contact: Contact | None = None


@dataclass(slots=True)
class Context:
    """What one hop to the database found for a question."""

    retrieval: Retrieval
    candidates: list[Candidate]
    evidence: float
    timings_ms: dict[str, float] = field(default_factory=dict)


def gather_context(ask: Ask, guesses: Sequence[str] = ()) -> Context:
    """All database work of an answer: retrieval and its passages.

    Raises UnknownCollection, EmbeddingUnavailable, RerankerUnavailable.
    """
    started = time.perf_counter()
    profile, scope = ask.profile, scope_of(ask.collections)
    retrieval = retrieve_with(profile, ask.text, scope=scope, k=profile.sources, guesses=guesses)
    candidates = load_candidates(retrieval.hits)
    timings = {**retrieval.timings_ms, "retrieval": (time.perf_counter() - started) * 1000}
    return Context(retrieval, candidates, evidence_of(ask.text, retrieval, candidates), timings)


async def answer(ask: Ask) -> AsyncGenerator[Event]:
    """Retrieves, then has the model write or quotes; the last event is always End.

    What fails outside ends in an Error event that says so to the student; only a mistake of ours raises.
    """
    started = time.perf_counter()
    # Given back before the model speaks: no connection is held while it does.
    guesses = await hypothesise(ask.text) if ask.profile.guesses else ()
    context = await in_database(gather_context)(ask, guesses)
    if not context.candidates or context.evidence < ask.profile.threshold:
        events = _abstain(ask, "no_evidence" if context.candidates else "nothing_found", context)
    elif chat_model.is_configured():
        events = _generate(ask, context)
    else:
        events = _quote(ask, context)
    shown = False
    try:
        async with aclosing(events) as stream:
            async for event in stream:
                if isinstance(event, (Delta, Cited)) and not shown:
                    shown = True
                    context.timings_ms["first_token"] = (time.perf_counter() - started) * 1000
                if isinstance(event, End):
                    context.timings_ms["total"] = (time.perf_counter() - started) * 1000
                yield event
            return
    except ModelUnavailable as error:
        logger.warning("model unavailable code=%s partial=%s", error.code, shown)
        failure = error.code
    context.timings_ms["total"] = (time.perf_counter() - started) * 1000
    if shown:
        with translation.override(ask.language):
            detail = _("The answer broke off because the language model stopped. Please try again.")
        yield Error("model_interrupted", detail)
        yield _end(ask, context, Message.Status.FAILED, Message.Strategy.GENERATED, notice=failure)
        return
    async with aclosing(_quote(ask, context, notice="model_unavailable")) as stream:
        async for event in stream:
            yield event


async def _generate(ask: Ask, context: Context) -> AsyncGenerator[Event]:
    """Relays the model; raises ModelUnavailable."""
    messages = build_messages(ask.text, context.candidates, institution=ask.institution, history=ask.history)
    resolver = StreamResolver({candidate.number: candidate for candidate in context.candidates})
    verdict = VerdictReader()
    text = ""
    async with aclosing(chat_model.stream(messages)) as pieces:
        async for piece in pieces:
            text += piece
            for resolved in resolver.feed(verdict.feed(piece)):
                yield resolved
            if verdict.declined:
                break
    for resolved in [*resolver.feed(verdict.finish()), *resolver.finish()]:
        yield resolved
    if verdict.declined:
        async for event in _abstain(ask, "model_declined", context):
            yield event
        return
    if not resolver.sources:
        for candidate in attribute(text, context.candidates):
            for resolved in resolver.cite(candidate):
                yield resolved
    if not resolver.sources:
        # An answer that no source holds is a guess: it goes.
        yield Replace("")
        async for event in _abstain(ask, "ungrounded", context):
            yield event
        return
    yield Sources(tuple(resolver.sources))
    yield _end(ask, context, Message.Status.COMPLETE, Message.Strategy.GENERATED)


async def _quote(ask: Ask, context: Context, *, notice: str = "") -> AsyncGenerator[Event]:
    """Quotes the closest sentences, one a paragraph, each with its source."""
    quotations = await asyncio.to_thread(closest_sentences, ask.text, context)
    if not quotations:
        async for event in _abstain(ask, "no_evidence", context):
            yield event
        return
    opening, closing = "„“" if ask.language == "de" else "“”"
    sources = []
    for n, quotation in enumerate(quotations, start=1):
        source = as_source(quotation.candidate, n=n, quoted=quotation.text)
        sources.append(source)
        yield Cited(source, quotation.candidate.passage_id, quotation.candidate.document_id)
        separator = "\n\n" if n > 1 else ""
        yield Delta(f"{separator}{opening}{quotation.text}{closing} [{n}]")
    yield Sources(tuple(sources))
    yield _end(ask, context, Message.Status.COMPLETE, Message.Strategy.EXTRACTIVE, notice=notice)


def closest_sentences(question: str, context: Context) -> list[Quotation]:
    """What is quoted where no model writes."""
    curated = {hit.passage_id: hit for hit in context.retrieval.runs.get(Origin.FAQ, ())}
    query = context.retrieval.query
    vector = query.vector if len(query.vector) else question_vector(query.model, question)
    return quote_best(question, vector, context.candidates, get_embedder(query.model), curated=curated)


async def _abstain(ask: Ask, reason: str, context: Context) -> AsyncGenerator[Event]:
    with translation.override(ask.language):
        if reason == "nothing_found":
            text = _("There is nothing to look this up in yet, so I cannot answer it.")
        else:
            text = _("I could not find an answer to this in the pages I know, so I would rather not guess.")
    yield Abstain(reason, text, ask.contact)
    yield _end(ask, context, Message.Status.ABSTAINED, Message.Strategy.NONE)


def _end(ask: Ask, context: Context, status: Message.Status, strategy: Message.Strategy, *, notice: str = "") -> End:
    return End(
        status=status.value,
        strategy=strategy.value,
        notice=notice,
        model=settings.LLM_MODEL if strategy == Message.Strategy.GENERATED else "",
        profile=ask.profile.name,
        evidence=context.evidence,
        timings_ms=context.timings_ms,
    )
