"""How the crawling process tells its parent what it finds, and hears how much of that was taken."""

import asyncio
import os
import sys
import threading

from knowledge.ingest.crawler.findings import Alive, Finding, to_line

#: What the parent writes for each finding that it is done with, signs of life aside.
TAKEN = b"\n"


class Parent:
    """The other end of standard output and input; `most_ahead` findings may wait for it."""

    def __init__(self, most_ahead: int) -> None:
        self._most_ahead = most_ahead
        self._said = self._taken = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._taken_more = asyncio.Event()
        threading.Thread(target=self._hear, daemon=True, name="parent").start()

    def tell(self, finding: Finding) -> None:
        self._said += not isinstance(finding, Alive)
        try:
            sys.stdout.write(to_line(finding))
            sys.stdout.flush()
        except BrokenPipeError:
            os._exit(1)  # nobody listens any more

    async def catches_up(self) -> None:
        """Waits until one more finding may be told."""
        self._loop = asyncio.get_running_loop()
        while self._said - self._taken >= self._most_ahead:
            self._taken_more.clear()
            await self._taken_more.wait()

    def _hear(self) -> None:
        for _line in sys.stdin.buffer:
            self._taken += 1
            if self._loop:
                self._loop.call_soon_threadsafe(self._taken_more.set)
