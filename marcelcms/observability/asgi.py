"""Around the whole application: request ids, and the count of open sockets."""

import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from core.telemetry.metrics import REQUEST_SECONDS, SOCKETS
from marcelcms.observability import logs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]
HEADER = b"x-request-id"


def observed(application: Application) -> Application:
    """Wrap the application so that its replies carry X-Request-ID."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in {"http", "websocket"}:
            await application(scope, receive, send)
            return
        given = next((value for name, value in scope["headers"] if name == HEADER), b"")
        request_id = logs.begin(given.decode("latin-1")).encode()

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


#: Others are counted as one: a client may send any word for a method.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@sync_and_async_middleware
def measure_requests(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """Measure to the first byte: a stream goes on for as long as an answer is written."""
    if iscoroutinefunction(get_response):

        async def measure_async(request: HttpRequest) -> HttpResponseBase:
            started = time.perf_counter()
            response: HttpResponseBase = await get_response(request)
            _observe(request, response, started)
            return response

        return measure_async

    def measure(request: HttpRequest) -> HttpResponseBase:
        started = time.perf_counter()
        response: HttpResponseBase = get_response(request)
        _observe(request, response, started)
        return response

    return measure


def _observe(request: HttpRequest, response: HttpResponseBase, started: float) -> None:
    match = request.resolver_match
    route = (match.view_name or match.route) if match else "none"
    method = request.method if request.method in METHODS else "other"
    REQUEST_SECONDS.labels(route, method, str(response.status_code)).observe(time.perf_counter() - started)
