"""The websocket door: reads frames, relays events."""

import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from channels.db import database_sync_to_async
from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.utils import translation
from django.utils.translation import gettext as _
from redis import RedisError

from chat import event_log, limits, production, replay, services, tokens
from chat.guard import Refused, clean_question

logger = logging.getLogger(__name__)
in_database: Callable[..., Callable[..., Awaitable[Any]]] = lambda f: database_sync_to_async(f, thread_sensitive=False)  # noqa: E731


class ChatConsumer(AsyncWebsocketConsumer):
    """One tab of a visitor. Every event of the visitor's conversations reaches all of their tabs."""

    session: tokens.Session | None = None

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        frame: dict[str, Any] = {}
        with translation.override(self.session.language if self.session else settings.LANGUAGE_CODE):
            try:
                frame = read_frame(text_data)
                await self.authenticate(frame)
                await self.handle(frame)
            except tokens.InvalidToken as error:
                await self.refuse(error.code, _("Your session has ended. Please start it again."), frame)
            except Refused as error:
                await self.refuse(error.code, error.detail, frame, retry_after=getattr(error, "retry_after", None))
            except services.NotFound:
                await self.refuse(
                    "not_found", _("This conversation is not there any more. Please begin a new one."), frame
                )
            except (DatabaseError, RedisError, OSError) as error:
                logger.error("chat unavailable error=%s", type(error).__name__)
                await self.refuse("unavailable", _("The service is interrupted. Please try again in a moment."), frame)

    async def authenticate(self, frame: dict[str, Any]) -> None:
        """The first frame carries the token; a later one may renew it."""
        if self.session is not None and "token" not in frame:
            return
        session = tokens.read(frame.get("token"))
        if not await in_database(services.visitor_exists)(session.visitor):
            raise tokens.InvalidToken("session_required")
        if self.session is not None and self.session.visitor != session.visitor:
            await self.channel_layer.group_discard(production.group_of(self.session.visitor), self.channel_name)
        translation.activate(session.language)
        await self.channel_layer.group_add(production.group_of(session.visitor), self.channel_name)
        self.session = session

    async def handle(self, frame: dict[str, Any]) -> None:
        assert self.session is not None
        visitor = self.session.visitor
        match frame["type"]:
            case "ask":
                text = clean_question(frame.get("text"), limit=settings.QUESTION_MAX_CHARACTERS)
                conversation, client_id = as_uuid(frame, "conversation"), as_uuid(frame, "client_id")
                await limits.count_question(visitor.hex)
                opened = await in_database(services.open_question)(
                    visitor=visitor,
                    conversation=conversation,
                    client_id=client_id,
                    text=text,
                    language=self.session.language,
                )
                if opened.is_new:
                    production.start(opened, visitor=visitor)
                else:
                    await self.send_missed(conversation, None)
            case "resume":
                after = frame.get("after")
                await self.send_missed(as_uuid(frame, "conversation"), after if isinstance(after, int) else None)
            case "stop":
                message_id = await in_database(services.own_running_answer)(visitor, frame.get("message"))
                await event_log.request_stop(message_id)
            case "feedback":
                conversation, value = await in_database(services.rate)(
                    visitor=visitor, message_id=frame.get("message"), value=frame.get("value")
                )
                event = {"type": "feedback", "message": frame["message"], "value": value}
                await production.broadcast(visitor, conversation, event)
            case unknown:
                raise Refused("unknown_event", _("This page is out of date. Please reload it.") + f" ({unknown!s:.40})")

    async def send_missed(self, conversation: UUID, after: int | None) -> None:
        assert self.session is not None
        for event in await replay.resume(visitor=self.session.visitor, conversation=conversation, after=after):
            await self.send(json.dumps(event))

    async def relay(self, message: dict[str, Any]) -> None:
        await self.send(json.dumps(message["event"]))

    async def refuse(self, code: str, detail: str, frame: dict[str, Any], *, retry_after: int | None = None) -> None:
        about = {key: frame[key] for key in ("client_id", "message", "conversation") if key in frame}
        event = {"type": "error", "seq": None, "code": code, "detail": detail, "retry_after": retry_after, **about}
        await self.send(json.dumps(event))

    async def disconnect(self, code: int) -> None:
        if self.session is not None:
            await self.channel_layer.group_discard(production.group_of(self.session.visitor), self.channel_name)


def read_frame(text: str | None) -> dict[str, Any]:
    """Raises Refused for anything but a JSON object with a type."""
    try:
        frame = json.loads(text or "")
    except (ValueError, RecursionError):
        frame = None
    if not isinstance(frame, dict) or not isinstance(frame.get("type"), str):
        raise Refused("bad_frame", _("This message could not be read. Please reload the page."))
    return frame


def as_uuid(frame: dict[str, Any], key: str) -> UUID:
    try:
        return UUID(frame[key])
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise Refused("bad_frame", _("This message could not be read. Please reload the page.")) from error
