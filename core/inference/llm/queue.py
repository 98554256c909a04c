"""The queue for the model: a number of calls at once, the others wait, and callers take turns."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain, zip_longest


class QueueFull(Exception):
    """The queue has reached its limit."""


class QueueTicket:
    """The place of one call: `position` counts from 1, 0 is its turn. Belongs to the event loop that made it."""

    def __init__(self) -> None:
        self.position: int | None = None
        self._told: int | None = None
        self._loop, self._changed = asyncio.get_running_loop(), asyncio.Event()

    def move(self, position: int) -> None:
        """Set the position; may be called from any thread."""
        if position != self.position:
            self.position = position
            self._loop.call_soon_threadsafe(self._changed.set)

    async def moved(self) -> int:
        """Wait until the position differs from the one returned before, and return it."""
        while self.position is None or self.position == self._told:
            self._changed.clear()
            await self._changed.wait()
        self._told = self.position
        return self._told


class ModelQueue:
    """`at_once` calls at a time, `most` waiting. Shared by all threads and event loops of a process.

    One caller's calls come in order; callers take turns (round robin), so that one with many delays nobody by more
    than one.
    """

    def __init__(self, *, at_once: int, most: int) -> None:
        self._at_once, self._most = at_once, most
        self._lock = threading.Lock()
        self._running = 0
        #: By caller, the next one's first.
        self._waiting: dict[str, list[QueueTicket]] = {}

    @contextmanager
    def place(self, caller: str) -> Iterator[QueueTicket]:
        """Take a place in the queue until the block ends, waiting or calling; raises QueueFull."""
        place = QueueTicket()
        with self._lock:
            if self._running >= self._at_once and sum(map(len, self._waiting.values())) >= self._most:
                raise QueueFull
            self._waiting.setdefault(caller, []).append(place)
            self._advance()
        try:
            yield place
        finally:
            with self._lock:
                if place.position == 0:
                    self._running -= 1
                else:
                    self._waiting[caller].remove(place)
                    if not self._waiting[caller]:
                        del self._waiting[caller]
                self._advance()

    def _advance(self) -> None:
        """Give turns to the next callers, and new positions to the others."""
        while self._running < self._at_once and self._waiting:
            caller = next(iter(self._waiting))
            first, *others = self._waiting.pop(caller)
            if others:
                self._waiting[caller] = others  # behind all others
            self._running += 1
            first.move(0)
        rounds = zip_longest(*self._waiting.values())
        in_order = (place for place in chain.from_iterable(rounds) if place is not None)
        for position, place in enumerate(in_order, start=1):
            place.move(position)
