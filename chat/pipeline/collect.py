"""All events of an answer as one value, for the doors that do not stream."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from chat.pipeline.question import Question
from chat.pipeline.run import answer
from chat.protocol.events import Abstain, Cited, Clarify, Delta, End, Error, Event, Help, Replace
from chat.protocol.shapes import Contact, HelpCard, Source


@dataclass(slots=True)
class Reply:
    """What a student would see, and the record of it; `sources` go with the id of their document."""

    text: str = ""
    sources: list[tuple[Source, int]] = field(default_factory=list)
    reason: str = ""
    contact: Contact | None = None
    related: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    card: HelpCard | None = None
    error: str = ""
    end: End | None = None


async def collect(ask: Question) -> Reply:
    """All events of an answer as one value."""
    return await reply_of(answer(ask))


async def reply_of(answering: AsyncGenerator[Event]) -> Reply:
    """What these events come to."""
    reply = Reply()
    async with aclosing(answering) as events:
        async for event in events:
            match event:
                case Delta():
                    reply.text += event.text
                case Replace():
                    reply.text = event.text
                    reply.sources.clear()
                case Cited():
                    reply.sources.append((event.source, event.document_id))
                case Abstain():
                    reply.text, reply.reason, reply.contact = event.text, event.reason, event.contact
                    reply.related = event.related
                    reply.sources.clear()
                case Clarify():
                    reply.text, reply.choices = event.text, tuple(choice.label for choice in event.choices)
                case Help():
                    reply.text, reply.card = event.text, event.card
                case Error():
                    reply.error = event.detail
                case End():
                    reply.end = event
    return reply
