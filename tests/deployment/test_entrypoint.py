"""docker/entrypoint started outside a container, on the tests' own PostgreSQL and Valkey."""

import json
import os
import signal
import time
from contextlib import suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import urlopen

import psycopg
import pytest
import redis

from knowledge.models import IndexedDocument
from knowledge.tasks import index_document
from marcelcms.embedded.processes import free_port
from tests.deployment.conftest import PUBLIC, Process, Start, asked, database_url, is_well
from tests.factories import DocumentFactory
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True)]


def end(process: Process, within: float) -> int:
    process.terminate()
    return process.wait(within)


def children(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def open_files(pid: int) -> list[Path]:
    files = []
    for file in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            files.append(file.readlink())
    return files


def waits_for_a_lock(connection: psycopg.Connection) -> bool:
    waiting = connection.execute(
        "SELECT 1 FROM pg_locks WHERE relation = 'knowledge_document'::regclass AND NOT granted"
    )
    return waiting.fetchone() is not None


def test_web_is_well_serves_and_ends_when_it_is_told(start: Start, secret_files: dict[str, str]) -> None:
    port = free_port()
    # As in production: secrets in files, TLS ends before it, and only its public name is served.
    https = PUBLIC | secret_files | {"PORT": str(port)}
    assert not is_well("web", **https)
    assert asked("ready", **https).returncode == 1
    process = start("web", **https)
    wait_until(lambda: is_well("web", **https) or process.poll() is not None, seconds=60)
    assert process.poll() is None
    told = asked("ready", **https)  # by people, in its container
    assert (told.returncode, json.loads(told.stdout)["checks"]["database"]["status"]) == (0, "ok")
    with pytest.raises(HTTPError, match="400"):  # asked by a name that is not its own
        urlopen(f"http://127.0.0.1:{port}/", timeout=10)
    assert end(process, within=20) == -signal.SIGTERM  # uvicorn ends in order, then by the signal it was sent


def test_uploads_wait_in_a_folder_that_web_clears_of_those_it_lost(
    start: Start, secret_files: dict[str, str], tmp_path: Path
) -> None:
    spool = tmp_path / "spool"
    spool.mkdir()
    lost, fresh, other = (spool / name for name in ("tmp1.upload.pdf", "tmp2.upload.pdf", "notes"))
    for file in (lost, fresh, other):
        file.touch()
    for file in (lost, other):
        os.utime(file, (0, 0))
    port = free_port()
    https = PUBLIC | secret_files | {"PORT": str(port), "TMPDIR": str(spool)}
    process = start("web", **https)
    wait_until(lambda: is_well("web", **https) or process.poll() is not None, seconds=60)
    assert (lost.exists(), fresh.exists(), other.exists()) == (False, True, True)

    upload = HTTPConnection("127.0.0.1", port, timeout=20)
    upload.request("POST", "/admin/knowledge/pdfupload/add/", headers={"Content-Length": "100000000"})
    upload.send(bytes(5_000_000))
    wait_until(lambda: any(str(file).startswith(f"{spool}/") for file in open_files(process.pid)))
    upload.close()


def test_a_worker_does_what_is_queued_and_ends_when_it_is_told(start: Start) -> None:
    document = DocumentFactory(text="The library is open until ten.")
    process = start("worker", "celery", "1")
    wait_until(lambda: is_well("worker", "celery") or process.poll() is not None, seconds=90)
    index_document.delay(document.pk)
    wait_until(lambda: IndexedDocument.objects.filter(document=document).exists(), seconds=60)
    assert end(process, within=20) == 0
    assert not is_well("worker", "celery")


@pytest.mark.parametrize("when", ["it works on the task", "the task has just been handed out"])
def test_a_task_that_takes_too_long_goes_back_to_the_queue(start: Start, when: str) -> None:
    """It would otherwise be lost to everyone until its time limit is over."""
    document = DocumentFactory(text="The library is open until ten.")
    broker = redis.Redis.from_url(os.environ["REDIS_URL"])
    process = start("worker", "celery", "1", STOP_SECONDS="3")
    wait_until(lambda: is_well("worker", "celery") or process.poll() is not None, seconds=90)
    time.sleep(2)  # it looks for lost work once it is ready; nothing tells that it has
    wait_until(lambda: broker.llen("celery") == 0 and broker.hlen("unacked") == 0, seconds=30)
    with psycopg.connect(database_url()) as other:
        other.execute("LOCK TABLE knowledge_document IN ACCESS EXCLUSIVE MODE")  # so that it waits
        [worker] = children(process.pid)
        [worker_process] = children(worker)
        if when == "the task has just been handed out":
            os.kill(worker_process, signal.SIGSTOP)
        index_document.delay(document.pk)
        wait_until(lambda: broker.llen("celery") == 0 and broker.hlen("unacked") == 1, seconds=30)
        if when == "it works on the task":
            wait_until(lambda: waits_for_a_lock(other), seconds=30)
            process.terminate()
        else:
            process.terminate()
            time.sleep(2)  # by when Celery has forgotten what nobody accepted; nothing tells that it has
            os.kill(worker_process, signal.SIGCONT)
        process.wait(30)
        assert (broker.llen("celery"), broker.hlen("unacked")) == (1, 0)
    broker.delete("celery")


def test_a_management_command_never_starts_servers_of_its_own(start: Start) -> None:
    process = start("manage", "check")
    assert process.wait(60) == 0


def test_another_role_is_refused(start: Start, tmp_path: Path) -> None:
    process = start("everything")
    assert process.wait(10) == 64
    assert "web, worker QUEUES, beat or manage" in (tmp_path / "output").read_text()
