"""`/health/ready` says whether questions can be answered, quickly, whatever is away, and to everybody the same."""

import asyncio
import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import OperationalError
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from core import redis
from core.inference import verifier
from core.inference.llm import client as llm_client
from knowledge.models import Document
from marcelcms.health import checks as health_checks
from marcelcms.health.checks import Probe, Reading, Status
from marcelcms.tasks import sign_of_life
from tests.factories import DocumentFactory

pytestmark = pytest.mark.django_db(transaction=True)


def ready(**headers: str) -> tuple[int, str, dict[str, str]]:
    """(status code, status, what is not ok)."""
    response = Client(headers=headers).get("/health/ready")
    body: dict[str, Any] = response.json()
    checks = {name: check["status"] for name, check in body["checks"].items()}
    assert set(checks) == {"database", "valkey", "index", "workers", "beat", "llm", "verifier"}
    return response.status_code, body["status"], {name: each for name, each in checks.items() if each != "ok"}


def test_all_is_well_where_everybody_is_there(well: None) -> None:
    assert ready() == (200, "ok", {})


def test_without_workers_and_beat_questions_are_answered_all_the_same() -> None:
    assert ready() == (200, "degraded", {"workers": "degraded", "beat": "degraded"})


def test_the_task_that_beat_queues_is_its_sign(well: None) -> None:
    redis.valkey(_url()).delete("marcelcms:sign:beat")
    assert ready()[2] == {"beat": "degraded"}
    sign_of_life()
    health_checks.PROBES[4].forget()
    assert ready() == (200, "ok", {})


def test_one_queue_without_a_worker_is_noticed(well: None) -> None:
    client = redis.valkey(_url())
    client.set("marcelcms:sign:worker:long", client.time()[0] - 61)
    assert ready() == (200, "degraded", {"workers": "degraded"})


def test_a_change_that_nobody_takes_in_is_noticed(well: None) -> None:
    document = DocumentFactory()
    assert ready() == (200, "ok", {}), "it is young"
    Document.objects.filter(pk=document.pk).update(updated_at=timezone.now() - timedelta(seconds=301))
    health_checks.PROBES[2].forget()
    assert ready() == (200, "degraded", {"index": "degraded"})


def test_without_valkey_it_fails(well: None, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    code, status, wrong = ready()
    assert (code, status, wrong["valkey"]) == (503, "failing", "failing")


def test_without_database_it_fails(well: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def away() -> Reading:
        raise OperationalError("connection to server at secret-host failed")

    monkeypatch.setattr(health_checks.PROBES[0], "_look", away)
    response = Client().get("/health/ready")
    assert response.status_code == 503
    assert "secret" not in response.content.decode()


def test_a_language_model_that_keeps_failing_is_a_loss_not_the_end(well: None, settings: Settings) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL = "http://127.0.0.1:1/v1", "away"
    circuit = llm_client._circuit((settings.LLM_BASE_URL, settings.LLM_MODEL))
    for _ in range(5):
        with circuit.attempt() as attempt:
            attempt.failed("unreachable")
    assert ready() == (200, "degraded", {"llm": "degraded"})


def test_a_second_judge_that_is_away_is_a_loss_not_the_end(
    well: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verifier, "_paused_until", 0.0)
    settings.VERIFIER_MODEL, settings.VERIFIER_BASE_URL = "judge", "http://127.0.0.1:1"
    assert verifier.probability("The library is open.", "It is open.") is None
    assert ready() == (200, "degraded", {"verifier": "degraded"})


def test_probes_come_by_any_host_name_and_without_tls(well: None, settings: Settings) -> None:
    settings.SECURE_SSL_REDIRECT = True
    settings.ALLOWED_HOSTS = ["chat.uni.example"]
    assert ready(host="10.0.0.7:8000") == (200, "ok", {})
    assert Client().get("/health/live", headers={"host": "web"}).status_code == 200
    assert Client().get("/", headers={"host": "web"}).status_code in {301, 400}


def test_readiness_is_never_cached_and_never_written_to() -> None:
    response = Client().get("/health/ready")
    assert "no-store" in response["Cache-Control"]
    assert Client().post("/health/ready").status_code == 405


async def test_a_probe_that_hangs_fails_in_time_and_is_not_started_twice() -> None:
    begun, ended = 0, threading.Event()

    def hang() -> Reading:
        nonlocal begun
        begun += 1
        ended.wait(60)
        return Reading(Status.OK)

    probe = Probe("slow", hang, worst=Status.FAILING)
    readings = await asyncio.gather(*(probe.read() for _ in range(20)))
    assert not ended.is_set()
    ended.set()
    assert {each.status for each in readings} == {Status.FAILING}
    assert begun == 1
    await asyncio.sleep(0.7)
    assert (await probe.read()).status == Status.OK, "it came back, and the next one reads that"


async def test_a_flood_of_probes_looks_once() -> None:
    looked = 0

    def look() -> Reading:
        nonlocal looked
        looked += 1
        return Reading(Status.OK)

    probe = Probe("flooded", look, worst=Status.FAILING)
    for _ in range(200):
        await probe.read()
    assert looked == 1


def _url() -> str:
    from django.conf import settings

    return str(settings.REDIS_URL)
