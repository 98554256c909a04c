"""The machine's clock jumps an hour forward, and back, for all processes, while students ask and staff edit: nothing
stored is lost or doubled, the schedule neither stops nor runs wild, and who is in stays in."""

import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import psycopg
import pytest
from celery import Celery

from tests.faults.cluster import Cluster, Postgres, cluster
from tests.faults.test_faults import CRAWL
from tests.faults.test_media import Staff
from tests.knowledge.site import serving, small
from tests.runtime.processes import wait_until
from tests.runtime.valkey import Valkey

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(1200),
    pytest.mark.skipif(sys.platform != "linux" or not shutil.which("cc"), reason="a clock is made for Linux, by cc"),
]
HOUR = 3600
#: How long what the schedule queues is counted after a jump, and its task that is due most often.
WATCHED, OFTEN, EVERY = 60, "marcelcms.tasks.requeue_lost_jobs", 15
BUSY = "SELECT count(*) FROM knowledge_crawlrun WHERE state = 'running' AND heartbeat_at IS NOT NULL"
CRAWLED = """
SELECT r.state FROM knowledge_crawlrun r JOIN knowledge_source s ON s.id = r.source_id WHERE s.name = %s
ORDER BY r.id DESC
"""


class Clock:
    """The time of day of every process that has `variables` in its environment."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "clock"
        self._file.write_bytes(bytes(8))
        library = folder / "clock.so"
        source = Path(__file__).with_name("clock.c")
        subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
        self.variables = {"LD_PRELOAD": str(library), "CLOCK_FILE": str(self._file)}

    def jump(self, ahead: int) -> float:
        """Have it go so many seconds ahead of the true time. Return the monotonic time."""
        with self._file.open("r+b") as file:
            file.write(struct.pack("q", ahead))
        return time.monotonic()


class Clocked(Postgres):
    """Goes by that clock."""

    def __init__(self, clock: Clock, folder: Path) -> None:
        super().__init__(folder)
        super().stop()
        self.command = ["env", *(f"{name}={value}" for name, value in clock.variables.items()), *self.command]
        self.start()


@dataclass
class Clockwork:
    stack: Cluster
    clock: Clock
    app: Celery

    def done(self) -> Counter[str]:
        """Return how often the workers have done each task."""
        found: Counter[str] = Counter()
        for stats in (self.app.control.inspect(timeout=3).stats() or {}).values():
            found.update(stats["total"])
        return found

    def ahead(self) -> float:
        """Return how far the database's clock is ahead of the true one."""
        with psycopg.connect(self.stack.postgres.url) as connection:
            ((now,),) = connection.execute("SELECT extract(epoch FROM clock_timestamp())::float").fetchall()
        return float(now) - time.time()


@pytest.fixture(scope="module")
def clockwork() -> Iterator[Clockwork]:
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-clock-"))
    folder.chmod(0o755)
    clock = Clock(folder)
    servers = {"database_class": partial(Clocked, clock), "valkey_class": partial(Valkey, **clock.variables)}
    with cluster(**servers, **clock.variables) as stack, Celery(broker=stack.valkey.url, set_as_current=False) as app:
        yield Clockwork(stack, clock, app)
    shutil.rmtree(folder)


@pytest.mark.parametrize("ahead", [HOUR, 0], ids=["forward", "back"])
def test_a_clock_that_jumps_costs_nothing(clockwork: Clockwork, ahead: int) -> None:
    stack = clockwork.stack
    with serving(small) as site, stack.busy(words=16) as going:
        staff, name = Staff(stack), f"Site {ahead}"
        stack.run.does(CRAWL.format(url=site.url("/"), name=name))
        wait_until(lambda: stack.row(BUSY) == (1,), 120)
        before = clockwork.done()
        began = clockwork.clock.jump(ahead)
        assert abs(clockwork.ahead() - ahead) < 5
        back = going.goes_on(after=began)
        # A student who comes back keeps who they are, though their token is over.
        student = going.students[0]
        status, renewed = stack.server.post("/api/v1/session", {"consent": True, "token": student.token})
        assert (status, bool(renewed["token"])) == (200, True)
        assert "logout" in staff.open("/admin/")
        time.sleep(max(0.0, began + WATCHED - time.monotonic()))
        queued = clockwork.done() - before
        slept = time.monotonic() - began
        wait_until(lambda: stack.row(CRAWLED, name) == ("finished",), 180)
        pages = stack.row(
            "SELECT count(*), count(DISTINCT url) FROM knowledge_document WHERE url LIKE %s", f"{site.base}%"
        )
        equal = stack.index_equals_after_last_edit(going, began)
    assert pages == (len(site.answers), len(site.answers))
    assert 2 <= queued[OFTEN] <= slept / EVERY + 4, queued
    assert {one.status for one in going.answered} == {"complete"}
    assert not going.refusals()
    print(
        f"\nclock {ahead} s ahead: answers and edits {back:.1f} s, index {equal:.1f} s; {queued.total()} tasks in "
        f"{slept:.0f} s, {queued[OFTEN]} of the one that is due every {EVERY} s; troubles {going.editor.troubles}"
    )


def test_a_crawl_whose_worker_dies_while_the_clock_is_set_back_is_begun_again(clockwork: Clockwork) -> None:
    stack = clockwork.stack
    clockwork.clock.jump(HOUR)
    with serving(small) as site, stack.busy() as going:
        stack.run.does(CRAWL.format(url=site.url("/"), name="Ahead"))
        wait_until(lambda: stack.row(BUSY) == (1,), 120)
        os.killpg(stack.worker("crawl-worker"), signal.SIGKILL)
        began = clockwork.clock.jump(0)
        wait_until(lambda: stack.row(CRAWLED, "Ahead") == ("finished",), 240)
        crawled = time.monotonic() - began
        going.goes_on(after=time.monotonic())
    print(f"\nworker killed before the clock was set back: whole site crawled {crawled:.1f} s")
