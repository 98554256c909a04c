"""`/health/live`: this process runs. `/health/ready`: it can answer students."""

import asyncio
from collections.abc import Callable
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.urls import resolve
from django.utils.decorators import sync_and_async_middleware
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from marcelcms.health.checks import PROBES, Status


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
async def ready(request: HttpRequest) -> HttpResponse:
    """Reply 200 if questions are answered, also less well than usual (`degraded`), 503 where not (`failing`).

    Says of each part how it is, and nothing of where it is or of why it fails: that is in the log.
    """
    readings = await asyncio.gather(*(probe.read() for probe in PROBES))
    status = max((reading.status for reading in readings), default=Status.OK)
    checks = {probe.name: reading.to_wire() for probe, reading in zip(PROBES, readings, strict=True)}
    body = {"status": status.name.lower(), "checks": checks}
    return JsonResponse(body, status=503 if status == Status.FAILING else 200)


PATHS = frozenset({"/health/live", "/health/ready", "/metrics"})


@sync_and_async_middleware
def answer_probes(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            if request.path_info not in PATHS:
                response: HttpResponseBase = await get_response(request)
                return response
            request.resolver_match = match = resolve(request.path_info)
            view = match.func if iscoroutinefunction(match.func) else sync_to_async(match.func, thread_sensitive=False)
            answered: HttpResponseBase = await view(request)
            return answered

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        if request.path_info not in PATHS:
            response: HttpResponseBase = get_response(request)
            return response
        request.resolver_match = match = resolve(request.path_info)
        view = async_to_sync(match.func) if iscoroutinefunction(match.func) else match.func
        answered: HttpResponseBase = view(request)
        return answered

    return answer
