"""Runs `make run`, step by step: servers, tables, demo, admin account, then the project's own processes."""

import json
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import Self
from urllib.parse import urlsplit

from marcelcms.embedded import parts
from marcelcms.embedded.parts import HOST
from marcelcms.embedded.processes import Process, ServiceError, end_with_make, finish, log_file, write_private
from marcelcms.embedded.services import PARTS, POSTGRES, VALKEY, Part, locked, provide_part, provide_secret_key
from marcelcms.embedded.supervisor import Program, Supervisor

ROOT = Path(__file__).resolve().parents[2]
ADMIN = "admin"
#: Workers by name, their queues, and how many tasks each does at once.
WORKERS = {"worker": ("celery", "2"), "long-worker": ("long,reports", "2"), "crawl-worker": ("crawl", "1")}


def main() -> int:
    """Run everything; return the exit code: 0 after an interrupt, 1 after a failure that was explained."""
    _listen_to_signals()
    state = Path(os.environ.get("STATE_DIR") or ROOT / "var").resolve()
    try:
        run(state)
    except KeyboardInterrupt:
        say("Stopped.")
        return 0
    except ServiceError as error:
        sys.stderr.write(f"\n{error}\n")
        return 1
    return 0


def run(state: Path) -> None:
    """Run everything until an interrupt."""
    logs = state / "log"
    with ExitStack() as stack:
        provide_secret_key(state)
        note = stack.enter_context(only_one(state))
        port = choose_port()
        say("MarcelCMS starts; the first time takes longer.")
        choices = {part.title: choice(part, state) for part in PARTS}
        set_environment(port)
        with timed("Servers", "PostgreSQL and Valkey; the program is loaded meanwhile"):
            services = [
                stack.enter_context(provide_part(state, VALKEY)),
                # Making its data takes seconds, as loading the program does.
                stack.enter_context(provide_part(state, POSTGRES, meanwhile=parts.load)),
            ]
        supervisor = Supervisor(logs, [service for service in services if service], say)
        stack.callback(supervisor.stop)
        stack.callback(say, "\nStopping ...")

        with timed("Tables", "and the files of the models"):
            with Steps(logs) as steps:
                steps.begin("models", parts.load_models)
                steps.begin("migrate", parts.tables)
            parts.load_models()
            parts.freeze()
        page = Program("web", partial(parts.start, "web", parts.web, str(port), log=log_file(logs, "web")))
        supervisor.add(page)
        with timed("Demo", "and the admin account"), Steps(logs) as steps:
            steps.begin("demo", parts.manage, "load_demo")
            account = AdminAccount(state, steps)
        with timed("Page"):
            supervisor.wait_for(f"http://{HOST}:{port}/health/live")
        for name, (queues, tasks) in WORKERS.items():
            # It first finishes its task, then drops it (SIGQUIT, the second for one that was handed out at the last
            # moment): the broker hands it out again.
            signals = (signal.SIGTERM, signal.SIGQUIT, signal.SIGQUIT)
            log = log_file(logs, name)
            begin = partial(parts.start, name, parts.worker, name, queues, tasks, log=log, signals=signals)
            supervisor.add(Program(name, begin))
        supervisor.add(Program("beat", partial(parts.start, "beat", parts.beat, log=log_file(logs, "beat"))))
        write_private(note, json.dumps({"pid": os.getpid(), "url": f"http://{HOST}:{port}/"}))
        say(summary(port, account.login(), choices, state))
        supervisor.watch()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def timed(title: str, note: str = "") -> Iterator[None]:
    began = time.monotonic()
    yield
    say(f"  {title:<10} {time.monotonic() - began:5.1f} s  {note}".rstrip())


class Steps:
    """Parts that end by themselves, side by side; leaving the block waits for all. Raises ServiceError if one fails."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self._begun: dict[Process, bool] = {}

    def begin(self, name: str, part: Callable[..., None], *arguments: str, may_fail: bool = False) -> Process:
        """Start a step; return its process, whose code is the caller's matter if it `may_fail`."""
        process = parts.start(name, part, *arguments, log=log_file(self._logs, name))
        self._begun[process] = may_fail
        return process

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        for process, may_fail in self._begun.items():
            if kind:
                process.stop()
            elif finish(process) and not may_fail:
                raise ServiceError(f"The step {process.name!r} failed, see {process.log}:{process.last_lines(20)}")


class AdminAccount:
    """The first account; it is made if it is missing."""

    def __init__(self, state: Path, steps: Steps) -> None:
        self._kept, self._state = state / "admin_password", state
        self._password = self._kept.read_text().strip() if self._kept.exists() else secrets.token_urlsafe(12)
        options = ("--noinput", "--username", ADMIN, "--email", f"{ADMIN}@localhost.localdomain")
        os.environ["DJANGO_SUPERUSER_PASSWORD"] = self._password  # an argument would show in `ps`
        self._making = steps.begin("admin", parts.manage, "createsuperuser", *options, may_fail=True)
        del os.environ["DJANGO_SUPERUSER_PASSWORD"]

    def login(self) -> str:
        """Return how to log in, once the step is over."""
        made = self._making
        if not made.child.returncode:
            write_private(self._kept, self._password + "\n")
        elif "already taken" not in made.last_lines():
            raise ServiceError(f"The admin account could not be made, see {made.log}:{made.last_lines(20)}")
        elif not self._kept.exists():
            return f"{ADMIN}, with the password it was given before"
        return f"{ADMIN} / {self._password}   (its first password, kept in {shown(self._kept)})"


def set_environment(port: int) -> None:
    """Set what this process and its parts go by; one thread a model call leaves cores to other requests."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("PUBLIC_URL", f"http://{HOST}:{port}")
    os.chdir(ROOT)
    os.environ |= {"DJANGO_SETTINGS_MODULE": "marcelcms.settings", "PYTHONUNBUFFERED": "1"}


def choose_port() -> int:
    """Return PORT, or the first free port from 8000 on."""
    wanted = os.environ.get("PORT", "")
    if wanted:
        if not wanted.isdecimal() or not 0 < int(wanted) < 65536:
            raise ServiceError(f"PORT is {wanted!r}: it takes a number from 1 to 65535.")
        if not is_free(int(wanted)):
            raise ServiceError(f"Port {wanted} is taken: stop what uses it, or choose another with PORT=...")
        return int(wanted)
    for port in range(8000, 8100):
        if is_free(port):
            if port != 8000:
                say(f"Port 8000 is taken: using {port}.")
            return port
    raise ServiceError("The ports 8000 to 8099 are taken: choose another with PORT=...")


def is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


@contextmanager
def only_one(state: Path) -> Iterator[Path]:
    """Lock the state folder against a second start; yield the file that tells the second one about this one."""
    note = state / "run.json"
    with ExitStack() as stack:
        try:
            stack.enter_context(locked(state / "run.lock", wait=False))
        except BlockingIOError as error:
            first = json.loads(note.read_text()) if note.exists() else {}
            where = f"{first.get('url', 'starting')}, process {first.get('pid', '?')}"
            raise ServiceError(f"MarcelCMS already runs here ({where}): stop that one first.") from error
        note.unlink(missing_ok=True)
        stack.callback(note.unlink, missing_ok=True)
        yield note


def summary(port: int, login: str, choices: dict[str, str], state: Path) -> str:
    """Return the text that says how to reach what was started."""
    model, base = os.environ.get("LLM_MODEL"), os.environ.get("LLM_BASE_URL")
    embeddings = os.environ.get("EMBEDDING_MODEL") or "all-MiniLM-L6-v2+multilingual-e5-small, built in"
    lines = {
        "Chat": f"http://{HOST}:{port}/",
        "Admin": f"http://{HOST}:{port}/admin/",
        "Login": login,
        "Database": choices[POSTGRES.title],
        "Broker": choices[VALKEY.title],
        "Embeddings": embeddings,
        "LLM": f"{model or 'its only model'} @ {base}" if base else "none: answers are quotes",
        "Logs": shown(state / "log"),
    }
    rows = (f"  {name:<12}{line}" for name, line in lines.items())
    return "\n".join(["", "MarcelCMS runs. Ctrl-C stops everything.", *rows, ""])


def choice(part: Part, state: Path) -> str:
    """Return which server a part is: the embedded one, or the one its variable names."""
    if given := os.environ.get(part.variable):
        return f"{host(given)} ({part.variable})"
    return f"embedded {part.title} in {shown(state / part.name)}"


def host(url: str) -> str:
    """Return host, port and database of an address, without its password."""
    return urlsplit(url).netloc.rpartition("@")[2] + urlsplit(url).path


def shown(path: Path) -> str:
    """Return a path as a person at the project's root writes it."""
    return str(path.relative_to(ROOT)) if path.is_relative_to(ROOT) else str(path)


def _listen_to_signals() -> None:
    """Turn every way to stop into one interrupt; what comes within a second belongs to it (make sends a second one)."""
    last = 0.0

    def interrupt(signum: int, frame: FrameType | None) -> None:
        nonlocal last
        now, before = time.monotonic(), last
        if now - before > 1:
            last = now
            raise KeyboardInterrupt

    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        if signum == signal.SIGINT or signal.getsignal(signum) != signal.SIG_IGN:  # as under nohup
            signal.signal(signum, interrupt)
    end_with_make()
