"""The events of one answer on their way to the visitor's tabs, in order.

Where telling takes longer than the model writes, what was written meanwhile goes as one delta: a busy server tells less
often instead of later and later.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

Wire = dict[str, Any]


class Teller:
    """`send` numbers and delivers an event; it must not raise."""

    def __init__(self, send: Callable[[Wire], Awaitable[None]]) -> None:
        self._send = send
        self._waiting: list[Wire] = []
        self._sending: asyncio.Task[None] | None = None

    def tell(self, event: Wire) -> None:
        """At once, or after what is being sent."""
        last = self._waiting[-1] if self._waiting else None
        if last and last["type"] == event["type"] == "message_delta":
            last["text"] += event["text"]
        else:
            self._waiting.append(dict(event))
        if self._sending is None or self._sending.done():
            self._sending = asyncio.create_task(self._send_all())

    async def told(self) -> None:
        """Until nothing waits."""
        if self._sending is not None:
            await self._sending

    async def _send_all(self) -> None:
        while self._waiting:
            await self._send(self._waiting.pop(0))
