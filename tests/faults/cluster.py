"""The whole stack on servers that a test may stop and start again, and what proves that nothing came to harm."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
from celery import Celery

from marcelcms.embedded import postgres
from marcelcms.embedded.processes import log_file, server_environment
from tests.fakes.llm import FakeLLM
from tests.faults.traffic import Asked, Traffic, traffic
from tests.load.__main__ import LIMITS
from tests.runtime.processes import ROOT, leading, wait_until
from tests.runtime.stack import Run
from tests.runtime.valkey import Valkey
from tests.servers import Server

FACT = "The semester contribution is 318.40 euros [1]."
#: Prints a superuser's token for the staff API, and the id of a document that may be edited.
PREPARE = """
from datetime import timedelta
from django.contrib.auth import get_user_model
from django.utils import timezone
from knowledge.models import Collection, Document
from knowledge.services.documents import save_document
from core.db.tokens import hash_token
from marcelcms.models import APIToken, new_token
token, user = new_token(), get_user_model().objects.get(username="admin")
APIToken.objects.create(user=user, name="Test", digest=hash_token(token), expires_at=timezone.now() + timedelta(days=1))
collection = Collection.objects.create(slug="rooms", name="Rooms")
document = Document(collection=collection, url="https://www.uni.example/rooms", title="Rooms", text="# Rooms")
print(token, save_document(document=document).pk)
"""


class Postgres:
    """Keeps its data and its address from one start to the next."""

    def __init__(self, folder: Path) -> None:
        service = postgres.start(folder, log=log_file(folder / "log", "own-postgres"))
        self.url, self.process, self.folder = service.url, service.process.child, folder
        self.command: Any = self.process.args

    def stop(self, signum: int = signal.SIGINT) -> None:
        """SIGINT breaks all connections and writes everything; SIGQUIT is as a crash."""
        self.process.send_signal(signum)
        self.process.wait(60)

    def start(self) -> None:
        with log_file(self.folder / "log", "own-postgres").open("a") as log:
            self.process = subprocess.Popen(
                self.command, stdout=log, stderr=log, env=server_environment(), cwd="/", start_new_session=True
            )
        wait_until(self.answers, 60)

    def answers(self) -> bool:
        try:
            with psycopg.connect(self.url, connect_timeout=5):
                return True
        except psycopg.OperationalError:
            return False


class Cluster:
    def __init__(
        self,
        folder: Path,
        database: Postgres,
        valkey: Valkey,
        llm: FakeLLM,
        *,
        within: Sequence[str] = (),
        **variables: str,
    ) -> None:
        self.postgres, self.valkey, self.llm = database, valkey, llm
        own = {
            "SECRET_KEY": "only for tests",
            "DATABASE_URL": database.url,
            "REDIS_URL": valkey.url,
            "LLM_BASE_URL": llm.base_url,
            "LLM_MODEL": "fake",
            "LLM_FIRST_TOKEN_SECONDS": "20",
            "EMBEDDING_MODEL": "all-MiniLM-L6-v2",
            "STAFF_API_PER_MINUTE": "100000",
            **dict.fromkeys(LIMITS, "100000"),
        }
        self.run = Run(folder, within=within, **own | variables)
        self.server = Server(self.run.port)

    def prepare(self) -> None:
        """Return what traffic needs."""
        self.token, document = self.run.does(PREPARE).split()
        self.document = int(document)

    @contextmanager
    def busy(self, *, words: int = 8, between: float = 0.05) -> Iterator[Traffic]:
        """Questions and edits all the while; when they have ended, nothing stored may be lost or doubled."""
        self.llm.reset()
        self.llm.says_words(" ".join([FACT] * (words // 8)), between=between)
        with traffic(self.server, self.token, self.document) as going:
            going.goes_on(after=time.monotonic())
            yield going
        self.has_all(going.answered)
        (text,) = self.row("SELECT text FROM knowledge_document WHERE id = %s", self.document)
        assert text in going.editor.sent[going.editor.accepted :]

    def has_all(self, asked: list[Asked]) -> None:
        """Every question is stored once, with one answer, which is what was shown."""
        with psycopg.connect(self.postgres.url) as connection:
            rows = connection.execute(
                "SELECT conversation_id::text, role, client_id::text, status, text FROM chat_message "
                "WHERE conversation_id = ANY(%s::uuid[]) ORDER BY id",
                [[one.conversation for one in asked]],
            ).fetchall()
        stored: dict[str, list[tuple[Any, ...]]] = {}
        for conversation, *row in rows:
            stored.setdefault(conversation, []).append(tuple(row))
        assert len(stored) == len(asked)
        for one in asked:
            question, answer = stored[one.conversation]  # neither lost nor doubled
            assert question[:2] == ("user", one.client_id)
            assert answer[:1] == ("assistant",)
            assert answer[2] == one.status
            if one.text is not None and one.status == "complete":
                assert answer[3] == one.text, f"saved: {answer[3]!r}, shown: {one.text!r}"

    def row(self, statement: str, *values: object) -> tuple[Any, ...]:
        with psycopg.connect(self.postgres.url) as connection:
            found = connection.execute(statement, values).fetchone()  # type: ignore[arg-type]
        assert found
        return found

    def index_equals(self, *, since: float, seconds: float = 600) -> float:
        """Seconds from `since` until `verify_index` finds that the index equals the database."""
        while True:
            command = [sys.executable, "manage.py", "verify_index", "--json"]
            done = subprocess.run(
                command, cwd=ROOT, env=self.run.environment, capture_output=True, text=True, check=False
            )
            now = time.monotonic()
            if done.returncode == 0:
                assert json.loads(done.stdout)["equal"]
                return now - since
            assert now - since < seconds, done.stdout + done.stderr
            time.sleep(2)

    def index_equals_after_last_edit(self, going: Traffic, since: float) -> float:
        """As `index_equals`: edits end, since one that is made just now may wait for its worker."""
        going.editor.ending.set()
        going.editor.join(60)
        return self.index_equals(since=since)

    @contextmanager
    def second_worker(self, queue: str) -> Iterator["SecondWorker"]:
        second = SecondWorker(self.run, queue, self.valkey.url)
        try:
            yield second
        finally:
            second.end()

    def worker(self, name: str) -> int:
        """Return the leading process of a worker, 0 where there is none."""
        return leading(name, self.run.process.pid)

    def kill_worker(self, name: str) -> None:
        """With all of its processes, as when the machine takes their memory."""
        pid = self.worker(name)
        assert pid
        os.killpg(pid, signal.SIGKILL)
        wait_until(lambda: self.worker(name) not in (0, pid), 60)


class SecondWorker:
    """A worker of one task at a time, beside those of the run, with a queue of its own."""

    def __init__(self, run: Run, queue: str, broker: str) -> None:
        self.name, self._app = f"second@{socket.gethostname()}", Celery(broker=broker, set_as_current=False)
        command = [sys.executable, "-m", "celery", "-A", "marcelcms", "worker", "--loglevel", "WARNING"]
        command += ["--queues", queue, "--concurrency", "1", "--hostname", self.name]
        with (run.state / "log" / "second-worker").open("a") as log:
            self._process = subprocess.Popen(
                command, cwd=ROOT, env=run.environment, stdout=log, stderr=log, start_new_session=True
            )
        wait_until(lambda: self.name in self._asked("ping"), 90)

    def done(self, task: str) -> int:
        """Return how many of a task it has come to the end of."""
        stats = self._asked("stats").get(self.name, {})
        return int(stats.get("total", {}).get(task, 0)) - len(self._at_work(self.name))

    def shared(self) -> set[str]:
        """Ids of the tasks that it and another worker are working on at this moment."""
        active = self._asked("active")
        mine = {task["id"] for task in active.get(self.name, [])}
        return mine & {task["id"] for name, tasks in active.items() if name != self.name for task in tasks}

    def _at_work(self, name: str) -> list[Any]:
        return list(self._asked("active").get(name, []))

    def _asked(self, what: str) -> dict[str, Any]:
        return getattr(self._app.control.inspect(timeout=0.7), what)() or {}

    def end(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._app.close()


class SlowDisk(Postgres):
    """Takes a tenth of a second more for every commit."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.command = [*self.command, "-c", "commit_delay=100000", "-c", "commit_siblings=0"]
        self.stop()
        self.start()


@contextmanager
def cluster(
    *,
    database_class: Callable[[Path], Postgres] = Postgres,
    valkey_class: Callable[[Path], Valkey] = Valkey,
    llm: FakeLLM | None = None,
    within: Sequence[str] = (),
    **variables: str,
) -> Iterator[Cluster]:
    """Start a stack; it closes its language model."""
    folder = Path(tempfile.mkdtemp(prefix="marcelcms-faults-"))
    folder.chmod(0o711)
    with ExitStack() as parts:
        parts.callback(shutil.rmtree, folder, ignore_errors=True)
        llm = llm or FakeLLM()
        parts.callback(llm.close)
        database = database_class(folder)
        parts.callback(database.stop, signal.SIGQUIT)
        valkey = valkey_class(folder / "own-valkey")
        parts.callback(valkey.kill)
        started = Cluster(folder, database, valkey, llm, within=within, **variables)
        parts.callback(started.run.end)
        started.prepare()
        yield started
