"""PgBouncer between everything and PostgreSQL is restarted, or killed, while students ask and staff edit. It lends
whole sessions, which every version of it can do."""

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from marcelcms.embedded.processes import answers, free_port
from tests.faults.cluster import Cluster, Postgres, cluster
from tests.runtime.processes import wait_until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
    pytest.mark.skipif(not shutil.which("pgbouncer"), reason="PgBouncer is not installed"),
]
AWAY_SECONDS = 5
SETTINGS = """
[databases]
* = host={host} port={port} user={user} password={password} connect_query='{begins}'
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {own}
unix_socket_dir =
pool_mode = session
auth_type = any
ignore_startup_parameters = options
max_client_conn = 500
default_pool_size = 80
query_wait_timeout = 20
"""
#: What a session begins with, which comes to PostgreSQL in no other way.
BEGINS = "SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = 100"


class Pooled(Postgres):
    """Is reached through PgBouncer alone."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        url, own = urlsplit(self.url), free_port()
        self._file, self._port = folder / "pgbouncer.ini", own
        self._file.write_text(
            SETTINGS.format(
                host=url.hostname, port=url.port, user=url.username, password=url.password, own=own, begins=BEGINS
            )
        )
        self._file.chmod(0o644)
        self.url = url._replace(netloc=f"{url.username}:none@127.0.0.1:{own}").geturl()
        self.start_pooler()

    def start_pooler(self) -> None:
        command = ["pgbouncer", *(["-u", "nobody"] if os.geteuid() == 0 else []), str(self._file)]
        with (self.folder / "log" / "pgbouncer").open("a") as log:
            self.pooler = subprocess.Popen(command, stdout=log, stderr=log)
        wait_until(lambda: answers(self._port) or self.pooler.poll() is not None)
        assert self.pooler.poll() is None, (self.folder / "log" / "pgbouncer").read_text()

    def end_pooler(self, how: int) -> None:
        self.pooler.send_signal(how)
        self.pooler.wait(20)

    def stop(self, signum: int = signal.SIGINT) -> None:
        self.end_pooler(signal.SIGKILL)
        super().stop(signum)


@pytest.fixture(scope="module")
def stack() -> Iterator[Cluster]:
    with cluster(database_class=Pooled) as started:
        yield started


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["restarted", "killed"])
def test_a_pooler_that_was_away_costs_nothing(stack: Cluster, how: int) -> None:
    pooled = stack.postgres
    assert isinstance(pooled, Pooled)
    with stack.busy() as going:
        pooled.end_pooler(how)
        time.sleep(AWAY_SECONDS)
        pooled.start_pooler()
        began = time.monotonic()
        back = going.goes_on(after=began)
        equal = stack.index_equals_after_last_edit(going, began)
    assert {one.status for one in going.answered} <= {"complete", "failed"}
    assert going.refusals() <= {"unavailable"}
    failed = sum(one.status == "failed" for one in going.answered)
    print(
        f"\nPgBouncer ({signal.Signals(how).name}, {AWAY_SECONDS} s away): answers and edits {back:.1f} s, index "
        f"{equal:.1f} s; {failed} of {len(going.answered)} answers failed"
    )
