"""Around the whole application: request ids, and the count of open sockets."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from knowledge.telemetry import SOCKETS
from marcelcms.telemetry import request_ids

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

HEADER = b"x-request-id"


def observed(application: Application) -> Application:
    """The same application, whose replies carry X-Request-ID."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await application(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = request_ids.begin(given.decode("latin-1")).encode()

        async def reply(message: Any) -> None:
            if message["type"] in {"http.response.start", "websocket.accept"}:
                message = {**message, "headers": [*message.get("headers", ()), (HEADER, request_id)]}
            await send(message)

        if scope["type"] == "http":
            await application(scope, receive, reply)
            return
        SOCKETS.inc()
        try:
            await application(scope, receive, reply)
        finally:
            SOCKETS.dec()

    return serve
