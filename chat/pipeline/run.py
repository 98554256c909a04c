"""THE pipeline: one question in, events out. Every door relays this generator, so what is measured is what is served.

It stores nothing: `chat.streaming.runner` saves a visitor's questions and answers around it.
"""

import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import replace

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.abstain import abstain
from chat.pipeline.answering.canned import abuse_reply, chit_chat_reply, help_reply, person_reply, self_description
from chat.pipeline.answering.extract import quote
from chat.pipeline.answering.generate import generate
from chat.pipeline.answering.help_contacts import card_of
from chat.pipeline.guardrails.eligibility import asks_for_decision
from chat.pipeline.question import Context, Question
from chat.pipeline.retrieval.search import gather
from chat.pipeline.understanding.clarify import clarify, clarifying_facet, matches_audience, mentioned_tags
from chat.pipeline.understanding.hyde import hypothesise
from chat.pipeline.understanding.route import understand, wants_person
from chat.protocol.events import Abstain, Delta, End, Event, Help
from core.db.prepared import in_database
from core.inference.llm import client

Route = Message.Route


async def answer(ask: Question) -> AsyncGenerator[Event]:
    """Understands, retrieves, then has the model write or quotes; the last event is always End.

    What fails outside ends in an Error event that says so to the student; only a mistake of ours raises.
    """
    started = time.perf_counter()
    turn, usage = await understand(ask)
    context = Context(ask, turn, started=started)
    context.usage += [usage] if usage else []
    if turn.route != Route.QUESTION:
        events = _reply(context)
    else:
        context.mark("understood")
        # Given back before the model speaks: no connection is held while it does.
        guesses_first = ask.profile.guesses and ask.may_write
        guesses = await hypothesise(turn.question, caller=ask.caller) if guesses_first else ()
        await in_database(gather)(context, guesses)
        events = answer_from(context)
    async with aclosing(events) as stream:
        async for event in stream:
            yield event


async def answer_from(context: Context) -> AsyncGenerator[Event]:
    """From what was found for a question; the last event is End."""
    ask = context.ask
    if not context.candidates:
        found_any = context.retrieval and context.retrieval.hits
        events = abstain(context, "no_evidence" if found_any else "nothing_found")
    elif context.evidence is not None and context.evidence < ask.profile.threshold:
        events = abstain(context, "no_evidence")
    else:
        if named := mentioned_tags(context.turn.question, context.candidates):
            context.candidates = [each for each in context.candidates if matches_audience(each, named)]
        if not context.candidates:  # each is for others than the question names
            events = abstain(context, "no_evidence")
        elif kind := clarifying_facet(replace(context, ask=replace(ask, audience=(*ask.audience, *named)))):
            events = clarify(context, kind)
        else:
            events = _told(context)
    async with aclosing(events) as stream:
        async for event in stream:
            if isinstance(event, End) and event.status == Message.Status.COMPLETE and asks_for_decision(ask.text):
                with translation.override(ask.language):
                    yield Delta("\n\n" + _("Who is admitted or eligible is decided by the university, not by me."))
            yield event


def _told(context: Context) -> AsyncGenerator[Event]:
    """Written, or quoted where there is no model or it has no time."""
    if not client.is_configured():
        return quote(context)
    return generate(context) if context.ask.may_write else quote(context, notice="busy")


async def _reply(context: Context) -> AsyncGenerator[Event]:
    """To what no page answers."""
    ask, route = context.ask, context.turn.route
    context.mark("first_token")
    with translation.override(ask.language):
        if route in Message.HELP_ROUTES:
            event: Event = Help(help_reply(route), card_of(route, ask.emergency_contacts, ask.language))
        elif route == Route.ABUSE:
            event = Abstain("abuse", abuse_reply(), ask.contact)
        elif route == Route.META:
            is_for_person = wants_person(ask.text)
            about = self_description(ask.assistant, ask.institution, ask.suggestions, ask.languages)
            event = Delta(person_reply(ask.contact) if is_for_person else about)
        else:
            event = Delta(chit_chat_reply(ask.text))
    yield event
    status = Message.Status.ABSTAINED if route == Route.ABUSE else Message.Status.COMPLETE
    yield context.end(status, Message.Strategy.FIXED)
