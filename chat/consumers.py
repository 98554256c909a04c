"""The websocket door: reads frames, relays events."""

import json
import logging
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.utils import translation
from django.utils.translation import gettext as _
from redis import RedisError

from chat import event_log, limits, production, replay, services, tokens
from chat.frames import as_seq, as_uuid, error_event, read_frame
from chat.guard import Refused, clean_question
from chat.threads import in_database

logger = logging.getLogger(__name__)


class ChatConsumer(AsyncWebsocketConsumer):
    """One tab of a visitor. Every event of the visitor's conversations reaches all of their tabs."""

    session: tokens.Session | None = None

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        frame: dict[str, Any] = {}
        with translation.override(self.session.language if self.session else settings.LANGUAGE_CODE):
            try:
                frame = read_frame(text_data)
                session = await self.authenticate(frame)
                await self.handle(frame, session.visitor, session.language)
            except tokens.InvalidToken as error:
                await self.refuse(error.code, _("Your session has ended. Please start it again."), frame)
            except Refused as error:
                await self.refuse(error.code, error.detail, frame, retry_after=getattr(error, "retry_after", None))
            except services.NotFound:
                await self.refuse("not_found", _("This is not there any more. Please begin anew."), frame)
            except (DatabaseError, RedisError, OSError) as error:
                logger.error("chat unavailable error=%s", type(error).__name__)
                await self.refuse("unavailable", _("The service is interrupted. Please try again in a moment."), frame)

    async def authenticate(self, frame: dict[str, Any]) -> tokens.Session:
        """The first frame carries the token; a later one may renew it."""
        if self.session is not None and "token" not in frame:
            return self.session
        session = tokens.read(frame.get("token"))
        if not await in_database(services.visitor_exists)(session.visitor):
            raise tokens.InvalidToken("session_required")
        await self.disconnect(1000)
        await self.channel_layer.group_add(production.group_of(session.visitor), self.channel_name)
        translation.activate(session.language)
        self.session = session
        return session

    async def handle(self, frame: dict[str, Any], visitor: UUID, language: str) -> None:
        match frame["type"]:
            case "ask":
                text = clean_question(frame.get("text"), limit=settings.QUESTION_MAX_CHARACTERS)
                conversation, client_id = as_uuid(frame, "conversation"), as_uuid(frame, "client_id")
                await limits.count_question(visitor.hex)
                await replay.settle(visitor, conversation)
                opened = await in_database(services.open_question)(
                    visitor=visitor, conversation=conversation, client_id=client_id, text=text, language=language
                )
                if opened.is_new:
                    production.start(opened, visitor=visitor)
                else:
                    await self.send_missed(visitor, conversation, None)
            case "resume":
                await self.send_missed(visitor, as_uuid(frame, "conversation"), as_seq(frame, "after"))
            case "stop":
                message_id = await in_database(services.own_running_answer)(visitor, frame.get("message"))
                await event_log.request_stop(message_id)
            case "feedback":
                conversation, value = await in_database(services.rate)(
                    visitor=visitor, message_id=frame.get("message"), value=frame.get("value")
                )
                event = {"type": "feedback", "message": frame["message"], "value": value}
                await production.broadcast(visitor, conversation, event)
            case _unknown:
                raise Refused("unknown_event", _("This page is out of date. Please reload it."))

    async def send_missed(self, visitor: UUID, conversation: UUID, after: int | None) -> None:
        for event in await replay.resume(visitor=visitor, conversation=conversation, after=after):
            await self.send(json.dumps(event))

    async def relay(self, message: dict[str, Any]) -> None:
        await self.send(json.dumps(message["event"]))

    async def refuse(self, code: str, detail: str, frame: dict[str, Any], *, retry_after: int | None = None) -> None:
        await self.send(json.dumps(error_event(code, detail, about=frame, retry_after=retry_after)))

    async def disconnect(self, code: int) -> None:
        if self.session is not None:
            await self.channel_layer.group_discard(production.group_of(self.session.visitor), self.channel_name)
