"""`/metrics` shows what Prometheus needs, only to whom it is meant for, with labels that cannot grow without end."""

import time
from ipaddress import ip_network

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from core.inference.llm.client import ModelUnavailable
from core.redis import valkey
from core.telemetry.metrics import REQUEST_SECONDS, count_answer, model_call
from knowledge.models import Generation
from marcelcms.tasks import sign_of_life
from tests.conftest import QUESTION
from tests.servers import Server

pytestmark = pytest.mark.django_db(transaction=True)

TOKEN = "a-token-for-metrics"


@pytest.fixture(autouse=True)
def _token(settings: Settings) -> None:
    settings.METRICS_TOKEN = TOKEN


def figures() -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    """By name and labels."""
    response = Client().get("/metrics", headers={"authorization": f"Bearer {TOKEN}"})
    assert response.status_code == 200
    families = text_string_to_metric_families(response.content.decode())
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def of(name: str, **labels: str) -> float:
    return figures().get((name, tuple(sorted(labels.items()))), 0.0)


def test_there_is_no_such_page_for_strangers(settings: Settings) -> None:
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"authorization": "Bearer wrong"}).status_code == 404
    settings.METRICS_TOKEN = ""
    assert Client().get("/metrics", headers={"authorization": "Bearer "}).status_code == 404


def test_a_network_may_be_let_in(settings: Settings) -> None:
    settings.METRICS_ADDRESSES = [ip_network("127.0.0.0/8")]
    assert Client().get("/metrics").status_code == 200
    assert Client(REMOTE_ADDR="192.0.2.1").get("/metrics").status_code == 404
    settings.TRUSTED_PROXIES = 1
    outside = Client().get("/metrics", headers={"x-forwarded-for": "127.0.0.1, 192.0.2.1"})
    assert outside.status_code == 404, "a client writes what it likes before what the proxy saw"


def test_requests_are_counted_by_route() -> None:
    before = of("marcelcms_http_request_seconds_count", route="health-live", method="GET", status="200")
    Client().get("/health/live?q=1")
    assert of("marcelcms_http_request_seconds_count", route="health-live", method="GET", status="200") == before + 1


def test_addresses_and_methods_that_strangers_make_up_add_no_series() -> None:
    Client().get("/nothing/here")
    Client().generic("BREW", "/nothing/here")
    before = len(figures())
    for number in range(20):
        Client().get(f"/nothing/{number}")
        Client().generic(f"BREW{number}", "/nothing/here")
    assert len(figures()) == before


def test_an_answer_and_its_steps_are_counted(server: Server, pages: None) -> None:
    labels = {"status": "complete", "strategy": "extractive", "notice": ""}
    before, steps = of("marcelcms_answers_total", **labels), of("marcelcms_retrieval_seconds_count", step="retrieval")
    with server.connect() as tab:
        assert of("marcelcms_sockets") == 1
        tab.answer(QUESTION)
    assert of("marcelcms_answers_total", **labels) == before + 1
    assert of("marcelcms_retrieval_seconds_count", step="retrieval") == steps + 1
    assert of("marcelcms_first_token_seconds_count", strategy="extractive") >= 1


def test_calls_of_the_model_are_counted_by_their_outcome() -> None:
    before = of("marcelcms_llm_seconds_count", outcome="timeout")
    with pytest.raises(ModelUnavailable), model_call():
        raise ModelUnavailable("timeout")
    assert of("marcelcms_llm_seconds_count", outcome="timeout") == before + 1


def test_tasks_queues_signs_and_the_index_are_told(well: None, settings: Settings) -> None:
    Generation.objects.all().delete()
    labels = (("state", "SUCCESS"), ("task", "marcelcms.tasks.sign_of_life"))
    before = figures().get(("marcelcms_tasks_total", labels), 0)
    sign_of_life.apply()
    broker = valkey(settings.CELERY_BROKER_URL)
    broker.delete("long")  # what other tests queued, and no worker took
    broker.lpush("long", "a task")
    found = figures()
    broker.delete("long")
    assert found["marcelcms_tasks_total", labels] == before + 1
    assert found["marcelcms_queue_depth", (("queue", "long"),)] == 1
    assert found["marcelcms_sign_age_seconds", (("of", "beat"),)] < 5
    assert found["marcelcms_index_oldest_change_seconds", ()] == 0
    assert ("marcelcms_lexical_changes_behind", ()) in found


def test_without_valkey_the_process_still_tells_its_own(settings: Settings) -> None:
    settings.REDIS_URL = settings.CELERY_BROKER_URL = "redis://127.0.0.1:1/0"
    found = figures()
    assert ("marcelcms_sockets", ()) in found
    assert not [name for name, _labels in found if name == "marcelcms_queue_depth"]


def test_an_observation_costs_next_to_nothing() -> None:
    def cost(observe: object, times: int = 500) -> float:
        taken = []
        for _turn in range(5):
            started = time.thread_time()
            for _ in range(times):
                observe()  # type: ignore[operator]
            taken.append((time.thread_time() - started) / times)
        return min(taken)

    timings = {"total": 900.0, "first_token": 300.0, "lexical": 1.0, "embed": 4.0, "dense": 6.0, "retrieval": 20.0}
    request = cost(lambda: REQUEST_SECONDS.labels("chat", "GET", "200").observe(0.1))
    answer = cost(lambda: count_answer(status="complete", strategy="extractive", notice="", timings_ms=timings))
    assert request < 100e-6, "a few microseconds, with room for a busy machine"
    assert answer < 400e-6
