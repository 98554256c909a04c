"""The pipeline: one question in, events out, in the stages `understand`, `retrieve` and `respond`.

Every door relays `answer`. Playground, prompt preview, shadow test and evaluation call the same stages, so that what
is measured is what is served. Nothing is stored here: `chat.streaming.runner` saves visitors' questions and answers.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Kind, Message
from chat.pipeline.answering.canned import abuse_reply, help_reply, self_description, small_talk_reply
from chat.pipeline.answering.editions import missing_note, name_editions
from chat.pipeline.answering.extract import quote
from chat.pipeline.answering.generate import generate
from chat.pipeline.answering.help_contacts import build_card
from chat.pipeline.answering.office.answer import show_office_answer
from chat.pipeline.answering.office.pointer import point_or_abstain
from chat.pipeline.answering.office.referral import refer
from chat.pipeline.guardrails.eligibility import asks_for_decision
from chat.pipeline.moment import describe_moment
from chat.pipeline.question import Context, Question
from chat.pipeline.reply import Reply, fold
from chat.pipeline.retrieval.search import retrieve
from chat.pipeline.understanding.clarify import clarify, clarifying_facet
from chat.pipeline.understanding.route import understand
from chat.protocol.answer_events import Abstain, Cited, Delta, End, Help, Working
from chat.protocol.event import Event
from core.inference.llm import client
from core.telemetry.tracing import span

Route = Message.Route


async def answer(question: Question) -> AsyncGenerator[Event]:
    """Answer a question; the last event is always End.

    A failure outside (the model, the embedding endpoint) ends in an event that tells the student. Only our own
    mistakes raise, and an unknown collection: UnknownCollection.
    """
    with span("understand"):
        context = await understand(question)
    with span("retrieve"):
        await retrieve(context)
    if context.is_question and context.is_answerable:
        yield Working("reading", pages=len({each.document_id for each in context.candidates}))
    async with aclosing(respond(context)) as events:
        async for event in events:
            yield event


async def collect(question: Question) -> Reply:
    """Answer a question as one value, for doors that do not stream. Raises as `answer`."""
    return await fold(answer(question))


async def respond(context: Context) -> AsyncGenerator[Event]:
    """Answer from what was understood and retrieved; the last event is End."""
    ask = context.ask
    chosen = show_office_answer(context, context.office, _choose) if context.office else _choose(context)
    note = missing_note(context.retrieval, ask.language)
    text, cited = "", []
    async with aclosing(chosen) as events:
        async for event in events:
            if isinstance(event, Delta):
                if note:
                    yield Delta(f"{note}\n\n")
                    note = ""
                text += event.text
            elif isinstance(event, Cited):
                cited.append(event.source)
            elif isinstance(event, End):
                event = replace(event, moment=describe_moment(context, event.strategy))
            is_generated = isinstance(event, End) and event.strategy == Message.Strategy.GENERATED
            if is_generated and (named := name_editions(text, cited, ask.language)):
                yield Delta(f"\n\n{named}")
            if isinstance(event, End) and event.status == Message.Status.COMPLETE and context.is_question:
                if asks_for_decision(ask.text):
                    with translation.override(ask.language):
                        yield Delta("\n\n" + _("Who is admitted or eligible is decided by the university, not by me."))
                yield replace(event, related=context.leads_on)
            else:
                yield event


def _choose(context: Context) -> AsyncGenerator[Event]:
    """Choose the way to answer: a fixed reply, a link, abstention, a question back, the model, or quotes."""
    if not context.is_question:
        return refer(context) if context.turn.kind == Kind.PERSON else _reply(context)
    if not context.is_answerable:
        found_any = context.retrieval and context.retrieval.hits
        return point_or_abstain(context, "no_evidence" if found_any else "nothing_found")
    if not context.office and (kind := clarifying_facet(context)):
        return clarify(context, kind)
    if not client.is_configured() or not context.ask.uses_model:
        return quote(context)
    return generate(context) if context.ask.allow_llm else quote(context, notice="busy")


async def _reply(context: Context) -> AsyncGenerator[Event]:
    """Reply to a message that no page answers."""
    ask, route, kind = context.ask, context.turn.route, context.turn.kind
    context.mark("first_token")
    with translation.override(ask.language):
        if route in Message.HELP_ROUTES:
            event: Event = Help(help_reply(route), build_card(route, ask.emergency_contacts, ask.language))
        elif route == Route.ABUSE:
            event = Abstain("abuse", abuse_reply(), ask.contact)
        elif route == Route.META:
            event = Delta(self_description(ask.assistant, ask.institution, ask.suggestions, ask.languages))
        else:
            event = Delta(small_talk_reply(kind, ask.contact))
    yield event
    status = Message.Status.ABSTAINED if route == Route.ABUSE else Message.Status.COMPLETE
    yield context.end(status, Message.Strategy.FIXED)
