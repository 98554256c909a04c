"""Publishes the events of all answers that this process writes to the visitors' tabs, each answer's in order.

Whatever waits is published together, and each answer's words as one delta: a process that writes many answers publishes
less often, instead of later and later. If one answer is written, its words are published as they come.

An event reaches a tab in four calls: `EventPublisher.publish` here, `event_log.append_all` to Valkey, then in each
process with tabs `tabs.TabHub` from Valkey, and `backpressure.SendQueue` to the socket.
"""

import asyncio
import logging
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

from redis import ConnectionError, RedisError

from chat.protocol.event import Event
from chat.streaming import event_log
from chat.streaming.event_log import Entry

logger = logging.getLogger(__name__)

#: Seconds of rest after events that were published together, for each but the first: so much of the process is for
#: reading what the models write.
REST = 0.001
#: Pauses in seconds before events that Valkey could not take are published again; what is written meanwhile waits.
RETRY_AFTER = (0.1, 0.2, 0.4, 0.8, 1, 1, 1, 1)


class EventPublisher:
    """Numbers, keeps and publishes events, in order; one for each event loop."""

    def __init__(self) -> None:
        self._waiting: list[Entry] = []
        #: The newest event that waits in each conversation.
        self._newest: dict[UUID, Entry] = {}
        self._published = asyncio.Event()
        self._publishing: asyncio.Task[None] | None = None

    def publish(self, visitor: UUID, conversation: UUID, event: dict[str, Any]) -> asyncio.Event:
        """Publish an event now, or after what is being published. Return what is set once that was done."""
        newest = self._newest.get(conversation)
        if newest and newest.event["type"] == event["type"] == "message_delta":
            newest.event["text"] += event["text"]
        else:
            self._newest[conversation] = Entry(visitor, conversation, {**event, "conversation": str(conversation)})
            self._waiting.append(self._newest[conversation])
        if self._publishing is None or self._publishing.done():
            self._publishing = asyncio.create_task(self._publish_all())
        return self._published

    async def _publish_all(self) -> None:
        while self._waiting:
            entries, published = self._waiting, self._published
            self._waiting, self._newest, self._published = [], {}, asyncio.Event()
            try:
                # Answers go on if Valkey is away, or their conversations were deleted: a restart costs no word.
                for pause in (*RETRY_AFTER, None):
                    if await _append(entries) or pause is None:
                        break
                    await asyncio.sleep(pause)
            finally:
                published.set()
            await asyncio.sleep((len(entries) - 1) * REST)


async def _append(entries: list[Entry]) -> bool:
    """Publish once. Return False if a retry is safe; after a timeout events may have arrived, so do not resend."""
    try:
        await event_log.append_all(entries)
    except (RedisError, OSError) as error:
        logger.warning("events not delivered count=%d error=%s", len(entries), type(error).__name__)
        return not isinstance(error, ConnectionError)
    return True


async def publish_once(visitor: UUID, conversation: UUID, event: Event) -> None:
    """Publish an event once, numbered and kept; drop it if Valkey is away."""
    await _append([_entry(visitor, conversation, event)])


def publish_from_thread(visitor: UUID, conversation: UUID, event: Event) -> None:
    """Do the same where no event loop runs."""
    try:
        event_log.append_from_thread(_entry(visitor, conversation, event))
    except (RedisError, OSError) as error:
        logger.warning("events not delivered count=%d error=%s", 1, type(error).__name__)


def _entry(visitor: UUID, conversation: UUID, event: Event) -> Entry:
    return Entry(visitor, conversation, {**event.to_wire(), "conversation": str(conversation)})


_publishers: WeakKeyDictionary[asyncio.AbstractEventLoop, EventPublisher] = WeakKeyDictionary()


def get_publisher() -> EventPublisher:
    """Return the publisher of the running event loop."""
    return _publishers.setdefault(asyncio.get_running_loop(), EventPublisher())
