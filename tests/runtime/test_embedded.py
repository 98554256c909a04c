"""The embedded servers, as real processes in folders of their own."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
import redis

from marcelcms.embedded import postgres
from marcelcms.embedded.processes import ServiceError
from marcelcms.embedded.services import provide
from tests.runtime.processes import ROOT, alive, command_lines, descendants, wait_until

PARTS = frozenset({"postgres", "valkey"})
# Tells what it got, then stays until it is told to go.
HOLDER = """
import json, os, sys
from pathlib import Path
from marcelcms.embedded.services import provide
with provide(Path(sys.argv[1]), durable=False) as started:
    urls = [os.environ["DATABASE_URL"], os.environ["REDIS_URL"]]
    print(json.dumps({"started": sorted(started), "urls": urls}), flush=True)
    sys.stdin.readline()
"""

pytestmark = pytest.mark.slow
linux = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc; only there children end with parents")


class Holder:
    """Another process that uses the services of a folder."""

    def __init__(self, folder: Path) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", HOLDER, folder],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ,
        )

    def told(self) -> dict[str, list[str]]:
        return json.loads(self.process.stdout.readline())

    def let_go(self) -> None:
        self.process.stdin.write("\n")
        self.process.stdin.flush()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Provide an empty state folder that PostgreSQL's user reaches, and an environment that names no servers."""
    for name in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
        monkeypatch.setenv(name, "")
    path = Path(tempfile.mkdtemp(prefix="marcelcms-embedded-"))
    path.chmod(0o711)
    yield path
    shutil.rmtree(path)


@pytest.fixture
def hold(folder: Path) -> Iterator[Callable[[], Holder]]:
    holders: list[Holder] = []

    def start() -> Holder:
        holders.append(Holder(folder))
        return holders[-1]

    yield start
    for holder in holders:
        holder.end()
    wait_until(lambda: not running_in(folder))


def query(sql: str, url: str | None = None) -> object:
    with psycopg.connect(url or os.environ["DATABASE_URL"], autocommit=True) as connection:
        cursor = connection.execute(sql)
        return cursor.fetchone()[0] if cursor.description else None


def broker() -> redis.Redis:
    return redis.Redis.from_url(os.environ["REDIS_URL"], decode_responses=True)


def running_in(folder: Path) -> list[str]:
    return [line for line in command_lines().values() if str(folder) in line and HOLDER.strip()[:20] not in line]


def answers(url: str) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", urlsplit(url).port)) == 0


def test_services_come_up_and_go(folder: Path) -> None:
    with provide(folder, durable=False) as started:
        assert started == PARTS
        urls = [os.environ["DATABASE_URL"], os.environ["REDIS_URL"]]
        assert query("SELECT 1") == 1
        with broker() as client:
            assert client.ping()
        assert all(map(answers, urls))
    assert not any(map(answers, urls))
    assert not os.environ.get("DATABASE_URL")


def test_the_database_folds_german_letters_and_has_the_extensions(folder: Path) -> None:
    with provide(folder, durable=False):
        assert query("SELECT lower('Ä') || upper('ö')") == "äÖ"
        assert query("SELECT 'ÜBUNG' ILIKE 'übung'")
        for extension in ("vector", "pg_trgm", "unaccent"):
            query(f"CREATE EXTENSION {extension}")
        assert query("SELECT '[1,2]'::vector <=> '[1,2]'") == 0


def test_data_and_secret_key_survive_a_restart(folder: Path) -> None:
    with provide(folder):
        query("CREATE TABLE kept AS SELECT 42 AS answer")
        with broker() as client:
            client.set("kept", "yes")
        key = os.environ.pop("SECRET_KEY")
    with provide(folder):
        assert query("SELECT answer FROM kept") == 42
        with broker() as client:
            assert client.get("kept") == "yes"
        assert os.environ["SECRET_KEY"] == key


@linux
def test_secrets_are_private(folder: Path) -> None:
    with provide(folder, durable=False):
        secrets = [urlsplit(os.environ[name]).password for name in ("DATABASE_URL", "REDIS_URL")]
        assert all(secret and len(secret) > 30 for secret in secrets)
        assert not [line for line in command_lines().values() if any(secret in line for secret in secrets)]
        private = ["services.json", "secret_key", "postgres/password", "valkey/valkey.conf", "log/postgres.log"]
        assert {name: oct((folder / name).stat().st_mode & 0o777) for name in private} == dict.fromkeys(
            private, "0o600"
        )
        assert (folder / "postgres/data").stat().st_mode & 0o777 == 0o700
        with pytest.raises(psycopg.OperationalError, match="password authentication failed"):
            query("SELECT 1", os.environ["DATABASE_URL"].replace(secrets[0], "wrong"))


def test_the_log_of_the_database_holds_no_value_of_a_row(folder: Path) -> None:
    secret = "Zyxquagmire"
    statements: list[tuple[str, list[object], type[psycopg.Error] | None]] = [
        ("INSERT INTO person VALUES (%s)", [secret], psycopg.errors.UniqueViolation),
        (f"INSERT INTO person VALUES ('{secret}')", [], psycopg.errors.UniqueViolation),
        ("SELECT %s::text::int", [secret], psycopg.errors.InvalidTextRepresentation),
        (f"SELECT '{secret}'::int", [], psycopg.errors.InvalidTextRepresentation),
        ("SELECT %s, pg_sleep(0.3)", [secret], None),
        (f"SELECT '{secret}', pg_sleep(0.3)", [], None),
        (f"SELECT {secret}", [], psycopg.errors.UndefinedColumn),
        (f"DO $$ BEGIN RAISE WARNING '{secret}'; END $$", [], None),
        (f"COPY (SELECT '{secret}') TO '/nowhere/at/all'", [], psycopg.errors.UndefinedFile),
        (f"SELECT pg_terminate_backend(pg_backend_pid()), '{secret}'", [], psycopg.OperationalError),
    ]
    with provide(folder, durable=False):
        query(f"CREATE TABLE person AS SELECT '{secret}' AS email")
        query("CREATE UNIQUE INDEX ON person (email)")
        for statement, values, error in statements:
            raised = pytest.raises(error) if error else nullcontext()
            with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection, raised:
                connection.execute(statement, values or None, prepare=bool(values))
    log = (folder / "log" / "postgres.log").read_text()
    assert "ready to accept connections" in log
    assert "terminating connection" in log, "what concerns the server is still told"
    assert secret not in log


@linux
def test_nor_does_it_when_a_server_process_is_killed(folder: Path) -> None:
    secret = "Zyxquagmire"
    with provide(folder, durable=False), psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
        killer = threading.Timer(0.5, os.kill, [connection.info.backend_pid, signal.SIGKILL])
        killer.start()
        with pytest.raises(psycopg.OperationalError):
            connection.execute(f"SELECT '{secret}', pg_sleep(10)")
        wait_until(lambda: "was terminated by signal 9" in (folder / "log" / "postgres.log").read_text())
    assert secret not in (folder / "log" / "postgres.log").read_text()


@linux
def test_a_killed_owner_leaves_no_process_and_no_damage(folder: Path, hold: Callable[[], Holder]) -> None:
    owner = hold()
    query("CREATE TABLE kept AS SELECT 42 AS answer", owner.told()["urls"][0])
    children = descendants(owner.process.pid)
    assert len(children) > 2
    owner.process.kill()
    wait_until(lambda: not any(map(alive, children)))

    owner = hold()
    assert query("SELECT answer FROM kept", owner.told()["urls"][0]) == 42
    children = descendants(owner.process.pid)
    owner.process.kill()
    owner.process.wait()
    with provide(folder, durable=False) as started:  # at once: what is left of the old ones has to give way
        assert started == PARTS
        assert not any(map(alive, children))
        assert query("SELECT answer FROM kept") == 42


@linux
def test_a_pid_file_from_before_a_reboot_is_no_obstacle(folder: Path) -> None:
    with provide(folder, durable=False):
        old = (folder / "postgres/data/postmaster.pid").read_text()
    mine = old.replace(old.split()[0], str(os.getppid()), 1)
    (folder / "postgres/data/postmaster.pid").write_text(mine)
    with provide(folder, durable=False):
        assert query("SELECT 1") == 1


@linux
def test_two_processes_share_the_servers_and_the_later_one_keeps_them(folder: Path, hold: Callable[[], Holder]) -> None:
    holders = [hold(), hold()]
    told = [holder.told() for holder in holders]
    assert told[0]["urls"] == told[1]["urls"]
    assert sorted(part for one in told for part in one["started"]) == sorted(PARTS)
    owner, user = holders if "postgres" in told[0]["started"] else holders[::-1]
    owner.let_go()
    assert "Another command still uses" in owner.process.stderr.readline()
    assert query("SELECT 1", told[0]["urls"][0]) == 1
    assert owner.process.poll() is None
    user.let_go()
    assert owner.process.wait(10) == 0
    assert not running_in(folder)


def test_a_server_named_in_the_environment_is_used(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgresql://somewhere.example/else")
    with provide(folder, durable=False) as started:
        assert started == {"valkey"}
        assert os.environ["DATABASE_URL"] == "postgresql://somewhere.example/else"
    assert not (folder / "postgres").exists()


def test_a_server_that_cannot_start_says_why(folder: Path) -> None:
    with provide(folder, durable=False):
        pass
    (folder / "postgres/data/PG_VERSION").write_text("9.6\n")
    with pytest.raises(ServiceError, match=r"did not start(.|\n)*incompatible"), provide(folder, durable=False):
        pass


def test_data_is_kept_elsewhere_only_where_the_servers_user_cannot_reach_it(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres, "SYSTEM", folder / "system")
    closed, state = folder / "closed", folder / "closed" / "state"
    state.mkdir(parents=True)
    closed.chmod(0o700)
    if os.geteuid() != 0:  # the server's user is ours
        with provide(state, durable=False):
            assert not (state / "postgres").is_symlink()
        return
    for _ in range(2):
        with provide(state, durable=False):
            query("CREATE TABLE IF NOT EXISTS kept ()")
            elsewhere = (state / "postgres").readlink()
            assert elsewhere.parent == folder / "system"
            assert query("SELECT count(*) FROM kept") == 0
    assert closed.stat().st_mode & 0o777 == 0o700
    shutil.rmtree(state)  # a fresh clone at the same place starts with fresh data
    with provide(state, durable=False):
        assert query("SELECT to_regclass('kept')") is None
