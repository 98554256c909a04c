"""`manage.py doctor` looks at everything, says what to do, and fails where something is broken."""

import json
import sys
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import StringIO
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from pytest_django import Settings

from analytics.models import RetentionRun
from core.inference.entailment import model as entailment
from knowledge.models import Passage
from knowledge.retrieval import tuning
from knowledge.retrieval.live_index import forget_indexes
from knowledge.retrieval.tuning import advised_candidates
from marcelcms import env
from marcelcms.doctor.checks.work import vector_search
from marcelcms.doctor.findings import Level
from marcelcms.doctor.report import LOOKS
from marcelcms.health import heartbeats
from tests.analytics.inbox.mail_server import mail_server, use
from tests.factories import DocumentFactory
from tests.fakes.imap import MailboxServer
from tests.fakes.llm import FakeLLM
from tests.knowledge.scripted import chromium
from tests.servers import Server

pytestmark = pytest.mark.django_db(transaction=True)


def examine() -> tuple[bool, dict[str, list[dict[str, Any]]]]:
    """(healthy, what is not ok by what was looked at)."""
    out = StringIO()
    failed = False
    try:
        call_command("doctor", "--json", stdout=out)
    except CommandError:
        failed = True
    report = json.loads(out.getvalue())
    assert report["healthy"] is not failed
    assert set(LOOKS) <= {finding["what"] for finding in report["findings"]}
    wrong: dict[str, list[dict[str, Any]]] = {}
    for finding in report["findings"]:
        assert bool(finding["todo"]) is (finding["level"] != "ok"), "what is wrong comes with what to do"
        if finding["level"] != "ok":
            wrong.setdefault(finding["what"], []).append(finding)
    return not failed, wrong


@pytest.fixture
def sound(well: None, pages: None, server: Server, settings: Settings) -> None:
    """Set up a deployment that runs."""
    heartbeats.record_heartbeat(heartbeats.BACKUP)
    RetentionRun.objects.create(finished_at=timezone.now() - timedelta(hours=9))
    settings.PUBLIC_URL = server.origin


def test_an_image_that_lacks_the_model_of_the_check_is_told(
    sound: None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setattr(entailment, "model_file", lambda _folder: tmp_path / "a-model")
    entailment._load.cache_clear()
    _healthy, wrong = examine()
    (finding,) = wrong["check of sentences"]
    assert "onnx" in finding["said"]
    assert "image" in finding["todo"]


def test_a_sound_deployment_is_found_sound(sound: None) -> None:
    healthy, wrong = examine()
    # Tests run on a Valkey that keeps nothing.
    assert (healthy, set(wrong) - {"valkey", "disk"}) == (True, set())


def test_a_stack_without_workers_is_told_what_to_start(pages: None, settings: Settings) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:1"  # the default is where `make run` answers on this machine
    healthy, wrong = examine()
    assert not healthy
    assert {"workers", "beat", "retention", "backups", "way in"} <= set(wrong)
    assert "celery -A marcelcms worker --queues long" in wrong["workers"][2]["todo"]


def test_an_index_that_differs_is_found(sound: None) -> None:
    Passage.objects.first().delete()  # type: ignore[union-attr]
    DocumentFactory()
    healthy, wrong = examine()
    assert not healthy
    assert any("documents: 1" in finding["said"] for finding in wrong["index"])


@pytest.mark.parametrize(
    ("passages", "advised"),
    [(0, 100), (199_999, 100), (200_000, 200), (599_999, 200), (600_000, 400), (3_000_000, 400)],
)
def test_more_candidates_are_advised_for_more_passages(passages: int, advised: int) -> None:
    assert advised_candidates(passages) == advised


def test_a_vector_search_that_keeps_too_few_candidates_is_told(
    pages: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert [finding.level for finding in vector_search()] == [Level.OK]
    monkeypatch.setattr(tuning, "CANDIDATES", ((1, 400), (0, 100)))
    (finding,) = vector_search()
    assert (finding.level, "HNSW_EF_SEARCH=400" in finding.todo) == (Level.WARN, True)
    settings.HNSW_EF_SEARCH = 400
    assert [finding.level for finding in vector_search()] == [Level.OK]


def test_a_folder_that_cannot_hold_the_lexical_index_is_told(sound: None, settings: Settings, tmp_path: Path) -> None:
    settings.LEXICAL_INDEX_FOLDER = tmp_path / "file"
    settings.LEXICAL_INDEX_FOLDER.touch()
    forget_indexes()
    healthy, wrong = examine()
    assert healthy
    assert [finding["level"] for finding in wrong["index"]] == ["warn"]
    assert str(settings.LEXICAL_INDEX_FOLDER) in wrong["index"][0]["said"]


def test_without_valkey_the_rest_is_looked_at_all_the_same(sound: None, settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    healthy, wrong = examine()
    assert not healthy
    assert {"valkey", "workers", "beat", "backups"} <= set(wrong)
    assert "index" not in wrong


def test_unsafe_settings_fail(sound: None, settings: Settings) -> None:
    settings.ALLOWED_HOSTS = ["chat.uni.example"]
    assert "settings" in examine()[1]


@pytest.mark.parametrize(("served", "level"), [("fake", None), ("another", "fail")])
def test_the_language_model_must_be_served(
    sound: None, llm: FakeLLM, settings: Settings, served: str, level: str
) -> None:
    class Models(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = json.dumps({"data": [{"id": served}]}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_args: object) -> None:
            """Nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Models) as endpoint:
        Thread(target=endpoint.serve_forever, daemon=True).start()
        settings.LLM_BASE_URL = f"http://127.0.0.1:{endpoint.server_port}/v1"
        _healthy, wrong = examine()
        endpoint.shutdown()
    assert [finding["level"] for finding in wrong.get("language model", [])] == ([level] if level else [])


def test_a_language_model_that_is_away_fails(sound: None, settings: Settings) -> None:
    settings.LLM_BASE_URL, settings.LLM_MODEL = "http://127.0.0.1:1/v1", "x"
    assert "language model" in examine()[1]


def test_a_mail_server_is_tried(settings: Settings) -> None:
    settings.PUBLIC_URL = "http://127.0.0.1:1"
    with mail_server() as server:
        use(settings, env.MailServer("127.0.0.1", server.port))
        assert "mail server" not in examine()[1]
    wrong = examine()[1]
    assert wrong["mail server"][0]["said"] == f"127.0.0.1:{server.port}: ConnectionRefusedError"


def test_a_mailbox_is_tried(settings: Settings) -> None:
    settings.PUBLIC_URL, settings.CASE_MAIL_ADDRESS = "http://127.0.0.1:1", "replies@chat.uni.example"
    assert examine()[1]["mailbox"][0]["said"] == "IMAP_URL is not set: students answer in the chat"
    server = MailboxServer()
    server.start()
    settings.MAILBOX = server.address
    assert "mailbox" not in examine()[1]
    server.stop()
    wrong = examine()[1]
    assert wrong["mailbox"][0]["said"] == f"127.0.0.1:{server.port}: ConnectionRefusedError"


def test_for_people_it_prints_a_line_each_and_a_sum(sound: None) -> None:
    out = StringIO()
    call_command("doctor", stdout=out, no_color=True)
    text = out.getvalue()
    assert "ok    database        PostgreSQL" in text
    assert "0 fail" in text


def test_a_crawl_browser_is_tried_and_told_of(settings: Settings, tmp_path: Path) -> None:
    program = tmp_path / "browser"
    for script, level, words in (
        ("echo '<p>It was rendered.</p>'", "ok", "renders a page"),
        ("echo 'no sandbox' >&2; exit 1", "fail", "renders no page: no sandbox"),
    ):
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
        settings.CRAWL_BROWSER = str(program)
        (finding,) = LOOKS["crawl browser"]()
        assert (finding.level, words in finding.said) == (level, True)
    settings.CRAWL_BROWSER = str(tmp_path / "none")
    (finding,) = LOOKS["crawl browser"]()
    assert finding.level == "fail"
    assert "CRAWL_BROWSER" in finding.todo


@pytest.mark.slow
def test_the_installed_chromium_passes_the_doctor(settings: Settings, tmp_path: Path) -> None:
    settings.CRAWL_BROWSER = chromium(tmp_path)
    (finding,) = LOOKS["crawl browser"]()
    assert finding.level == "ok", finding.said
