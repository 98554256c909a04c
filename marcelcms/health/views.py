"""`/health/live`: this process runs. `/health/ready`: it can answer students."""

import asyncio

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from marcelcms.health.probes import PROBES
from marcelcms.health.probing import Status


@require_safe
def live(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok\n", content_type="text/plain")


@require_safe
@never_cache
async def ready(request: HttpRequest) -> HttpResponse:
    """200 where questions are answered, also less well than usual (`degraded`), 503 where not (`failing`).

    Says of each part how it is, and nothing of where it is or of why it fails: that is in the log.
    """
    readings = await asyncio.gather(*(probe.read() for probe in PROBES))
    status = max((reading.status for reading in readings), default=Status.OK)
    checks = {probe.name: reading.to_wire() for probe, reading in zip(PROBES, readings, strict=True)}
    body = {"status": status.name.lower(), "checks": checks}
    return JsonResponse(body, status=503 if status == Status.FAILING else 200)
