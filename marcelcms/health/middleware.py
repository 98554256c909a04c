"""Probes ask by an address of the inner network: they are answered before a host name counts."""

from collections.abc import Callable
from typing import Any

from asgiref.sync import async_to_sync, iscoroutinefunction, sync_to_async
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import resolve
from django.utils.decorators import sync_and_async_middleware

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
