"""Runs a visitor's answer whether or not a tab is still connected: publishes its events and saves it."""

import asyncio
import logging
from contextlib import aclosing
from dataclasses import replace
from typing import Any, Protocol
from uuid import UUID

from django.db import DatabaseError, InterfaceError, OperationalError
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from structlog.contextvars import get_contextvars

from chat.conversations.closing import close_answer
from chat.conversations.opening import StartedAnswer
from chat.models import Message
from chat.pipeline.question import Question
from chat.pipeline.reply import Reply, text_below
from chat.pipeline.run import answer
from chat.pipeline.understanding.route import kind_of
from chat.protocol.answer_events import End, Error
from chat.protocol.event import Event
from chat.protocol.events import MessageStart, StartedMessage, StartedQuestion
from chat.protocol.shapes import Appointment
from chat.sites import rate_limits
from chat.streaming.cancellation import get_monitor
from chat.streaming.publisher import get_publisher
from chat.take_along.appointments import appointments_of
from core.db.prepared import in_database
from core.inference.llm import client
from core.telemetry.metrics import count_answer
from core.telemetry.tracing import note, span, trace

logger = logging.getLogger(__name__)

#: Pauses in seconds before an answer that could not be saved is saved again: a database restarts in less.
SAVE_AGAIN_AFTER = (0.5, 1, 2, 4, 8, 16)
#: Tasks are only weakly held by the loop.
_running: set[asyncio.Task[None]] = set()


class Publisher(Protocol):
    """A way for events to reach their readers."""

    def publish(self, visitor: UUID, conversation: UUID, event: dict[str, Any]) -> asyncio.Event:
        """Hand on an event; what is returned is set once it is published."""


def start(opened: StartedAnswer, *, visitor: UUID, publisher: Publisher | None = None) -> None:
    """Start the answer in this process, apart from the socket that asked; by default all of the visitor's tabs read."""
    task = asyncio.create_task(AnswerRunner(opened, visitor, publisher or get_publisher()).run())
    _running.add(task)
    task.add_done_callback(_running.discard)


async def finish(*, seconds: float) -> None:
    """Wait at most `seconds` until this process has written its answers: before it stops, with their sockets closed.

    What is not done by then is cancelled with the process, and kept as far as it is written.
    """
    if _running:
        await asyncio.wait(_running, timeout=seconds)


async def _within_budget(ask: Question) -> Question:
    """Return the question; without the model if that has written enough in this minute."""
    if not (ask.uses_model and client.is_configured()):
        return ask
    kind = await asyncio.to_thread(kind_of, ask)
    return ask if kind or await rate_limits.llm_quota_available() else replace(ask, allow_llm=False)


class AnswerRunner:
    """One answer that is being written, and what is known of it so far."""

    def __init__(self, opened: StartedAnswer, visitor: UUID, publisher: Publisher) -> None:
        self.opened, self.visitor, self._publisher = opened, visitor, publisher
        self.reply = Reply()
        self.status: str = Message.Status.FAILED

    async def run(self) -> None:
        question, reply = self.opened.question, self.opened.reply
        self._publish(
            MessageStart(
                StartedQuestion(question.pk, str(question.client_id), question.text, question.created_at.isoformat()),
                StartedMessage(reply.pk, reply.created_at.isoformat()),
                self.opened.replaces,
            ).to_wire()
        )
        # An answer that is being saved is alive too: otherwise a tab that comes back would give it up meanwhile.
        with (
            trace("question", message=reply.pk, request_id=get_contextvars().get("request_id", "")),
            get_monitor().watch(reply.pk) as stopped,
        ):
            try:
                await self._relay_until(stopped)
            except Exception:
                logger.exception("answer failed message=%d", reply.pk)
                with translation.override(self.opened.ask.language):
                    detail = _("Something went wrong on our side. Your question is saved; please try again.")
                self._publish_part(Error("internal", detail))
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
                self.reply.take(event)
                if isinstance(event, End):
                    self.status = event.status
                else:
                    self._publish_part(event)

    async def _finish(self) -> None:
        """Save the answer, then publish the last event: a page that reloads on it finds the answer."""
        with span("save"):
            is_saved = await self._save()
        if not is_saved:
            self.reply.end, self.status = None, Message.Status.FAILED
            with translation.override(self.opened.ask.language):
                detail = _("The service is interrupted. Please try again in a moment.")
            self._publish_part(Error("unavailable", detail))
        end = self.reply.end or End(status=self.status, strategy="")
        note(status=self.status, strategy=end.strategy, notice=end.notice, model=end.model, profile=end.profile)
        count_answer(status=self.status, strategy=end.strategy, notice=end.notice, timings_ms=end.timings_ms)
        await self._publish_part(replace(end, finished_at=timezone.now().isoformat(), dates=self._dates())).wait()

    def _dates(self) -> tuple[Appointment, ...]:
        if self.status != Message.Status.COMPLETE:
            return ()
        reply = self.reply
        sources = [source for source, _document in reply.sources]
        below = text_below(reply.office, reply.text)
        return appointments_of(below, reply.office, sources, today=timezone.localdate())

    async def _save(self) -> bool:
        """Save the answer, again if the database is away for a moment. Return whether it is saved."""
        save = in_database(close_answer)
        for pause in (*SAVE_AGAIN_AFTER, None):
            try:
                await save(reply_id=self.opened.reply.pk, reply=self.reply, status=self.status)
                return True
            except (OperationalError, InterfaceError) as error:
                logger.error("answer not saved message=%d error=%s", self.opened.reply.pk, type(error).__name__)
            except DatabaseError:
                logger.exception("answer cannot be saved message=%d", self.opened.reply.pk)
                return False
            if pause is not None:
                await asyncio.sleep(pause)
        return False

    def _publish(self, event: dict[str, Any]) -> asyncio.Event:
        return self._publisher.publish(self.visitor, self.opened.conversation, event)

    def _publish_part(self, event: Event) -> asyncio.Event:
        return self._publish({**event.to_wire(), "message": self.opened.reply.pk})
