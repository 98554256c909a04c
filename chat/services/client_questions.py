"""Services for what a connected program asks: answered by the same pipeline, saved and counted like other questions."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, replace
from functools import partial
from typing import Any
from uuid import UUID

from django.conf import settings

from chat.conversations.one_off import open_one_off
from chat.models import APIClient, Assistant, Message
from chat.pipeline.guardrails.input import CONTROLS, LONE_SURROGATES, clean_question
from chat.pipeline.question import Context, Turn, build_question
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.retrieval.search import gather, guess
from chat.pipeline.understanding.help_classifier import recognised_need
from chat.pipeline.understanding.own_examples.examples import OwnExamples
from chat.pipeline.understanding.own_examples.loading import load_own_needs
from chat.prompt_template import HISTORY_MESSAGES
from chat.services import api_clients
from chat.streaming import runner
from chat.streaming.own_reader import OwnReader
from chat.streaming.plain_text import PlainAnswer
from core.db.prepared import in_database
from core.db.reading import read_current

History = Sequence[tuple[str, str]]
#: Receives each further part of an answer's text.
Say = Callable[[str], Awaitable[None]]


@dataclass(frozen=True, slots=True)
class Asked:
    """A saved question whose answer is being written; `events` are read once, as `OwnReader` has them."""

    conversation: UUID
    message: int
    created: int
    language: str
    events: AsyncGenerator[dict[str, Any] | None]


@dataclass(frozen=True, slots=True)
class TokensUsed:
    """Tokens of the language model for one answer; none if it quotes pages."""

    read: int = 0
    written: int = 0


async def ask(client: APIClient, *, assistant: Assistant, text: str, history: History, language: str) -> Asked:
    """Save a question and begin its answer. `history` is (role, text) as the program says it was, oldest first.

    Raise Refused for a question that cannot be looked up, TooMany, NotFound if the assistant was deleted meanwhile, and
    redis.RedisError, OSError and django.db.DatabaseError if a part is away.
    """
    question = clean_question(text, limit=settings.QUESTION_MAX_CHARACTERS)
    await api_clients.count(client)
    own_needs = await in_database(load_own_needs)(assistant)
    said = await asyncio.to_thread(clean_history, history, own_needs)
    opened = await in_database(open_one_off)(
        client, assistant=assistant, text=question, language=language, history=said
    )
    reader = OwnReader()
    runner.start(opened, visitor=client.visitor_id, publisher=reader)
    created = int(opened.question.created_at.timestamp())
    return Asked(opened.conversation, opened.reply.pk, created, opened.ask.language, reader.events())


async def read_whole(asked: Asked, *, say: Say | None = None) -> PlainAnswer:
    """Wait for the end of an answer. `say` receives each part of its text as soon as it is proven."""
    answer = PlainAnswer(asked.language)
    async with aclosing(asked.events) as events:
        async for event in events:
            more = "" if event is None else answer.take(event)
            if more and say:
                await say(more)
    return answer


async def search(client: APIClient, *, assistant: Assistant, text: str, limit: int) -> Sequence[Candidate]:
    """Find the passages that an answer would be made from, best first. Nothing is saved.

    Raise Refused, TooMany, and redis.RedisError, OSError and django.db.DatabaseError if a part is away.
    """
    question = clean_question(text, limit=settings.QUESTION_MAX_CHARACTERS)
    await api_clients.count(client)
    build = partial(build_question, assistant, question, assistant.languages[0])
    asked = await in_database(read_current)(build)
    context = Context(
        replace(asked, caller=client.visitor_id.hex, may_lag=True), Turn(Message.Route.QUESTION, asked.text)
    )
    await guess(context)
    await in_database(gather)(context)
    return context.candidates[:limit]


def clean_history(history: History, own_needs: OwnExamples) -> History:
    """Return what of earlier messages is read: the last ones, without controls, and without cries for help.

    As in the widget, no cry for help and no reply to one goes to a model or into another question.
    """
    said: list[tuple[str, str]] = []
    is_help = False
    # One more: the question that the first reply is to.
    for role, text in history[-HISTORY_MESSAGES - 1 :]:
        cleaned = LONE_SURROGATES.sub("\ufffd", CONTROLS.sub("", text)).strip()[: settings.QUESTION_MAX_CHARACTERS]
        if role == "user" and cleaned:
            is_help = recognised_need(cleaned, own_needs) is not None
        if cleaned and not is_help:
            said.append((role, cleaned))
    return tuple(said[-HISTORY_MESSAGES:])


def tokens_used(message: int) -> TokensUsed:
    """Return what the language model read and wrote for an answer that is finished."""
    row = Message.objects.filter(pk=message).values_list("prompt_tokens", "answer_tokens").first()
    return TokensUsed(*(number or 0 for number in row)) if row else TokensUsed()
