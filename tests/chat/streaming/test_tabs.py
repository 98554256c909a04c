"""A visitor's events from a real Valkey to the tabs of this process."""

import asyncio
import json
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from redis import RedisError
from redis.asyncio.client import PubSub

from chat.streaming import event_log
from chat.streaming.tabs import TabHub
from core import redis


@pytest_asyncio.fixture(autouse=True)
async def _connections() -> AsyncIterator[None]:
    yield
    await redis.connections().aclose()


async def numbers(received: "asyncio.Queue[str]", count: int) -> list[int]:
    async with asyncio.timeout(20):
        return [json.loads(await received.get())["n"] for _ in range(count)]


async def test_every_tab_of_the_visitor_gets_every_event_in_order_and_nobody_else_does() -> None:
    hub, visitor, other = TabHub(), uuid.uuid4(), uuid.uuid4()
    queues: list[asyncio.Queue[str]] = [asyncio.Queue() for _ in range(3)]
    for queue, owner in zip(queues, (visitor, visitor, other), strict=True):
        await hub.subscribe(owner, queue.put_nowait)
    conversation = uuid.uuid4()
    await event_log.append_all([event_log.Entry(visitor, conversation, {"n": n}) for n in range(20)])
    assert [await numbers(queue, 20) for queue in queues[:2]] == [[*range(20)]] * 2
    await hub.unsubscribe(visitor, queues[0].put_nowait)
    await event_log.publish(visitor, {"n": 20})
    assert await numbers(queues[1], 1) == [20]
    assert queues[0].empty()
    assert queues[2].empty()
    for queue, owner in zip(queues, (visitor, visitor, other), strict=True):
        await hub.unsubscribe(owner, queue.put_nowait)
    assert hub._pubsub is None


async def test_a_lost_connection_is_made_again_and_its_tabs_go_on() -> None:
    hub, visitor = TabHub(), uuid.uuid4()
    received: asyncio.Queue[str] = asyncio.Queue()
    await hub.subscribe(visitor, received.put_nowait)
    assert hub._pubsub is not None
    await hub._pubsub.connection.disconnect()
    async with asyncio.timeout(20):
        while received.empty():
            await event_log.publish(visitor, {"n": 1})
            await asyncio.sleep(0.05)
    await hub.unsubscribe(visitor, received.put_nowait)


async def test_a_tab_that_cannot_be_subscribed_is_told_so_and_forgotten(settings: pytest.FixtureRequest) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    hub = TabHub()
    with pytest.raises((RedisError, OSError)):
        await hub.subscribe(uuid.uuid4(), lambda _text: None)
    assert (hub._tabs, hub._pubsub) == ({}, None)


async def test_a_confirmation_that_comes_while_the_command_is_written_is_not_missed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    send = PubSub.execute_command

    async def slowly(self: PubSub, *arguments: str) -> Any:
        sent = await send(self, *arguments)  # type: ignore[no-untyped-call]
        await asyncio.sleep(0.1)
        return sent

    hub, visitors = TabHub(), [uuid.uuid4() for _ in range(3)]
    received: asyncio.Queue[str] = asyncio.Queue()
    await hub.subscribe(visitors[0], received.put_nowait)
    monkeypatch.setattr(PubSub, "execute_command", slowly)
    for visitor in visitors[1:]:
        await hub.subscribe(visitor, received.put_nowait)
    for visitor in visitors:
        await hub.unsubscribe(visitor, received.put_nowait)
