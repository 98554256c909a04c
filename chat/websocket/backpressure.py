"""What waits to be sent to one tab, bounded: who reads too slowly is cut off, instead of filling memory."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

from django.conf import settings

Message = dict[str, Any]
#: Messages that wait beyond what the operating system holds.
MOST_WAITING = 256
#: Seconds that a full outbox has to become empty.
SLOW_SECONDS = 5.0


class SlowConsumer(Exception):
    """The other side does not take what it is sent."""


class SendQueue:
    """Stands between an application and its server's `send`."""

    def __init__(self, send: Callable[[Message], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: asyncio.Queue[Message] = asyncio.Queue(MOST_WAITING)
        self._behind_since: float | None = None

    async def put(self, message: Message) -> None:
        """Waits for room; raises SlowReader where there was none for too long."""
        if self._behind_since is None:
            if not self._waiting.full():
                self._waiting.put_nowait(message)
                return
            self._behind_since = asyncio.get_running_loop().time()
        limit = self._behind_since + SLOW_SECONDS
        try:
            async with asyncio.timeout_at(limit):
                await self._waiting.put(message)
        except TimeoutError as error:
            raise SlowConsumer from error

    def offer(self, message: Message) -> None:
        """Puts it where there is room: for what only says that the line lives."""
        with suppress(asyncio.QueueFull):
            self._waiting.put_nowait(message)

    async def write(self) -> None:
        """Sends what waits, in order, until it is cancelled; what comes after a disconnect is dropped."""
        is_connected = True
        while True:
            message = await self._waiting.get()
            if is_connected:
                try:
                    await self._send(message)
                except OSError:
                    is_connected = False
            if self._waiting.empty():
                self._behind_since = None


#: Frames at once, as after a reconnect, and frames a second for as long as one likes; more where more may be asked.
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

    async def keep(self) -> None:
        """Waits until one more frame may be read."""
        now = self._clock()
        self._tokens = min(BURST, self._tokens + (now - self._counted) * self._rate) - 1
        self._counted = now
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._rate)
