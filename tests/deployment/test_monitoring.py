"""Alerts and the dashboard of `docker/monitoring`, in a real Prometheus that scrapes a real web process."""

import json
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from marcelcms.doctor.alerts import ALERTS
from marcelcms.doctor.report import LOOKS
from marcelcms.embedded.processes import free_port
from marcelcms.tasks import sign_of_life
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.runtime.processes import ROOT
from tests.servers import server_process, wait_until

FOLDER = ROOT / "docker" / "monitoring"
RULES = FOLDER / "alerts.yml"
TOKEN = "a-token-for-metrics"
needs_prometheus = pytest.mark.skipif(not shutil.which("promtool"), reason="Debian's package prometheus is not here")
#: A day of a service that is well, a value a minute.
DAY = 1500
WELL = {
    'up{job="marcelcms", instance="web:8000"}': f"1x{DAY}",
    'marcelcms_sign_age_seconds{of="worker:celery"}': f"9x{DAY}",
    'marcelcms_sign_age_seconds{of="beat"}': f"29x{DAY}",
    'marcelcms_queue_depth{queue="celery"}': f"12x{DAY}",
    'marcelcms_tasks_total{task="index", state="SUCCESS"}': f"0+7x{DAY}",
    'marcelcms_tasks_total{task="index", state="FAILURE"}': f"3x{DAY}",
    "marcelcms_index_oldest_change_seconds": f"2x{DAY}",
    "marcelcms_replica_used": f"1x{DAY}",
    "marcelcms_llm_failing": f"0x{DAY}",
    'marcelcms_answers_total{status="complete"}': f"0+10x{DAY}",
    'marcelcms_answers_total{status="abstained"}': f"0+2x{DAY}",
    'marcelcms_answers_total{status="failed"}': f"1x{DAY}",
    'marcelcms_first_token_seconds_bucket{le="1"}': f"0+9.8x{DAY}",
    'marcelcms_first_token_seconds_bucket{le="8"}': f"0+10x{DAY}",
    'marcelcms_first_token_seconds_bucket{le="+Inf"}': f"0+10x{DAY}",
    'marcelcms_http_request_seconds_count{status="200"}': f"0+600x{DAY}",
    'marcelcms_http_request_seconds_count{status="500"}': f"2x{DAY}",
}
#: What is otherwise in the last half hour, and which alert it is; None is a figure that was never there.
LAST = 30
ILL: Mapping[str, Mapping[str, str | None]] = {
    "MarcelWebDown": {'up{job="marcelcms", instance="web:8000"}': f"1x{DAY - LAST} 0x{LAST}"},
    "MarcelWorkerSilent": {'marcelcms_sign_age_seconds{of="worker:celery"}': f"9x{DAY - LAST} 70+60x{LAST}"},
    "MarcelBeatSilent": {'marcelcms_sign_age_seconds{of="beat"}': f"29x{DAY - LAST} 190+60x{LAST}"},
    "MarcelQueueLong": {'marcelcms_queue_depth{queue="celery"}': f"12x{DAY - LAST} 700x{LAST}"},
    "MarcelTasksFail": {'marcelcms_tasks_total{task="index", state="FAILURE"}': f"3x{DAY - LAST} 3 4x{LAST}"},
    "MarcelIndexLate": {"marcelcms_index_oldest_change_seconds": f"2x{DAY - LAST} 310+60x{LAST}"},
    "MarcelReplicaUnused": {"marcelcms_replica_used": f"1x{DAY - LAST} 0x{LAST}"},
    "MarcelModelFailing": {"marcelcms_llm_failing": f"0x{DAY - LAST} 1x{LAST}"},
    "MarcelAnswersFail": {'marcelcms_answers_total{status="failed"}': f"1x{DAY - LAST} 1+1x{LAST}"},
    "MarcelAbstainsMore": {
        'marcelcms_answers_total{status="abstained"}': f"0+2x{DAY - LAST} {2 * (DAY - LAST)}+20x{LAST}"
    },
    "MarcelFirstWordSlow": {
        'marcelcms_first_token_seconds_bucket{le="1"}': f"0+9.8x{DAY - LAST} {9.8 * (DAY - LAST)}+5x{LAST}"
    },
    "MarcelServerErrors": {'marcelcms_http_request_seconds_count{status="500"}': f"2x{DAY - LAST} 2+20x{LAST}"},
}
NEVER_SERVED: Mapping[str, str | None] = {'marcelcms_sign_age_seconds{of="worker:celery"}': None}
NEVER_BEAT: Mapping[str, str | None] = {'marcelcms_sign_age_seconds{of="beat"}': None}


def test_the_doctor_knows_every_alert_and_no_other() -> None:
    named = re.findall(r"^ +- alert: (\w+)$", RULES.read_text(), re.MULTILINE)
    assert sorted(named) == sorted(ALERTS)
    assert {look for alert in ALERTS.values() for look in alert.looks} <= set(LOOKS)


@pytest.mark.django_db(transaction=True)
def test_the_doctor_says_what_an_alert_means_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CommandError, match="found a fault"):
        call_command("doctor", "--alert", "MarcelBeatSilent")
    said = capsys.readouterr().out
    assert said.startswith("MarcelBeatSilent: Nothing happens by the clock")
    assert "Start one, and only one: `celery -A marcelcms beat`." in said
    assert "backups" not in said


def test_an_alert_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(CommandError, match="invalid choice: 'MarcelFire'"):
        call_command("doctor", "--alert", "MarcelFire")


@pytest.mark.slow
@needs_prometheus
def test_each_alert_fires_in_its_own_case_and_only_there(tmp_path: Path) -> None:
    shutil.copy(RULES, tmp_path)
    cases: list[tuple[str | None, Mapping[str, str | None]]] = [
        (None, {}),
        *ILL.items(),
        ("MarcelWorkerSilent", NEVER_SERVED),
        ("MarcelBeatSilent", NEVER_BEAT),
    ]
    (tmp_path / "cases.yml").write_text(
        json.dumps(
            {
                "rule_files": ["alerts.yml"],
                "evaluation_interval": "1m",
                "tests": [
                    {
                        "interval": "1m",
                        "input_series": [
                            {"series": name, "values": values}
                            for name, values in {**WELL, **changes}.items()
                            if values is not None
                        ],
                        "promql_expr_test": [
                            {
                                "expr": 'count by (alertname) (ALERTS{alertstate="firing"})',
                                "eval_time": f"{DAY - 1}m",
                                "exp_samples": [{"labels": f'{{alertname="{fires}"}}', "value": 1}] if fires else [],
                            }
                        ],
                    }
                    for fires, changes in cases
                ],
            }
        )
    )
    done = subprocess.run(["promtool", "test", "rules", "cases.yml"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture
def prometheus(tmp_path: Path) -> Iterator["Prometheus"]:
    started = Prometheus(tmp_path)
    yield started
    started.end()


class Prometheus:
    """A real one, with the configuration as it is but for the address, the token's file, and a quicker pace."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self, target: int) -> None:
        (self.folder / "token").write_text(TOKEN)
        shutil.copy(RULES, self.folder)
        changed = (FOLDER / "prometheus.yml").read_text()
        for before, after in {
            "/run/secrets/metrics_token": str(self.folder / "token"),
            "web:8000": f"127.0.0.1:{target}",
            "scrape_interval: 15s": "scrape_interval: 1s\n  evaluation_interval: 1s",
        }.items():
            assert before in changed
            changed = changed.replace(before, after)
        (self.folder / "prometheus.yml").write_text(changed)
        options = {
            "config.file": self.folder / "prometheus.yml",
            "storage.tsdb.path": self.folder / "data",
            "web.listen-address": f"127.0.0.1:{self.port}",
        }
        with (self.folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                ["prometheus", *(f"--{name}={value}" for name, value in options.items())], stdout=log, stderr=log
            )

    def asked(self, query: str) -> list[dict[str, Any]]:
        address = f"http://127.0.0.1:{self.port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
        with urllib.request.urlopen(address, timeout=10) as reply:
            found: list[dict[str, Any]] = json.load(reply)["data"]["result"]
        return found

    def end(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()


def has_scraped(prometheus: Prometheus) -> bool:
    try:
        return bool(prometheus.asked("marcelcms_answers_total"))
    except OSError:
        return False


@pytest.mark.slow
@needs_prometheus
@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("pages")
def test_every_query_of_dashboard_and_alerts_has_figures(llm: FakeLLM, prometheus: Prometheus) -> None:
    dashboard = json.loads((FOLDER / "dashboard.json").read_text())
    queries = {target["expr"]: panel["title"] for panel in dashboard["panels"] for target in panel.get("targets", [])}
    llm.says("It is 318.40 euros [1].")
    sign_of_life.apply()
    settings = {"LLM_BASE_URL": llm.base_url, "LLM_MODEL": "fake", "METRICS_TOKEN": TOKEN}
    with server_process(**settings) as server, server.connect() as tab:
        prometheus.start(server.port)
        for _ in range(2):
            tab.answer(QUESTION)
            tab.answer("Who is the mayor of Atlantis?")
        wait_until(lambda: has_scraped(prometheus), 60)
        for _ in range(2):
            time.sleep(2)
            tab.answer(QUESTION)
        sign_of_life.apply()
        time.sleep(3)
        empty = {
            title for query, title in queries.items() if not prometheus.asked(query.replace("$__rate_interval", "1m"))
        }
    # Nothing was missing, and no task of this test was handed out by a broker.
    assert empty <= {"Degraded answers", "Tasks that ended", "Seconds of a task"}
    # The web process ended: an alert that waits is seen at once.
    wait_until(lambda: bool(prometheus.asked('ALERTS{alertname="MarcelWebDown"}')), 30)
