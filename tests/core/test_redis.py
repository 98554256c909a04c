"""Django's cache: one bounded pool of connections a process, however many threads and requests come by."""

import threading

import pytest
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.core.cache import cache, caches
from django.test import RequestFactory
from pytest_django import Settings
from rest_framework.request import Request

from core.redis import MOST_CONNECTIONS, rewrite_file, valkey
from marcelcms.rest.throttling import PerMinute


def counting_connections() -> int:
    """Count the clients of the tests' Valkey whose last command was the counter's."""
    return sum(client["cmd"] in {"incr", "incrby", "set"} for client in valkey(settings.REDIS_URL).client_list())


def request() -> Request:
    made = Request(RequestFactory().get("/api/staff/v1/documents/"))
    made.user = AnonymousUser()
    return made


@pytest.fixture(autouse=True)
def _nothing_is_counted() -> None:
    cache.clear()


def test_requests_in_many_threads_share_few_connections() -> None:
    before = counting_connections()
    begin = threading.Barrier(60)
    allowed: list[bool] = []

    def ask() -> None:
        begin.wait()
        allowed.append(PerMinute().allow_request(request(), None))

    threads = [threading.Thread(target=ask) for _ in range(60)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(allowed) == 60
    assert counting_connections() - before <= MOST_CONNECTIONS


def test_a_client_of_each_request_brings_no_connection_of_its_own() -> None:
    cache.add("counted", 0)
    before = counting_connections()
    clients = [caches.create_connection("default") for _ in range(20)]  # what Django makes for each ASGI request
    for client in clients:
        client.incr("counted")
    assert counting_connections() <= before + 1


def test_the_file_is_written_anew_and_a_server_that_is_away_or_refuses_breaks_nothing(
    caplog: pytest.LogCaptureFixture, settings: Settings
) -> None:
    rewrite_file()
    assert not caplog.records
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    rewrite_file()
    assert "file of valkey not rewritten" in caplog.text
