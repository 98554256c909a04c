"""Signs of life of the answers that a process writes."""

import asyncio
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from chat.streaming import cancellation, event_log
from core import redis


@pytest_asyncio.fixture(autouse=True)
async def _connections() -> AsyncIterator[None]:
    yield
    await redis.connections().aclose()


async def has_lease(message_id: int) -> bool:
    for _look in range(250):
        if await event_log.holder(message_id):
            return True
        await asyncio.sleep(0.02)
    return False


async def test_an_answer_that_begins_beside_others_has_its_lease_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancellation, "RENEW_EVERY", 10_000)
    monitor = cancellation.CancellationMonitor()
    with monitor.watch(901):
        assert await has_lease(901)
        with monitor.watch(902):
            assert await has_lease(902)
    await asyncio.sleep(2 * cancellation.POLL_SECONDS)  # its own task ends
