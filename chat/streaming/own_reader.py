"""Events of one answer for a reader in the process that writes it: nobody else follows it, and it is never resumed."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any
from uuid import UUID

from chat.streaming.subscription import HEARTBEAT_SECONDS

Wire = dict[str, Any]


class OwnReader:
    """Publishes an answer's events to whoever reads `events`; if nobody does, the answer is written all the same."""

    def __init__(self) -> None:
        self._waiting: asyncio.Queue[Wire] = asyncio.Queue()

    def publish(self, _visitor: UUID, _conversation: UUID, event: Wire) -> asyncio.Event:
        self._waiting.put_nowait(event)
        published = asyncio.Event()
        published.set()
        return published

    async def events(self) -> AsyncGenerator[Wire | None]:
        """Yield each event up to the answer's last one; None after a silence."""
        while True:
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    event = await self._waiting.get()
            except TimeoutError:
                yield None
                continue
            yield event
            if event["type"] == "message_end":
                return
