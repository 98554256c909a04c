"""Bounds of one socket: what waits to be sent, and what is read a second."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings

Message = dict[str, Any]
#: Messages that wait beyond what the operating system holds.
MOST_WAITING = 256
#: Seconds that a full queue has to become empty.
SLOW_SECONDS = 5.0


class SendQueue:
    """Stands between an application and its server's `send`. A client that reads too slowly is cut off, instead of
    filling memory: `limit` then expires."""

    def __init__(self, send: Callable[[Message], Awaitable[None]], limit: asyncio.Timeout) -> None:
        self._send = send
        self._limit = limit
        self._waiting: asyncio.Queue[Message] = asyncio.Queue()
        self._has_room = asyncio.Event()
        self._has_room.set()

    async def put(self, message: Message) -> None:
        """Wait for room, then queue a reply to what this client sent."""
        await self._has_room.wait()
        self.put_event(message)

    def put_event(self, message: Message) -> None:
        """Queue an event. It cannot wait for one of its many readers: a full queue has SLOW_SECONDS to become empty."""
        if self._limit.expired():
            return
        self._waiting.put_nowait(message)
        if self._has_room.is_set() and self._waiting.qsize() >= MOST_WAITING:
            self._has_room.clear()
            self._limit.reschedule(asyncio.get_running_loop().time() + SLOW_SECONDS)

    def offer(self, message: Message) -> None:
        """Queue a message if there is room: for what only says that the connection lives."""
        if self._has_room.is_set():
            self.put_event(message)

    async def write(self) -> None:
        """Send what waits, in order, until cancelled; what comes after a disconnect is dropped."""
        is_connected = True
        while True:
            message = await self._waiting.get()
            if is_connected:
                try:
                    await self._send(message)
                except OSError:
                    is_connected = False
            if self._waiting.empty() and not self._has_room.is_set() and not self._limit.expired():
                self._has_room.set()
                self._limit.reschedule(None)


#: Frames at once, as after a reconnect, and frames a second for as long as one likes; more if more may be asked.
BURST = 60
RATE = 10.0


class TokenBucket:
    """A token bucket (RFC 3290, section 5.1.3), emptied by each frame."""

    def __init__(
        self, *, clock: Callable[[], float] | None = None, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._clock = clock or asyncio.get_running_loop().time
        self._sleep = sleep
        self._rate = max(RATE, settings.QUESTIONS_PER_MINUTE / 60)
        self._tokens = float(BURST)
        self._counted = self._clock()

    async def acquire(self) -> None:
        """Wait until one more frame may be read."""
        now = self._clock()
        self._tokens = min(BURST, self._tokens + (now - self._counted) * self._rate) - 1
        self._counted = now
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._rate)
