"""The websocket: reads frames, relays events."""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.db import DatabaseError
from django.utils import translation
from django.utils.translation import gettext as _
from redis import RedisError

from chat import errors
from chat.conversations import visitors
from chat.errors import Refused
from chat.protocol.events import Erased, Ping
from chat.protocol.frames import (
    Ask,
    CloseCode,
    Frame,
    GiveFeedback,
    GiveRating,
    Resume,
    SetLanguage,
    Stop,
    UseContact,
)
from chat.services import chat
from chat.sites import rate_limits, session_tokens
from chat.sites.lookup import ForbiddenOrigin, UnknownSite, is_allowed_somewhere, valid_host
from chat.streaming import replay
from chat.streaming.tabs import get_hub
from chat.websocket.backpressure import SendQueue, TokenBucket
from chat.websocket.frames import error_reply, parse_frame, read_frame
from core.db.prepared import in_database

logger = logging.getLogger(__name__)

PING_SECONDS = 20.0
PING, ERASED = json.dumps(Ping().to_wire()), json.dumps(Erased().to_wire())
#: How long a socket may stay open before a frame carries a token that holds. The widget has one before it connects.
TOKEN_SECONDS = 30.0
CLOSE_SECONDS = 5.0


class ChatConsumer(AsyncWebsocketConsumer):
    """One tab of a visitor. Every event of the visitor's conversations reaches all of their tabs."""

    session: session_tokens.Session | None = None
    token: object = None
    pinging: "asyncio.Task[None] | None" = None
    leaving: "asyncio.Task[None] | None" = None

    async def __call__(
        self, scope: dict[str, Any], receive: Callable[[], Awaitable[Any]], send: Callable[[Any], Awaitable[None]]
    ) -> None:
        self.bucket = TokenBucket()
        code = None
        try:
            async with asyncio.timeout(None) as self.slow, asyncio.timeout(TOKEN_SECONDS) as self.token_due:
                self.queue = SendQueue(send, self.slow)
                self.writing = asyncio.create_task(self.queue.write())
                try:
                    await super().__call__(scope, receive, self.queue.put)
                finally:
                    for task in (self.writing, self.pinging):
                        if task is not None:
                            task.cancel()
                    await asyncio.shield(self.leave())
        except TimeoutError:
            if self.slow.expired():
                code = CloseCode.SLOW
                logger.warning("slow reader cut off")
            elif self.token_due.expired():
                code = CloseCode.NO_TOKEN
            else:
                raise
        if code is not None:
            with suppress(TimeoutError, OSError):
                await asyncio.wait_for(send({"type": "websocket.close", "code": code}), CLOSE_SECONDS)

    async def connect(self) -> None:
        """Refuse a page of an origin that no site allows before anything is sent."""
        headers = dict(self.scope["headers"])
        self.origin = headers.get(b"origin", b"").decode("latin-1")
        self.host = valid_host(headers.get(b"host", b"").decode("latin-1"))
        self.address = rate_limits.trusted_address(
            (self.scope.get("client") or [""])[0],
            [value.decode("latin-1") for name, value in self.scope["headers"] if name == b"x-forwarded-for"],
        )
        if not self.host:
            logger.warning("socket refused reason=%s", "unknown host")
            await self.close()
            return
        if not await in_database(is_allowed_somewhere)(self.origin, host=self.host):
            logger.warning("socket refused reason=%s", "unknown origin")
            await self.close()
            return
        await self.accept()
        self.pinging = asyncio.create_task(self.ping())

    async def ping(self) -> None:
        """Send pings: proxies close a silent connection, and clients take it for lost."""
        while True:
            await asyncio.sleep(PING_SECONDS)
            self.queue.offer({"type": "websocket.send", "text": PING})

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        await self.bucket.acquire()
        frame: dict[str, Any] = {}
        with translation.override(self.session.language if self.session else settings.LANGUAGE_CODE):
            try:
                frame = read_frame(text_data)
                session = await self.authenticate(frame)
                await self.handle(parse_frame(frame), session)
            except session_tokens.InvalidToken as error:
                await self.refuse(error.code, _("Your session has ended. Please start it again."), frame)
            except Refused as error:
                await self.refuse(error.code, error.detail, frame, retry_after=getattr(error, "retry_after", None))
            except errors.NotFound:
                await self.refuse("not_found", _("This is not there any more. Please begin anew."), frame)
            except (ForbiddenOrigin, UnknownSite):
                await self.refuse("forbidden_origin", _("The assistant is not available on this page."), frame)
                await self.close(CloseCode.FORBIDDEN)
            except (DatabaseError, RedisError, OSError) as error:
                logger.error("chat unavailable error=%s", type(error).__name__)
                await self.refuse("unavailable", _("The service is interrupted. Please try again in a moment."), frame)

    async def authenticate(self, frame: dict[str, Any]) -> session_tokens.Session:
        """Return the session. The first frame carries its token; a later one may renew it."""
        if self.session is not None and "token" not in frame:
            session_tokens.read(self.token)  # a socket may stay open for longer than the token is valid
            return self.session
        token = frame.get("token")
        session = session_tokens.read(token)
        place = await in_database(visitors.session_site)(session)
        if not place.allows(self.origin, host=self.host):
            raise ForbiddenOrigin
        self.token_due.reschedule(None)
        self.token = token
        await self.leave()
        await get_hub().subscribe(session.visitor, self.relay)
        translation.activate(session.language)
        self.session = session
        return session

    async def handle(self, frame: Frame, session: session_tokens.Session) -> None:
        """Do what a checked frame asks for."""
        visitor = session.visitor
        match frame:
            case Ask():
                opened = await chat.ask(
                    session,
                    conversation=frame.conversation,
                    client_id=frame.client_id,
                    text=frame.text,
                    address=self.address,
                    as_question=frame.as_question,
                    replaces=frame.replaces,
                )
                if not opened.is_new:
                    await self.send_missed(visitor, frame.conversation, None)
            case Resume():
                await self.send_missed(visitor, frame.conversation, frame.after)
            case Stop():
                await chat.stop(visitor, frame.message)
            case GiveFeedback():
                await chat.give_feedback(
                    visitor,
                    message=frame.message,
                    value=frame.value,
                    reasons=frame.reasons,
                    comment=frame.comment,
                )
            case GiveRating():
                await chat.rate(visitor, conversation=frame.conversation, stars=frame.stars)
            case UseContact():
                await chat.use_contact(visitor, message=frame.message, kind=frame.kind)
            case SetLanguage():
                self.session = replace(session, language=frame.language)

    async def send_missed(self, visitor: UUID, conversation: UUID, after: int | None) -> None:
        for event in await replay.resume(visitor=visitor, conversation=conversation, after=after):
            await self.send(json.dumps(event))

    def relay(self, text: str) -> None:
        """Send an event to the tab; after the last one of an erased visitor the session is over."""
        self.queue.put_event({"type": "websocket.send", "text": text})
        if text == ERASED:
            self.leaving = asyncio.create_task(self.leave())

    async def refuse(self, code: str, detail: str, frame: dict[str, Any], *, retry_after: int | None = None) -> None:
        await self.send(json.dumps(error_reply(code, detail, about=frame, retry_after=retry_after)))

    async def leave(self) -> None:
        """Unsubscribe from the visitor's events."""
        session, self.session = self.session, None
        if session is not None:
            await get_hub().unsubscribe(session.visitor, self.relay)
