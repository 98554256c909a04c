"""Who follows a conversation without a websocket, and leaves."""

import asyncio
import uuid
from contextlib import suppress
from typing import Any

import pytest

from chat.streaming.subscription import subscribe


async def test_a_reader_who_leaves_while_a_library_swallows_it_is_let_go_of(monkeypatch: pytest.MonkeyPatch) -> None:
    """As `asyncio.wait_for` does before Python 3.12."""
    reached = asyncio.Event()

    async def deaf(**_: object) -> list[dict[str, Any]]:
        reached.set()
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return []

    monkeypatch.setattr("chat.streaming.replay.resume", deaf)
    stream = subscribe(visitor=uuid.uuid4(), conversation=uuid.uuid4(), after=0)
    reading = asyncio.create_task(anext(stream))
    await reached.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(reading, 5)
