"""Signs of life and probes of a test's own."""

import pytest
from django.conf import settings

from marcelcms import signs_of_life
from marcelcms.health.probes import PROBES


@pytest.fixture(autouse=True)
def _nothing_is_known() -> None:
    client = signs_of_life.valkey(settings.REDIS_URL)
    for key in [*client.scan_iter("marcelcms:sign:*"), *client.scan_iter("marcelcms:tasks:*")]:
        client.delete(key)
    for probe in PROBES:
        probe.forget()


@pytest.fixture
def well() -> None:
    """Workers and beat were there just now."""
    names = map(signs_of_life.worker_of, signs_of_life.queues())
    signs_of_life.leave_sign(signs_of_life.BEAT, *names)
