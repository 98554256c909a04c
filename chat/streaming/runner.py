"""Produces a visitor's answer whether or not anybody still listens: saves it, numbers its events, tells every tab."""

import asyncio
import json
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer
from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from redis import ConnectionError, RedisError

from chat.conversations.store import StartedAnswer, close_answer
from chat.models import Message
from chat.pipeline.question import Question
from chat.pipeline.run import answer
from chat.pipeline.understanding.route import route_of
from chat.protocol.events import (
    Abstain,
    Cited,
    Clarify,
    Delta,
    End,
    Erased,
    Error,
    Event,
    Help,
    MessageStart,
    Replace,
    StartedMessage,
    StartedQuestion,
)
from chat.sites import rate_limits
from chat.streaming import event_log
from chat.streaming.cancellation import get_monitor
from chat.streaming.publisher import PendingEvent, get_publisher
from core.db.prepared import in_database
from core.inference.llm import client
from core.metrics import count_answer

logger = logging.getLogger(__name__)

#: Pauses in seconds before an answer that could not be saved is saved again: a database restarts in less.
SAVE_AGAIN_AFTER = (0.5, 1, 2, 4, 8, 16)
#: Pauses in seconds before events that Valkey could not take are told again; what is written meanwhile waits with them.
TELL_AGAIN_AFTER = (0.1, 0.2, 0.4, 0.8, 1, 1, 1, 1)
#: Tasks are only weakly held by the loop.
_running: set[asyncio.Task[None]] = set()


def group_of(visitor: UUID) -> str:
    """The channel group of all of a visitor's tabs."""
    return f"visitor.{visitor.hex}"


def start(opened: StartedAnswer, *, visitor: UUID) -> None:
    """Begins the answer in this process, apart from the socket that asked."""
    task = asyncio.create_task(AnswerRunner(opened, visitor).run())
    _running.add(task)
    task.add_done_callback(_running.discard)


async def finish(*, seconds: float) -> None:
    """Waits, no longer than that, until every answer that this process writes is written: before it stops, their
    sockets being closed. What is not done by then is cancelled with the process, and kept as far as it is written."""
    if _running:
        await asyncio.wait(_running, timeout=seconds)


async def broadcast(visitor: UUID, conversation: UUID, event: Event) -> None:
    """Numbers and keeps the event, and hands it to the visitor's tabs, all in one step; not where Valkey is away."""
    await _append([PendingEvent(visitor, conversation, event.to_wire())])


async def _deliver(letters: Sequence[PendingEvent]) -> None:
    """The answers go on where Valkey is away, and where their conversations were deleted: a restart costs no word."""
    for pause in (*TELL_AGAIN_AFTER, None):
        if await _append(letters) or pause is None:
            return
        await asyncio.sleep(pause)


async def _append(letters: Sequence[PendingEvent]) -> bool:
    """False where it can be tried again; what timed out may have been taken, and must not be told twice."""
    entries = [
        event_log.Entry(
            letter.conversation, {**letter.event, "conversation": str(letter.conversation)}, _channel_of(letter.visitor)
        )
        for letter in letters
    ]
    try:
        await event_log.append_all(entries)
    except (RedisError, OSError) as error:
        logger.warning("events not delivered count=%d error=%s", len(letters), type(error).__name__)
        return not isinstance(error, ConnectionError)
    return True


def _channel_of(visitor: UUID) -> str:
    """What the channel layer publishes to for the group of a visitor's tabs."""
    return str(get_channel_layer()._get_group_channel_name(group_of(visitor)))


async def tell_tabs(visitor: UUID, event: Event) -> None:
    """Hands an event without a number to all of a visitor's tabs. Raises redis.RedisError."""
    await get_channel_layer().group_send(
        group_of(visitor), {"type": "relay", "text": json.dumps(event.to_wire()), "ends": isinstance(event, Erased)}
    )


async def _within_budget(ask: Question) -> Question:
    """The question as it is, or without the model where that has written enough in this minute."""
    needs_model = client.is_configured() and not route_of(ask.text)
    return ask if not needs_model or await rate_limits.llm_quota_available() else replace(ask, may_write=False)


class AnswerRunner:
    """One answer on its way, and what is known of it so far."""

    def __init__(self, opened: StartedAnswer, visitor: UUID) -> None:
        self.opened, self.visitor = opened, visitor
        self.text = ""
        self.kept: list[Cited | Abstain | Clarify | Help] = []
        self.end: End | None = None
        self.status: str = Message.Status.FAILED
        self._post = get_publisher(_deliver)

    async def run(self) -> None:
        question, reply = self.opened.question, self.opened.reply
        self._tell(
            MessageStart(
                StartedQuestion(question.pk, str(question.client_id), question.text, question.created_at.isoformat()),
                StartedMessage(reply.pk, reply.created_at.isoformat()),
            ).to_wire()
        )
        try:
            with get_monitor().over(reply.pk) as stopped:
                await self._relay_until(stopped)
        except Exception:
            logger.exception("answer failed message=%d", reply.pk)
            with translation.override(self.opened.ask.language):
                detail = _("Something went wrong on our side. Your question is saved; please try again.")
            self._tell_of(Error("internal", detail))
        finally:
            await self._finish()

    async def _relay_until(self, stopped: asyncio.Event) -> None:
        relaying, stopping = asyncio.create_task(self._relay()), asyncio.create_task(stopped.wait())
        try:
            await asyncio.wait({relaying, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not relaying.done():
                self.status = Message.Status.STOPPED
        finally:
            stopping.cancel()
            relaying.cancel()
            await asyncio.wait({relaying})
        if not relaying.cancelled():
            relaying.result()  # or what it raised

    async def _relay(self) -> None:
        async with aclosing(answer(await _within_budget(self.opened.ask))) as events:
            async for event in events:
                if isinstance(event, End):
                    self.end, self.status = event, event.status
                else:
                    self._take(event)

    def _take(self, event: Event) -> None:
        if isinstance(event, Delta):
            self.text += event.text
        elif isinstance(event, Replace):
            self.text, self.kept = event.text, []  # what it cited goes with it
        elif isinstance(event, Cited):
            self.kept.append(event)
        elif isinstance(event, (Abstain, Clarify, Help)):
            self.kept = [event]  # neither has sources
        self._tell_of(event)

    async def _finish(self) -> None:
        """Saved first, so that whoever reloads on the last event finds it."""
        if not await self._save():
            self.end, self.status = None, Message.Status.FAILED
            with translation.override(self.opened.ask.language):
                detail = _("The service is interrupted. Please try again in a moment.")
            self._tell_of(Error("unavailable", detail))
        end = self.end or End(status=self.status, strategy="")
        count_answer(status=self.status, strategy=end.strategy, notice=end.notice, timings_ms=end.timings_ms)
        await self._tell_of(replace(end, finished_at=timezone.now().isoformat())).wait()

    async def _save(self) -> bool:
        """Saves the answer, again and again where the database is away for a moment; whether it is saved."""
        save = in_database(close_answer)
        for pause in (*SAVE_AGAIN_AFTER, None):
            try:
                await save(
                    reply_id=self.opened.reply.pk, text=self.text, status=self.status, end=self.end, events=self.kept
                )
                return True
            except (OperationalError, InterfaceError) as error:
                logger.error("answer not saved message=%d error=%s", self.opened.reply.pk, type(error).__name__)
            except DatabaseError:
                logger.exception("answer cannot be saved message=%d", self.opened.reply.pk)
                return False
            if pause is not None:
                await asyncio.sleep(pause)
        return False

    def _tell(self, event: dict[str, Any]) -> asyncio.Event:
        return self._post.tell(self.visitor, self.opened.conversation, event)

    def _tell_of(self, event: Event) -> asyncio.Event:
        return self._tell({**event.to_wire(), "message": self.opened.reply.pk})
