"""`/metrics`, for who has METRICS_TOKEN or asks from METRICS_ADDRESSES; for everybody else there is no such page."""

import ipaddress
from functools import cache
from secrets import compare_digest

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import REGISTRY
from prometheus_client.exposition import choose_encoder

from chat.api.visiting import address_of
from marcelcms.telemetry.collecting import Looked


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """This process's figures; raises Http404."""
    if not (_has_token(request) or _is_near(request)):
        raise Http404
    _register()
    encode, content_type = choose_encoder(request.headers.get("Accept", ""))
    return HttpResponse(encode(REGISTRY), content_type=content_type)


def _has_token(request: HttpRequest) -> bool:
    given, wanted = request.headers.get("Authorization", ""), settings.METRICS_TOKEN
    return bool(wanted) and compare_digest(given.encode(), f"Bearer {wanted}".encode())


def _is_near(request: HttpRequest) -> bool:
    try:
        address = ipaddress.ip_address(address_of(request))
    except ValueError:  # a socket's path, or nothing
        return False
    return any(address in network for network in settings.METRICS_ADDRESSES)


@cache
def _register() -> None:
    REGISTRY.register(Looked())
