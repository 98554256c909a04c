"""`make run`'s program as a whole: one start for most tests, since it takes seconds."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from marcelcms.embedded import supervisor
from marcelcms.embedded.processes import ServiceError, spawn
from marcelcms.embedded.run import host
from marcelcms.embedded.supervisor import Program, Supervisor
from tests.runtime.processes import ROOT, alive, bare_environment, command_lines, descendants, leading, wait_until
from tests.runtime.stack import COMMAND, Run

# The first start loads the whole demo.
pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(300),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


@pytest.fixture(scope="module")
def state() -> Iterator[Path]:
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-run-"))
    folder.chmod(0o711)
    yield folder
    shutil.rmtree(folder, ignore_errors=True)  # its servers may still be ending


@pytest.fixture(scope="module")
def run(state: Path) -> Iterator[Run]:
    started = Run(state)
    yield started
    started.end()


def test_it_says_where_everything_is(run: Run) -> None:
    password = (run.state / "admin_password").read_text().strip()
    printed = run.printed()
    for part in (f"http://127.0.0.1:{run.port}/admin/", f"admin / {password}", "none: answers are quotes", "Ctrl-C"):
        assert part in printed
    assert (run.state / "admin_password").stat().st_mode & 0o777 == 0o600
    announced = json.loads((run.state / "services.json").read_text())
    assert not [name for name, entry in announced.items() if entry["url"] in printed]


def test_it_serves_the_admin(run: Run) -> None:
    assert run.get("/health/live") == 200
    assert run.get("/admin/login/") == 200


def test_a_second_start_says_that_it_runs(run: Run) -> None:
    environment = bare_environment(STATE_DIR=str(run.state))
    second = subprocess.run(COMMAND, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode == 1
    assert f"already runs here (http://127.0.0.1:{run.port}/" in second.stderr


def test_a_killed_web_server_is_started_again(run: Run) -> None:
    first = run.web()
    subprocess.run(["kill", "-KILL", str(first)], check=True)
    wait_until(lambda: run.web() not in (0, first), 20)
    assert "web ended with -9; starting it again." in run.printed()
    wait_until(lambda: answers(run, "/health/live"), 10)


def answers(run: Run, path: str) -> bool:
    with suppress(OSError):
        return run.get(path) == 200
    return False


@pytest.mark.parametrize(("name", "title"), [("postgres", "PostgreSQL"), ("valkey-server", "Valkey")])
def test_a_killed_server_of_its_own_is_started_again_with_its_data(run: Run, name: str, title: str) -> None:
    first = leading(name, run.process.pid)
    os.kill(first, signal.SIGKILL)
    wait_until(lambda: leading(name, run.process.pid) not in (0, first), 30)
    wait_until(lambda: answers(run, "/health/ready"), 60)
    assert run.process.poll() is None
    assert f"{title} ended with -9; starting it again." in run.printed()
    assert manage(run.state, COUNT_ACCOUNTS) == "1\n"


def manage(state: Path, code: str) -> str:
    """Return what a command printed on standard output."""
    command = [sys.executable, "manage.py", "shell", "--no-imports", "-c", code]
    environment = bare_environment(STATE_DIR=str(state))
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


COUNT_ACCOUNTS = "from django.contrib.auth import get_user_model as model; print(model().objects.count())"


def test_a_command_beside_it_uses_its_database(run: Run) -> None:
    assert manage(run.state, COUNT_ACCOUNTS) == "1\n"


def test_a_command_alone_has_a_database_with_all_tables(state: Path) -> None:
    alone = state / "alone"
    alone.mkdir()
    assert manage(alone, COUNT_ACCOUNTS) == "0\n"
    assert not [line for line in command_lines().values() if str(alone) in line]


def test_an_interrupt_stops_it_and_a_later_start_keeps_the_data(run: Run, state: Path) -> None:
    children = descendants(run.process.pid)
    password = (state / "admin_password").read_text()
    run.process.send_signal(signal.SIGINT)
    assert run.process.wait(40) == 0
    assert not any(map(alive, children))

    again = Run(state)
    try:
        assert (state / "admin_password").read_text() == password
        children = descendants(again.process.pid)
        assert len(children) > 8
        again.process.kill()
        wait_until(lambda: not any(map(alive, children)))
    finally:
        again.end()


def test_a_taken_port_is_an_error_when_it_was_asked_for(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        environment = bare_environment(STATE_DIR=str(tmp_path), PORT=port)
        done = subprocess.run(
            COMMAND, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
        )
    assert done.returncode == 1
    assert f"Port {port} is taken" in done.stderr


def test_what_died_for_the_first_time_is_started_with_the_same_look_and_later_after_a_pause(tmp_path: Path) -> None:
    parts = Supervisor(tmp_path, [], lambda _line: None)
    command = [sys.executable, "-c", "import time; time.sleep(60)"]
    part = Program("web", partial(spawn, "web", command, log=tmp_path / "web.log", env={}))
    (tmp_path / "web.log").touch()
    parts.add(part)
    first = part.process
    assert first
    try:
        os.kill(first.pid, signal.SIGKILL)
        first.child.wait()
        parts.check()
        assert part.process
        assert part.process is not first
        os.kill(part.process.pid, signal.SIGKILL)
        part.process.child.wait()
        parts.check()
        assert part.process is None
    finally:
        parts.stop()


def test_it_gives_up_on_what_keeps_dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    monkeypatch.setattr(supervisor, "PAUSES", (0.01,) * 4)
    parts = Supervisor(tmp_path, [], lines.append)
    command = [sys.executable, "-c", "print('no such table'); exit(7)"]
    parts.add(Program("web", partial(spawn, "web", command, log=tmp_path / "web.log", env={})))
    with pytest.raises(ServiceError, match=r"web ended with 7, 5 times in a row; giving up(.|\n)*no such table"):
        parts.watch()
    assert len(lines) == 4


def test_addresses_are_shown_without_their_password() -> None:
    assert host("postgresql://user:secret@db.example:5432/marcel") == "db.example:5432/marcel"
