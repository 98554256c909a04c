"""Hands a visitor's events from Valkey to their tabs: one connection for all tabs of a process."""

import asyncio
import logging
from collections.abc import Callable
from uuid import UUID
from weakref import WeakKeyDictionary

from redis import RedisError
from redis.asyncio.client import PubSub

from chat.streaming import event_log
from core.redis import connections

logger = logging.getLogger(__name__)

#: Takes an event as JSON; must not wait.
Receive = Callable[[str], None]
#: Seconds in which Valkey must confirm a subscription, and between two tries to reach it again.
CONFIRM_SECONDS, RETRY_SECONDS = 5.0, 0.5


class TabHub:
    """Subscriptions of one event loop to visitors' channels (Valkey SUBSCRIBE); open while there are tabs."""

    def __init__(self) -> None:
        self._tabs: dict[str, list[Receive]] = {}
        self._confirmed: dict[str, asyncio.Event] = {}
        self._changing = asyncio.Lock()
        self._pubsub: PubSub | None = None
        self._listening: asyncio.Task[None] | None = None

    async def subscribe(self, visitor: UUID, receive: Receive) -> None:
        """Hand each of the visitor's events to `receive` from now on. Raise redis.RedisError, OSError."""
        channel = event_log.channel(visitor)
        self._tabs.setdefault(channel, []).append(receive)
        try:
            async with self._changing:
                if channel not in self._confirmed:
                    await self._open(channel)
            async with asyncio.timeout(CONFIRM_SECONDS):
                await self._confirmed[channel].wait()
        except BaseException:
            await asyncio.shield(self.unsubscribe(visitor, receive))
            raise

    async def unsubscribe(self, visitor: UUID, receive: Receive) -> None:
        """Hand nothing more to `receive`."""
        channel = event_log.channel(visitor)
        receivers = self._tabs.get(channel, [])
        if receive in receivers:
            receivers.remove(receive)
        async with self._changing:
            if self._tabs.get(channel):
                return
            self._tabs.pop(channel, None)
            self._confirmed.pop(channel, None)
            try:
                if not self._tabs:
                    await self._close()
                elif self._pubsub is not None:
                    await self._pubsub.unsubscribe(channel)
            except (RedisError, OSError) as error:
                logger.warning("tab not unsubscribed error=%s", type(error).__name__)

    async def _open(self, channel: str) -> None:
        if self._pubsub is None:
            self._pubsub = connections().pubsub()
        # Before it is sent: while the command is written, the confirmation may be read already.
        self._confirmed[channel] = asyncio.Event()
        await self._pubsub.subscribe(channel)
        if self._listening is None:
            self._listening = asyncio.create_task(self._listen(self._pubsub))

    async def _close(self) -> None:
        listening, pubsub = self._listening, self._pubsub
        self._listening = self._pubsub = None
        if listening is not None:
            listening.cancel()
            await asyncio.wait({listening})
        if pubsub is not None:
            await pubsub.aclose()  # type: ignore[no-untyped-call]

    async def _listen(self, pubsub: PubSub) -> None:
        """Read until cancelled. What is lost while Valkey is away, tabs ask for when they see the gap."""
        while True:
            try:
                message = await pubsub.get_message(timeout=None)
            except (RedisError, OSError) as error:
                logger.warning("events not received error=%s", type(error).__name__)
                await asyncio.sleep(RETRY_SECONDS)
                continue
            if message is None:
                continue
            if message["type"] == "subscribe" and message["channel"] in self._confirmed:
                self._confirmed[message["channel"]].set()
            elif message["type"] == "message":
                for receive in tuple(self._tabs.get(message["channel"], ())):
                    receive(message["data"])


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, TabHub] = WeakKeyDictionary()


def get_hub() -> TabHub:
    """Return the hub of the running event loop."""
    return _hubs.setdefault(asyncio.get_running_loop(), TabHub())
