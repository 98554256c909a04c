"""The events of all answers that this process writes, on their way to the visitors' tabs, each answer's in order.

Whatever waits is sent together, and each answer's words as one delta: a process that writes many answers tells of each
less often, instead of all later and later. Where one answer is written, its words are told as they come.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID
from weakref import WeakKeyDictionary

Wire = dict[str, Any]
#: Seconds without telling after events that were told together, for each but the first: so much of the process is for
#: reading what the models write.
REST = 0.001


@dataclass(frozen=True, slots=True)
class PendingEvent:
    """An event without its number, for all tabs of a visitor."""

    visitor: UUID
    conversation: UUID
    event: Wire


Send = Callable[[Sequence[PendingEvent]], Awaitable[None]]


class EventPublisher:
    """One for each loop; `send` numbers and delivers events, in order."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._waiting: list[PendingEvent] = []
        #: Of each conversation, the newest that waits.
        self._newest: dict[UUID, PendingEvent] = {}
        self._delivered = asyncio.Event()
        self._sending: asyncio.Task[None] | None = None

    def tell(self, visitor: UUID, conversation: UUID, event: Wire) -> asyncio.Event:
        """At once, or after what is being sent; the event that is returned is set once it was."""
        newest = self._newest.get(conversation)
        if newest and newest.event["type"] == event["type"] == "message_delta":
            newest.event["text"] += event["text"]
        else:
            self._newest[conversation] = PendingEvent(visitor, conversation, dict(event))
            self._waiting.append(self._newest[conversation])
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all())
        return self._delivered

    async def _send_all(self) -> None:
        while self._waiting:
            letters, delivered = self._waiting, self._delivered
            self._waiting, self._newest, self._delivered = [], {}, asyncio.Event()
            try:
                await self._send(letters)
            finally:
                delivered.set()
            await asyncio.sleep((len(letters) - 1) * REST)


_posts: WeakKeyDictionary[asyncio.AbstractEventLoop, EventPublisher] = WeakKeyDictionary()


def get_publisher(send: Send) -> EventPublisher:
    loop = asyncio.get_running_loop()
    if loop not in _posts:
        _posts[loop] = EventPublisher(send)
    return _posts[loop]
