"""Answers as server-sent events: the same events as over the websocket, `data` holds the JSON, `id` the number."""

import json
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Annotated, Any
from uuid import UUID

from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest, StreamingHttpResponse
from ninja import Query, Router
from redis import RedisError

from chat.api.auth import SessionToken, client_address, current_session
from chat.api.openapi import EVENT_STREAM, problems
from chat.conversations.store import own_conversation
from chat.pipeline.guardrails.input import clean_question
from chat.protocol.rest import Question
from chat.services import chat
from chat.streaming import event_log
from chat.streaming.subscription import subscribe
from core.db.prepared import in_database
from core.rest.event_stream import EventStream

logger = logging.getLogger(__name__)

router = Router(auth=SessionToken())
HEARTBEAT = ":\n\n"
After = Annotated[int | None, Query(ge=0, lt=2**53, description="The number of the last event that is known.")]


@router.post(
    "conversations/{conversation}/ask",
    response={200: str, **problems(400, 401, 403, 404, 409, 413, 422, 429, 503)},
    operation_id="conversation_ask",
    summary="Ask, and get the answer as it is written",
    openapi_extra=EVENT_STREAM,
)
async def conversation_ask(request: HttpRequest, conversation: UUID, data: Question) -> StreamingHttpResponse:
    """Ask. The conversation's id is chosen by the client; it begins with its first question. The answer is completed
    and saved whether or not anybody reads it. The stream ends with the answer's `message_end`."""
    session = current_session(request)
    text = clean_question(data.text, limit=settings.QUESTION_MAX_CHARACTERS)
    before = await event_log.last_seq(conversation)
    opened = await chat.ask(
        session,
        conversation=conversation,
        client_id=data.client_id,
        text=text,
        address=client_address(request),
        as_question=data.as_question,
        replaces=data.replaces,
    )
    after = before if opened.is_new else None
    return _stream(subscribe(visitor=session.visitor, conversation=conversation, after=after, until=opened.reply.pk))


@router.get(
    "conversations/{conversation}/events",
    response={200: str, **problems(401, 403, 404, 422, 503)},
    operation_id="conversation_events",
    summary="What happens in a conversation, from an event on",
    openapi_extra=EVENT_STREAM,
)
async def conversation_events(request: HttpRequest, conversation: UUID, after: After = None) -> StreamingHttpResponse:
    """Exactly the events after `after` (or the header Last-Event-ID), then all that come; a `conversation` event with
    everything where they are no longer kept, or where none is named."""
    visitor = current_session(request).visitor
    await in_database(own_conversation)(visitor, conversation)
    known = request.headers.get("Last-Event-ID", "")
    if after is None and known.isascii() and known.isdecimal() and len(known) < 16:
        after = int(known)
    return _stream(subscribe(visitor=visitor, conversation=conversation, after=after))


def _stream(events: AsyncGenerator[dict[str, Any] | None]) -> StreamingHttpResponse:
    return EventStream(_written(events))


async def _written(events: AsyncGenerator[dict[str, Any] | None]) -> AsyncGenerator[str]:
    """Write events as text. End if a part is away: the client comes back for the rest."""
    yield HEARTBEAT  # so that headers go out before the first word
    try:
        async with aclosing(events):
            async for event in events:
                yield HEARTBEAT if event is None else _as_text(event)
    except (DatabaseError, RedisError, OSError) as error:
        logger.error("stream ended error=%s", type(error).__name__)


def _as_text(event: dict[str, Any]) -> str:
    number = "" if event["seq"] is None else f"id: {event['seq']}\n"
    return f"{number}data: {json.dumps(event)}\n\n"
