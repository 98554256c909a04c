"""Two PostgreSQL servers in streaming replication, of which a test stops either, and a stack that reads from both."""

import json
import os
import shutil
import signal
import subprocess
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg

from marcelcms.embedded import postgres
from marcelcms.embedded.processes import finish, free_port, log_file, server_environment, spawn
from tests.fakes.llm import FakeLLM
from tests.faults.cluster import Cluster, Postgres
from tests.runtime.processes import descendants, wait_until
from tests.runtime.valkey import Valkey

#: Every statement is in a server's log: of the tests' own data alone.
LOGGING = ("-c", "log_statement=all")
#: Prints the key of a program that may search.
CONNECT = """
from chat.models import APIClient, Assistant
from chat.services.api_clients import make_client
client = APIClient(name="Search", scopes=["search"], per_minute=6_000)
key = make_client(client=client)
client.assistants.set(Assistant.objects.order_by("pk")[:1])
print(key)
"""


class Logged:
    """A server whose log tells which statements it was asked."""

    log: Path
    _read = 0

    def forget_statements(self) -> None:
        self._read = self.log.stat().st_size

    def was_asked(self, part: str) -> bool:
        """Return whether a statement with this in it came since `forget_statements`."""
        with self.log.open("rb") as log:
            log.seek(self._read)
            return part.encode() in log.read()


class Primary(Logged, Postgres):
    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.log = log_file(folder / "log", "own-postgres")
        self.command = [*self.command, "-c", "wal_level=replica", "-c", "max_wal_senders=4", *LOGGING]
        self.stop()
        self.start()


class Standby(Logged, Postgres):
    """A hot standby of a primary, whose log the primary keeps while it is away."""

    def __init__(self, folder: Path, primary: Primary) -> None:
        self.folder, self.log = folder, log_file(folder / "log", "standby")
        given = list(map(str, primary.command))
        data_at, port_at = given.index("-D") + 1, given.index("-p") + 1
        data, port = folder / "standby", free_port()
        owner = Path(given[data_at]).stat()
        data.mkdir()
        os.chown(data, owner.st_uid, owner.st_gid)
        data.chmod(0o700)
        backup = Path(given[data_at - 2]).parent / "pg_basebackup"
        copying = spawn(
            "pg_basebackup",
            [backup, "-D", data, "-d", primary.url, "-R", "-C", "-S", "standby", "-c", "fast"],
            log=self.log,
            env=server_environment(),
            cwd=Path("/"),
            user=postgres.User(owner.st_uid, owner.st_gid) if os.geteuid() == 0 else None,
        )
        assert finish(copying) == 0, self.log.read_text()
        given[data_at], given[port_at] = str(data), str(port)
        # As the guide says: otherwise reads end where the primary cleans up, and a paused standby ends them all.
        self.command = [*given, "-c", "hot_standby=on", "-c", "hot_standby_feedback=on"]
        self.url = urlsplit(primary.url)._replace(netloc=f"{_login(primary.url)}@127.0.0.1:{port}").geturl()
        self.start()

    def start(self) -> None:
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, env=server_environment(), cwd="/", start_new_session=True
            )
        wait_until(self.answers, 60)

    def does(self, statement: str) -> Any:
        with psycopg.connect(self.url, autocommit=True) as connection:
            return connection.execute(statement).fetchone()

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Receive changes, but do not show them."""
        self.does("SELECT pg_wal_replay_pause()")
        wait_until(lambda: self.does("SELECT pg_get_wal_replay_pause_state()") == ("paused",))
        try:
            yield
        finally:
            self.does("SELECT pg_wal_replay_resume()")

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Stop all of its processes where they are: connections stay, and nobody replies."""
        everybody = [self.process.pid, *descendants(self.process.pid)]
        for pid in everybody:
            os.kill(pid, signal.SIGSTOP)
        try:
            yield
        finally:
            for pid in everybody:
                os.kill(pid, signal.SIGCONT)

    def has_all_of(self, primary: Primary) -> bool:
        with psycopg.connect(primary.url) as connection:
            (end,) = connection.execute("SELECT pg_current_wal_lsn()::text").fetchone()  # type: ignore[misc]
        return bool(self.does(f"SELECT pg_last_wal_replay_lsn() >= '{end}'")[0])


class Replicated(Cluster):
    """A stack that reads from a standby."""

    postgres: Primary

    def __init__(self, folder: Path, primary: Primary, valkey: Valkey, llm: FakeLLM, **variables: str) -> None:
        self.standby = Standby(folder, primary)
        super().__init__(folder, primary, valkey, llm, DATABASE_REPLICA_URL=self.standby.url, **variables)

    def prepare(self) -> None:
        super().prepare()
        self.key = self.run.does(CONNECT).strip()

    def finds(self, query: str) -> list[str]:
        """Return the texts that a program's search finds. Raise OSError."""
        called = {"name": "search", "arguments": {"query": query}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": called}
        headers = {"Authorization": f"Bearer {self.key}", "Content-Type": "application/json"}
        headers |= {"Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(f"{self.server.origin}/mcp", json.dumps(body).encode(), headers, method="POST")
        with urllib.request.urlopen(request, timeout=30) as response:
            said = response.read().decode()
        data = next((line[6:] for line in said.splitlines() if line.startswith("data: ")), said)
        result = json.loads(data)["result"]
        if result.get("isError"):
            raise OSError(result["content"])
        return [passage["text"] for passage in result["structuredContent"]["passages"]]

    def health(self) -> dict[str, Any]:
        address = f"{self.server.origin}/health/ready"
        try:
            with urllib.request.urlopen(address, timeout=10) as response:
                return dict(json.load(response))
        except urllib.error.HTTPError as error:
            with error:
                return dict(json.load(error))

    def figures(self) -> dict[str, float]:
        """Return the figures of the replica that Prometheus reads."""
        address = f"{self.server.origin}/metrics"
        request = urllib.request.Request(address, headers={"Authorization": "Bearer figures"})
        with urllib.request.urlopen(request, timeout=10) as response:
            lines = response.read().decode().splitlines()
        named = (line.split() for line in lines if line.startswith("marcelcms_replica"))
        return {name: float(value) for name, value in named}

    def reads_from_standby(self) -> bool:
        """Search, and return whether the standby was asked for passages."""
        self.standby.forget_statements()
        self.finds("semester contribution")
        return self.standby.was_asked("FROM knowledge_passage AS passage")


def _login(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.username}:{parts.password}"


@contextmanager
def replicated(**variables: str) -> Iterator[Replicated]:
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-replica-"))
    folder.chmod(0o711)
    with ExitStack() as parts:
        parts.callback(shutil.rmtree, folder, ignore_errors=True)
        llm = FakeLLM()
        parts.callback(llm.close)
        primary = Primary(folder)
        parts.callback(primary.stop, signal.SIGQUIT)
        valkey = Valkey(folder / "own-valkey")
        parts.callback(valkey.kill)
        started = Replicated(folder, primary, valkey, llm, METRICS_TOKEN="figures", **variables)
        parts.callback(started.standby.stop, signal.SIGQUIT)
        parts.callback(started.run.end)
        started.prepare()
        yield started
