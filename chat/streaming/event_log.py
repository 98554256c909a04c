"""The events of every conversation, numbered and kept for a while in Valkey, so that any process can replay them.

A conversation's events form one stream `marcelcms:log:<id>`; an entry's id is its number. `append_all` numbers, stores
and publishes in one step: subscribers get events in the order of their numbers, whichever processes wrote them. Events
are published as JSON to the visitor's channel `marcelcms:visitor:<id>`, to which `chat.streaming.tabs` subscribes.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast
from uuid import UUID

from django.conf import settings

from chat.streaming.holder import name_process
from core.redis import connections, valkey

#: Long answers have some thousands of deltas; who was away longer than this gets the saved conversation instead.
KEPT_EVENTS, KEPT_SECONDS = 10_000, 3600
COUNTED_SECONDS = 30 * 24 * 3600
#: A process that writes an answer and does not renew its lease for so long has died.
LEASE_SECONDS = 6
#: KEYS: stream, counter and mark of deletion of each event's conversation. ARGV: limits, then each channel and event.
APPEND = """
local numbers = {}
for at = 1, #KEYS / 3 do
    local stream, counter, gone = KEYS[3 * at - 2], KEYS[3 * at - 1], KEYS[3 * at]
    local channel, event = ARGV[2 * at + 2], ARGV[2 * at + 3]
    if redis.call('EXISTS', gone) == 1 then
        numbers[at] = 0
    else
        local seq = redis.call('INCR', counter)
        redis.call('XADD', stream, 'MAXLEN', '~', ARGV[1], seq .. '-0', 'event', event)
        redis.call('EXPIRE', stream, ARGV[2])
        redis.call('EXPIRE', counter, ARGV[3])
        numbers[at] = seq
        redis.call('PUBLISH', channel, '{"seq": ' .. seq .. ', ' .. string.sub(event, 2))
    end
end
return numbers
"""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event without its number, for all tabs of a visitor."""

    visitor: UUID
    conversation: UUID
    event: dict[str, Any]


def channel(visitor: UUID) -> str:
    """Return the channel to which a visitor's events are published."""
    return f"marcelcms:visitor:{visitor.hex}"


def _stream(conversation: UUID) -> str:
    return f"marcelcms:log:{conversation}"


def _counter(conversation: UUID) -> str:
    return f"marcelcms:seq:{conversation}"


def _gone(conversation: UUID) -> str:
    return f"marcelcms:gone:{conversation}"


async def append_all(entries: Sequence[Entry]) -> list[int]:
    """Store events in this order, in one step, publish them, and return their numbers: in each conversation from 1 and
    without gaps; 0 if it was deleted. Raise redis.RedisError."""
    return cast("list[int]", await connections().eval(*_append(entries)))


def append_from_thread(entry: Entry) -> None:
    """Do the same with one event where no event loop runs: in a worker, or in a page of the admin."""
    valkey(settings.REDIS_URL).eval(*_append([entry]))


def _append(entries: Sequence[Entry]) -> tuple[Any, ...]:
    keys = [key(entry.conversation) for entry in entries for key in (_stream, _counter, _gone)]
    published = [part for entry in entries for part in (channel(entry.visitor), json.dumps(entry.event))]
    # The counter outlives the stream: a number must never come twice while somebody's page is open.
    limits = (KEPT_EVENTS, KEPT_SECONDS, COUNTED_SECONDS)
    return APPEND, len(keys), *keys, *limits, *published


async def publish(visitor: UUID, event: dict[str, Any]) -> None:
    """Publish an event that has no number and is not kept. Raise redis.RedisError."""
    await connections().publish(channel(visitor), json.dumps(event))


async def forget(*conversations: UUID) -> None:
    """Delete the events of conversations, and take no more of answers still on their way. Raise redis.RedisError."""
    async with connections().pipeline() as pipeline:
        for conversation in conversations:
            pipeline.set(_gone(conversation), 1, ex=KEPT_SECONDS)
            pipeline.delete(_stream(conversation), _counter(conversation))
        await pipeline.execute()


async def is_forgotten(conversation: UUID) -> bool:
    return bool(await connections().exists(_gone(conversation)))


async def last_seq(conversation: UUID) -> int:
    """Return the newest event's number, 0 if there is none. Raise redis.RedisError."""
    return int(await connections().get(_counter(conversation)) or 0)


async def since(conversation: UUID, after: int) -> list[dict[str, Any]]:
    """Return the kept events numbered above `after`, each with its `seq`. Raise redis.RedisError."""
    entries = await connections().xrange(_stream(conversation), min=f"({after}-0", max="+")
    return [
        {**json.loads(fields["event"]), "seq": int(identifier.split("-")[0])}
        for identifier, fields in cast("list[tuple[str, dict[str, str]]]", entries)
    ]


async def renew_lease(*message_ids: int) -> None:
    """Renew the leases of the answers that this process writes; to be called again within LEASE_SECONDS."""
    name = name_process(os.getpid()) or "somewhere"
    async with connections().pipeline() as pipeline:
        for message_id in message_ids:
            pipeline.set(f"marcelcms:held:{message_id}", name, ex=LEASE_SECONDS)
        await pipeline.execute()


async def holder(message_id: int) -> str | None:
    """Return the name of the process that has the lease of an answer; None if none has it."""
    return cast("str | None", await connections().get(f"marcelcms:held:{message_id}"))


async def request_stop(message_id: int) -> None:
    await connections().set(f"marcelcms:stop:{message_id}", 1, ex=KEPT_SECONDS)


async def stops_requested(*message_ids: int) -> set[int]:
    """Return those whose students pressed stop."""
    flags = await connections().mget([f"marcelcms:stop:{message_id}" for message_id in message_ids])
    return {message_id for message_id, flag in zip(message_ids, flags, strict=True) if flag}
