"""The answer that a language model writes: its verdict first, its citations resolved as they come, all of it checked
at the end."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing

from django.conf import settings
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.abstain import abstain
from chat.pipeline.answering.citations import CitationProcessor, RefusalDetector, attribute_sources
from chat.pipeline.answering.extract import quote
from chat.pipeline.answering.prompt import Prompt, WindowTooSmall, build_prompt
from chat.pipeline.guardrails.output import OutputGuard, Violation, unsupported_claims
from chat.pipeline.question import Context
from chat.protocol.events import Delta, Error, Event, Queued, Replace, Sources
from core.inference.llm import client
from core.inference.llm.client import ModelUnavailable, Usage, Waiting

logger = logging.getLogger(__name__)

#: An answer most of whose statements stand in none of the passages that it cites for them is taken back.
MOST_UNSUPPORTED = 0.5


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
        failure = error.code
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
    """Relay what the model writes, as far as it may be shown. Raise ModelUnavailable."""
    # It reads all sources, which takes no time of the student's while the model begins.
    guarding = asyncio.ensure_future(asyncio.to_thread(_guard, context, prompt))
    resolver = CitationProcessor({each.number: each for each in prompt.candidates}, question=context.ask.text)
    verdict = RefusalDetector()
    reason = ""
    try:
        async with aclosing(_written(context, prompt, resolver, verdict)) as events:
            async for event in events:
                if isinstance(event, Delta) and (reason := _named((await guarding).check_piece(event.text))):
                    break
                yield event
    except ModelUnavailable:
        # Its last word may be half a figure.
        if _named((await guarding).check(resolver.text.rpartition(" ")[0])):
            yield Replace("")
        raise
    if verdict.declined:
        reason = "model_declined"
    reason = reason or await asyncio.to_thread(_fault, context, resolver, await guarding)
    if reason:
        # What was shown of it goes: an answer that no source holds is a guess.
        if resolver.text:
            yield Replace("")
        async for event in abstain(context, reason):
            yield event
        return
    yield Sources(tuple(resolver.sources))
    yield context.end(Message.Status.COMPLETE, Message.Strategy.GENERATED)


async def _written(
    context: Context, prompt: Prompt, resolver: CitationProcessor, verdict: RefusalDetector
) -> AsyncGenerator[Event]:
    """Stream the model's answer with its citations resolved. Raise ModelUnavailable."""
    text = ""
    pieces = client.stream(prompt.messages, sampling=context.ask.sampling, caller=context.ask.caller)
    async with aclosing(pieces):
        async for piece in pieces:
            if isinstance(piece, Waiting):
                yield Queued(piece.position)
            elif isinstance(piece, Usage):
                context.usage.append(piece)
            else:
                text += piece
                for event in resolver.feed(verdict.feed(piece)):
                    yield event
                if verdict.declined:
                    return
    for event in [*resolver.feed(verdict.finish()), *resolver.finish()]:
        yield event
    if not verdict.declined and not resolver.sources:
        for candidate in attribute_sources(text, prompt.candidates):
            for event in resolver.cite(candidate):
                yield event


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


def _fault(context: Context, resolver: CitationProcessor, guard: OutputGuard) -> str:
    """Return why a complete answer is taken back; empty if it stands."""
    if not resolver.sources:
        return "ungrounded"
    if reason := _named(guard.check(resolver.text)):
        return reason
    claims = resolver.claims(context.ask.language)
    return "unsupported" if len(unsupported_claims(claims)) > MOST_UNSUPPORTED * len(claims) else ""


def _named(violations: Sequence[Violation]) -> str:
    if not violations:
        return ""
    logger.warning("answer taken back kinds=%s", ",".join(sorted({each.kind for each in violations})))
    return "leaked" if any(each.kind == "system_prompt" for each in violations) else "unsupported"
