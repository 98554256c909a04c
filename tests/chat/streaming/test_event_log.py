"""The numbered events of a conversation, in a real Valkey."""

import asyncio
import uuid
from collections.abc import AsyncIterator
from typing import Any

import pytest
import pytest_asyncio
from redis import RedisError

from chat.streaming import event_log
from core import redis


@pytest_asyncio.fixture(autouse=True)
async def _connections() -> AsyncIterator[None]:
    yield
    await redis.connections().aclose()


async def append(conversation: uuid.UUID, event: dict[str, Any]) -> int:
    return (await event_log.append_all([event_log.Entry(uuid.uuid4(), conversation, event)]))[0]


async def test_events_are_numbered_from_one_without_gaps_even_when_they_come_at_once() -> None:
    conversation = uuid.uuid4()
    assert await event_log.last_seq(conversation) == 0
    numbers = await asyncio.gather(*(append(conversation, {"n": n}) for n in range(50)))
    assert sorted(numbers) == list(range(1, 51))
    kept = await event_log.since(conversation, 0)
    assert [event["seq"] for event in kept] == list(range(1, 51))
    assert {event["n"]: event["seq"] for event in kept} == dict(enumerate(numbers))
    assert await event_log.last_seq(conversation) == 50


async def test_only_what_came_after_is_given_back_as_it_was() -> None:
    conversation, other = uuid.uuid4(), uuid.uuid4()
    for text in ("a", 'ü "quoted" \n {{x}} 🎓', "c"):
        await append(conversation, {"type": "message_delta", "text": text})
    await append(other, {"type": "message_end"})
    assert await event_log.since(conversation, 1) == [
        {"type": "message_delta", "text": 'ü "quoted" \n {{x}} 🎓', "seq": 2},
        {"type": "message_delta", "text": "c", "seq": 3},
    ]
    assert await event_log.since(conversation, 3) == []
    assert await event_log.since(uuid.uuid4(), 0) == []


async def test_events_are_not_kept_for_ever_and_their_numbers_outlive_them() -> None:
    conversation = uuid.uuid4()
    await append(conversation, {})
    stream, counter = event_log._stream(conversation), event_log._counter(conversation)
    assert 0 < await redis.connections().ttl(stream) <= event_log.KEPT_SECONDS
    await redis.connections().delete(stream)
    assert await append(conversation, {}) == 2
    assert await redis.connections().exists(counter)


async def test_a_stop_is_for_one_answer() -> None:
    await event_log.request_stop(-17)
    assert await event_log.stops_requested(-16, -17, -18) == {-17}


async def test_a_broker_that_is_away_is_an_error(monkeypatch: pytest.MonkeyPatch, settings: object) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    with pytest.raises(RedisError):
        await append(uuid.uuid4(), {})
