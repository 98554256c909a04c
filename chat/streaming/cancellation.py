"""The answers that this process writes: whether their students pressed stop, and signs of life, for all at once."""

import asyncio
import itertools
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from weakref import WeakKeyDictionary

from redis import RedisError

from chat.streaming import event_log

POLL_SECONDS = 0.2
#: Polls between two signs of life.
RENEW_EVERY = 10


class CancellationMonitor:
    """One for each loop: however many answers are written, Valkey is asked once."""

    def __init__(self) -> None:
        self._answers: dict[int, asyncio.Event] = {}
        self._new: set[int] = set()
        self._polling: asyncio.Task[None] | None = None

    @contextmanager
    def watch(self, message_id: int) -> Iterator[asyncio.Event]:
        """Watch an answer; set the event if the student presses stop."""
        stopped = self._answers[message_id] = asyncio.Event()
        self._new.add(message_id)
        if self._polling is None or self._polling.done():
            self._polling = asyncio.create_task(self._poll())
        try:
            yield stopped
        finally:
            del self._answers[message_id]
            self._new.discard(message_id)

    async def _poll(self) -> None:
        for turn in itertools.count():
            if not self._answers:
                return
            with suppress(RedisError, OSError):
                if due := set(self._answers) if turn % RENEW_EVERY == 0 else set(self._new):
                    await event_log.renew_lease(*due)
                    self._new -= due
                for message_id in await event_log.stops_requested(*self._answers):
                    if message_id in self._answers:
                        self._answers[message_id].set()
            await asyncio.sleep(POLL_SECONDS)


_monitors: WeakKeyDictionary[asyncio.AbstractEventLoop, CancellationMonitor] = WeakKeyDictionary()


def get_monitor() -> CancellationMonitor:
    return _monitors.setdefault(asyncio.get_running_loop(), CancellationMonitor())
