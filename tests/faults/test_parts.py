"""Each part is killed as by a machine that runs out of memory, the disk is slow, and somebody restores a backup, while
students ask and staff edit: nothing stored is lost or doubled, and the service is back by itself."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.cluster import Cluster, SlowDisk, cluster
from tests.runtime.processes import ROOT, command_lines, descendants, leading, wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]


@pytest.fixture(scope="module")
def stack() -> Iterator[Cluster]:
    with cluster() as started:
        yield started


@pytest.mark.parametrize("part", ["web", "worker", "long-worker", "crawl-worker", "beat"])
def test_a_part_that_is_killed_is_started_again(stack: Cluster, part: str) -> None:
    with stack.busy() as going:
        first = leading(part, stack.run.process.pid)
        assert first
        os.killpg(first, signal.SIGKILL)
        began = time.monotonic()
        wait_until(lambda: leading(part, stack.run.process.pid) not in (0, first), 60)
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    assert not {one.status for one in going.answered} - {"complete", "failed"}
    print(f"\n{part} killed: answers and edits {back:.1f} s, index {equal:.1f} s")


def test_a_process_of_a_worker_that_is_killed_is_replaced_with_its_task(stack: Cluster) -> None:
    with stack.busy() as going:
        began = time.monotonic()
        for child in descendants(stack.worker("worker")):
            os.kill(child, signal.SIGKILL)
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    print(f"\nprocesses of the worker killed: answers and edits {back:.1f} s, index {equal:.1f} s")


def test_postgresql_begins_anew_when_one_of_its_processes_is_killed(stack: Cluster) -> None:
    with stack.busy() as going:
        server = stack.postgres.process.pid
        lines = command_lines()
        sessions = [pid for pid in descendants(server) if lines.get(pid, "").startswith("postgres: marcelcms")]
        assert sessions
        os.kill(sessions[0], signal.SIGKILL)
        began = time.monotonic()
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    assert stack.postgres.process.poll() is None
    print(f"\na session of PostgreSQL killed: answers and edits {back:.1f} s, index {equal:.1f} s")


def test_a_backup_is_not_restored_while_students_ask(stack: Cluster, tmp_path: Path) -> None:
    stack.run.manage("backup", str(tmp_path))
    (backup,) = tmp_path.glob("*.tar")
    with stack.busy() as going:
        command = [sys.executable, "manage.py", "restore", str(backup), "--replace"]
        done = subprocess.run(command, cwd=ROOT, env=stack.run.environment, capture_output=True, text=True, check=False)
        began = time.monotonic()
        assert done.returncode
        assert "MarcelCMS still runs" in done.stderr
        going.goes_on(after=began)
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()


def test_on_a_slow_disk_everything_is_slower_and_nothing_is_lost() -> None:
    with cluster(database_class=SlowDisk) as stack, stack.busy() as going:
        began = time.monotonic()
        wait_until(lambda: len(going.answered) >= 10, 120)
        equal = stack.index_equals_after_last_edit(going, began)
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    assert not going.editor.troubles
    slowest = max(one.ended - one.asked for one in going.answered)
    print(f"\nslow disk: slowest answer of {len(going.answered)} {slowest:.1f} s, index {equal:.1f} s")
