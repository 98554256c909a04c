"""Times every HTTP request by its route, never by its address."""

import time
from collections.abc import Callable
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from knowledge.telemetry import REQUEST_SECONDS

#: Others are counted as one: a client may send any word for a method.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


@sync_and_async_middleware
def measure_requests(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """To the first byte: a stream goes on for as long as an answer is written."""
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
