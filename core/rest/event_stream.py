"""A reply of server-sent events."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from django.http import StreamingHttpResponse


class EventStream(StreamingHttpResponse):
    """Closes its events with itself; else the garbage collector would, and a tab that left be told things till then."""

    def __init__(self, events: AsyncGenerator[str]) -> None:
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        super().__init__(events, content_type="text/event-stream", headers=headers)
        self._events = events

    async def __aiter__(self) -> AsyncGenerator[bytes]:
        async with aclosing(self._events):
            async for event in self._events:
                yield event.encode()
