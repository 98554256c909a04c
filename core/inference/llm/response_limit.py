"""A limit on the size of a response: the client would gather it in memory, whatever its size."""

from collections.abc import AsyncGenerator, AsyncIterator
from typing import cast

import httpx2

MOST_BYTES = 1 << 20
#: What ends an event of a stream (WHATWG HTML, server-sent events).
EVENT_ENDS = (b"\n\n", b"\n\r\n", b"\r\r")


class BodyTooLarge(Exception):
    """One event of a stream, or a body that is none, has more than MOST_BYTES."""


async def bound_body(response: httpx2.Response) -> None:
    """Limit the size of a response's body, as a hook of the HTTP client; reading too much raises BodyTooLarge."""
    kind = response.headers.get("content-type", "")
    response.stream = _Bounded(
        cast("httpx2.AsyncByteStream", response.stream), is_stream=kind.startswith("text/event-stream")
    )


class _Bounded(httpx2.AsyncByteStream):
    """An HTTP body in pieces, counted."""

    def __init__(self, pieces: httpx2.AsyncByteStream, *, is_stream: bool) -> None:
        self._pieces, self._is_stream = pieces, is_stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size, end = 0, b""
        pieces = aiter(self._pieces)
        try:
            async for piece in pieces:
                seen = end + piece
                ended_at = max(map(seen.rfind, EVENT_ENDS)) if self._is_stream else -1
                size = len(seen) - ended_at if ended_at >= 0 else size + len(piece)
                if size > MOST_BYTES:
                    raise BodyTooLarge
                end = seen[-2:]
                yield piece
        finally:
            if isinstance(pieces, AsyncGenerator):
                await pieces.aclose()

    async def aclose(self) -> None:
        await self._pieces.aclose()
