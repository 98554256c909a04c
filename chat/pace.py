"""How fast one tab may send frames: whoever sends faster waits, and nobody waits for them."""

import asyncio
from collections.abc import Awaitable, Callable

from django.conf import settings

#: Frames at once, as after a reconnect, and frames a second for as long as one likes; more where more may be asked.
BURST = 60
RATE = 10.0


class Pace:
    """A token bucket (RFC 3290, section 5.1.3), emptied by each frame."""

    def __init__(
        self, *, clock: Callable[[], float] | None = None, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    ) -> None:
        self._clock = clock or asyncio.get_running_loop().time
        self._sleep = sleep
        self._rate = max(RATE, settings.QUESTIONS_PER_MINUTE / 60)
        self._tokens = float(BURST)
        self._counted = self._clock()

    async def keep(self) -> None:
        """Waits until one more frame may be read."""
        now = self._clock()
        self._tokens = min(BURST, self._tokens + (now - self._counted) * self._rate) - 1
        self._counted = now
        if self._tokens < 0:
            await self._sleep(-self._tokens / self._rate)
