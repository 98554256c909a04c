"""Figures that are looked up when Prometheus asks: queues, tasks, signs of life, the index.

Those of queues and tasks are everybody's, not this process's: every web process gives the same ones.
"""

import ipaddress
import logging
from collections.abc import Iterator
from functools import cache
from secrets import compare_digest

from django.conf import settings
from django.db import Error as DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from prometheus_client import REGISTRY
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from redis import RedisError

from chat.api.auth import client_address
from core.db.replica import is_configured, watch
from core.inference.llm import client
from marcelcms.health import heartbeats
from marcelcms.health.checks import changes_behind, index
from marcelcms.observability.celery import task_figures

logger = logging.getLogger(__name__)


class Looked:
    """A collector of prometheus_client: `collect` may be called from any thread. What cannot be reached is left out."""

    def collect(self) -> Iterator[Metric]:
        yield GaugeMetricFamily(
            "marcelcms_llm_failing", "1 while the language model is left alone.", value=float(client.has_failed())
        )
        if is_configured():
            yield from _of_replica()
        try:
            yield from _of_valkey()
        except RedisError as error:
            logger.warning("figures of valkey left out error=%s", type(error).__name__)
        try:
            yield from _of_index()
        except DatabaseError as error:
            logger.warning("figures of the database left out error=%s", type(error).__name__)

    def describe(self) -> list[Metric]:
        """Describe nothing: registering must not look anything up."""
        return []


def _of_replica() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "marcelcms_replica_used", "1 while this process reads from the replica.", value=float(watch.serves())
    )
    state = watch.state()
    if state.lag_seconds is not None:
        yield GaugeMetricFamily(
            "marcelcms_replica_lag_seconds", "How old what the replica has is at most.", value=state.lag_seconds
        )
    if state.behind is not None:
        yield GaugeMetricFamily(
            "marcelcms_replica_behind_bytes", "What the replica has not replayed yet.", value=state.behind
        )


def _of_valkey() -> Iterator[Metric]:
    depth = GaugeMetricFamily("marcelcms_queue_depth", "Tasks that wait for a worker.", labels=["queue"])
    for queue, waiting in heartbeats.depths().items():
        depth.add_metric([queue], waiting)
    yield depth
    names = [heartbeats.BEAT, *map(heartbeats.name_worker, heartbeats.queues())]
    sign = GaugeMetricFamily("marcelcms_sign_age_seconds", "Since the last sign of life.", labels=["of"])
    for name, age in heartbeats.seconds_since(names).items():
        if age is not None:
            sign.add_metric([name], age)
    yield sign
    count = CounterMetricFamily("marcelcms_tasks", "Tasks that workers ended, by how.", labels=["task", "state"])
    seconds = CounterMetricFamily("marcelcms_task_seconds", "Seconds that they took.", labels=["task", "state"])
    for labels, (number, spent) in task_figures().items():
        count.add_metric(labels, number)
        seconds.add_metric(labels, spent)
    yield count
    yield seconds


def _of_index() -> Iterator[Metric]:
    yield GaugeMetricFamily(
        "marcelcms_index_oldest_change_seconds",
        "How long the oldest change waits for the index.",
        value=index().figures["oldest_change_seconds"],
    )
    yield GaugeMetricFamily(
        "marcelcms_lexical_changes_behind", "Changes that this process has not taken in yet.", value=changes_behind()
    )


@require_safe
@never_cache
def metrics(request: HttpRequest) -> HttpResponse:
    """Return this process's metrics. Raise Http404."""
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
        address = ipaddress.ip_address(client_address(request))
    except ValueError:  # a socket's path, or nothing
        return False
    return any(address in network for network in settings.METRICS_ADDRESSES)


@cache
def _register() -> None:
    REGISTRY.register(Looked())
