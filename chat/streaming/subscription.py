"""What happens in a conversation, as it happens, for doors that are not told by the channel layer themselves."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from typing import Any
from uuid import UUID

from channels.layers import get_channel_layer

from chat.models import Message
from chat.streaming import event_log, replay
from chat.streaming.runner import group_of

Wire = dict[str, Any]
#: Seconds of silence between two signs of life.
HEARTBEAT_SECONDS = 15.0
#: Events that wait for a reader who is slow; past it the stream ends, to be resumed.
MOST_WAITING = 1000


async def subscribe(
    *, visitor: UUID, conversation: UUID, after: int | None, until: int | None = None
) -> AsyncGenerator[Wire | None]:
    """What a tab missed (`chat.streaming.replay`), then each event once and in order; None where there was none for a
    while.

    Ends with the answer `until` where one is named, with its conversation, with its visitor, or where its reader is
    too slow. Raises redis.RedisError, OSError, django.db.DatabaseError.
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
                    told = await waiting.get()
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
                if told is None:
                    return
                if told["type"] != "erased" and told["conversation"] != str(conversation):
                    continue
                number = told["seq"]
                is_next = number is None or number == last + 1
                missed = [told] if is_next else await event_log.since(conversation, last)
            for event in missed:
                last = event["seq"] or last
                yield event
                if _ends(event, until):
                    return


def _leave_if_cancelled() -> None:
    """redis-py writes within `asyncio.wait_for`, which before Python 3.12 can lose a cancellation (cpython#86296): the
    reader has left, and nobody says so twice."""
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
    """All that the visitor's tabs are told; None once too much waits."""
    layer, group = get_channel_layer(), group_of(visitor)
    channel = await layer.new_channel()
    waiting: asyncio.Queue[Wire | None] = asyncio.Queue()

    async def listen() -> None:
        while waiting.qsize() < MOST_WAITING:
            waiting.put_nowait(json.loads((await layer.receive(channel))["text"]))
        waiting.put_nowait(None)
        await layer.group_discard(group, channel)

    listening = asyncio.create_task(listen())
    try:
        await layer.group_add(group, channel)
        yield waiting
    finally:
        listening.cancel()
        # Who leaves at this very moment cancels this too, and the group would keep a channel that nobody reads.
        await asyncio.shield(layer.group_discard(group, channel))
