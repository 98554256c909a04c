"""The answer that a language model writes: each sentence is held until a page proves it."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.conf import settings
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.citations import CitationProcessor, RefusalDetector
from chat.pipeline.answering.extract import QUOTATION_MARKS, quote
from chat.pipeline.answering.held_answer import HeldAnswer
from chat.pipeline.answering.office.pointer import add_pointer, point_or_abstain
from chat.pipeline.answering.office.repeats import find_repeats
from chat.pipeline.answering.prompt import Prompt, WindowTooSmall, build_prompt
from chat.pipeline.answering.proof import Prover
from chat.pipeline.answering.sentence_stream import SentenceStream
from chat.pipeline.guardrails.output import OutputGuard
from chat.pipeline.question import Context
from chat.protocol.answer_events import Cited, Delta, Error, Queued, Sources, Working
from chat.protocol.event import Event
from core.inference.llm import client
from core.inference.llm.client import ModelUnavailable, Usage, Waiting

logger = logging.getLogger(__name__)

#: Evidence this far above the profile's threshold is not thin: small models also refuse what their sources hold, and
#: just above the threshold lie most questions that the pages do not answer.
GOOD_EVIDENCE_MARGIN = 0.08


async def generate(context: Context) -> AsyncGenerator[Event]:
    """Have the model write. If it is away, quote the pages instead; if it breaks off, say so."""
    try:
        prompt = build_prompt(context)
    except WindowTooSmall:
        logger.error("prompt too long for LLM_CONTEXT_TOKENS=%d", settings.LLM_CONTEXT_TOKENS)
        async with aclosing(quote(context, notice="window_too_small")) as events:
            async for event in events:
                yield event
        return
    context.model = context.ask.sampling.model or settings.LLM_MODEL
    context.candidates = prompt.candidates
    shown = False
    try:
        async with aclosing(_relay(context, prompt)) as events:
            async for event in events:
                if isinstance(event, Delta) and not shown:
                    shown = True
                    context.mark("first_token")
                yield event
            return
    except ModelUnavailable as error:
        logger.warning("model unavailable code=%s partial=%s", error.code, shown)
        failure = context.failure = error.code
    if shown:
        with translation.override(context.ask.language):
            detail = _("The answer broke off because the language model stopped. Please try again.")
        yield Error("model_interrupted", detail)
        yield context.end(Message.Status.FAILED, Message.Strategy.GENERATED, notice=failure)
        return
    context.model = ""
    async with aclosing(quote(context, notice="model_unavailable")) as events:
        async for event in events:
            yield event


async def _relay(context: Context, prompt: Prompt) -> AsyncGenerator[Event]:
    """Relay the proven sentences of what the model writes. Raise ModelUnavailable."""
    # It reads all sources, which takes no time of the student's while the model begins.
    preparing = asyncio.ensure_future(asyncio.to_thread(_prepare, context, prompt))
    verdict, sentences, begun = RefusalDetector(), SentenceStream(), False
    writing = client.stream(prompt.messages, sampling=context.ask.sampling, caller=context.ask.caller)
    try:
        async with aclosing(writing) as pieces:
            async for piece in pieces:
                if isinstance(piece, Waiting):
                    yield Queued(piece.position)
                elif isinstance(piece, Usage):
                    context.usage.append(piece)
                else:
                    if not begun:
                        begun = True
                        yield Working("writing")
                    for sentence in sentences.feed(verdict.feed(piece)):
                        for event in await asyncio.to_thread((await preparing).take, sentence):
                            yield event
                    if verdict.declined:
                        break
        held = [] if verdict.declined else sentences.feed(verdict.finish()) + sentences.finish()
    except ModelUnavailable:
        for sentence in sentences.interrupt():
            for event in await asyncio.to_thread((await preparing).take, sentence):
                yield event
        raise
    answer = await preparing
    for sentence in held:
        for event in await asyncio.to_thread(answer.take, sentence):
            yield event
    for event in answer.finish():
        yield event
    if sources := answer.resolver.sources:
        for event in add_pointer(context, cited=answer.resolver.documents, n=len(sources) + context.first_source):
            if isinstance(event, Cited):
                sources.append(event.source)
            yield event
        yield Sources(tuple(sources))
        notice = "partly_quoted" if answer.is_quoted else ""
        yield context.end(Message.Status.COMPLETE, Message.Strategy.GENERATED, notice=notice)
        return
    if verdict.declined and not _has_good_evidence(context):
        without = point_or_abstain(context, "model_declined")
    else:
        without = quote(context, notice="model_declined" if verdict.declined else "nothing_proven")
    async with aclosing(without) as events:
        async for event in events:
            yield event


def _has_good_evidence(context: Context) -> bool:
    """Return whether the pages are so close that a model's refusal does not count; unmeasured evidence is thin."""
    evidence = context.deciding_evidence
    return evidence is not None and evidence >= context.ask.profile.threshold + GOOD_EVIDENCE_MARGIN


def _prepare(context: Context, prompt: Prompt) -> HeldAnswer:
    ask = context.ask
    return HeldAnswer(
        resolver=CitationProcessor(
            {each.number: each for each in prompt.candidates}, question=ask.text, first=context.first_source
        ),
        guard=_guard(context, prompt),
        prover=Prover(prompt.candidates, language=ask.language, strictness=ask.strictness, contact=ask.contact),
        numbers=frozenset(each.number for each in prompt.candidates),
        marks=QUOTATION_MARKS.get(ask.language, QUOTATION_MARKS["en"]),
        record=context.sentences,
        repeats=find_repeats(context),
    )


def _guard(context: Context, prompt: Prompt) -> OutputGuard:
    ask, template = context.ask, context.ask.template
    contact = ask.contact
    known = [ask.text, context.turn.question, *(text for _role, text in ask.history)]
    known += [contact.name, contact.email, contact.url] if contact else []
    return OutputGuard(
        system=f"{prompt.system}\n{template.question}",
        sources=[f"{each.label}\n{each.url}\n{each.text}" for each in prompt.candidates],
        question="\n".join([*known, f"{timezone.localdate():%d.%m.%Y}"]),
    )
