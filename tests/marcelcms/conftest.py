"""Signs of life and probes of a test's own."""

import pytest
from django.conf import settings

from core import redis
from marcelcms.health import heartbeats
from marcelcms.health.checks import PROBES
from tests.marcelcms.observability.test_logs import lines  # noqa: F401 (a fixture)


@pytest.fixture(autouse=True)
def _nothing_is_known() -> None:
    client = redis.valkey(settings.REDIS_URL)
    for key in [*client.scan_iter("marcelcms:sign:*"), *client.scan_iter("marcelcms:tasks:*")]:
        client.delete(key)
    for probe in PROBES:
        probe.forget()


@pytest.fixture
def well() -> None:
    """Workers and beat were there just now."""
    names = map(heartbeats.name_worker, heartbeats.queues())
    heartbeats.record_heartbeat(heartbeats.BEAT, *names)
