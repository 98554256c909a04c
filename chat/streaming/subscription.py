"""Subscribes to a conversation's events, for clients that read a stream."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from chat.models import Message
from chat.streaming import event_log, replay
from chat.streaming.tabs import get_hub

Wire = dict[str, Any]
#: Seconds of silence between two heartbeats.
HEARTBEAT_SECONDS = 15.0
#: Events that wait for a reader who is slow; past it the stream ends, to be resumed.
MOST_WAITING = 1000


async def subscribe(
    *, visitor: UUID, conversation: UUID, after: int | None, until: int | None = None
) -> AsyncGenerator[Wire | None]:
    """Yield what a tab missed (`chat.streaming.replay`), then each event once and in order; None after a silence.

    Ends with the answer `until` if one is named, with its conversation, with its visitor, or if its reader is too
    slow. Raises redis.RedisError, OSError, django.db.DatabaseError.
    """
    async with _subscription(visitor) as waiting:
        last = after or 0
        for event in await replay.resume(visitor=visitor, conversation=conversation, after=after):
            last = event["last_seq"] if event["seq"] is None else event["seq"]
            yield event
            if _ends(event, until):
                return
        while True:
            _leave_if_cancelled()
            missed: list[Wire] = []
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    received = await waiting.get()
            except TimeoutError:
                yield None
                # What was lost while Valkey was away.
                missed = await event_log.since(conversation, last)
                if not missed and until is not None:
                    # The process that wrote may have died; where it did not, its last events are on their way.
                    saved = await replay.resume(visitor=visitor, conversation=conversation, after=None)
                    is_all = saved[0]["seq"] is None and saved[0]["last_seq"] == last
                    missed = saved if is_all and _ends(saved[0], until) else []
            else:
                if received is None:
                    return
                if received["type"] != "erased" and received["conversation"] != str(conversation):
                    continue
                number = received["seq"]
                is_next = number is None or number == last + 1
                missed = [received] if is_next else await event_log.since(conversation, last)
            for event in missed:
                last = event["seq"] or last
                yield event
                if _ends(event, until):
                    return


def _leave_if_cancelled() -> None:
    """Leave if the reader has left. redis-py writes within `asyncio.wait_for`, which before Python 3.12 can lose a
    cancellation (cpython#86296)."""
    task = asyncio.current_task()
    if task and task.cancelling():
        raise asyncio.CancelledError


def _ends(event: Wire, until: int | None) -> bool:
    match event["type"]:
        case "erased" | "conversation_deleted":
            return True
        case "message_end":
            return bool(event["message"] == until)
        case "conversation":
            generating = (each["id"] for each in event["messages"] if each["status"] == Message.Status.GENERATING)
            return until is not None and until not in generating
    return False


@asynccontextmanager
async def _subscription(visitor: UUID) -> AsyncIterator[asyncio.Queue[Wire | None]]:
    """Queue the visitor's events; None once too many wait."""
    waiting: asyncio.Queue[Wire | None] = asyncio.Queue()

    def receive(text: str) -> None:
        if waiting.qsize() < MOST_WAITING:
            waiting.put_nowait(json.loads(text))
        elif waiting.qsize() == MOST_WAITING:
            waiting.put_nowait(None)

    hub = get_hub()
    await hub.subscribe(visitor, receive)
    try:
        yield waiting
    finally:
        # A reader who leaves at this very moment cancels this too, and the hub would keep a queue that nobody reads.
        await asyncio.shield(hub.unsubscribe(visitor, receive))
