"""What waits to be sent to one tab, bounded: who reads too slowly is cut off, instead of filling memory."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

Message = dict[str, Any]
#: Messages that wait beyond what the operating system holds.
MOST_WAITING = 256
#: Seconds that a full outbox has to become empty.
SLOW_SECONDS = 5.0


class SlowReader(Exception):
    """The other side does not take what it is sent."""


class Outbox:
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
            raise SlowReader from error

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
