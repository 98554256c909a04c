"""Runs `make run`, step by step: servers, tables, demo, admin account, then the project's own processes."""

import json
import os
import secrets
import signal
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import FrameType
from urllib.parse import urlsplit

from marcelcms.embedded.processes import Process, ServiceError, end_with_make, finish, log_file, spawn, write_private
from marcelcms.embedded.services import PARTS, POSTGRES, VALKEY, Part, locked, provide_part, provide_secret_key
from marcelcms.embedded.supervisor import Program, Supervisor

ROOT = Path(__file__).resolve().parents[2]
HOST = "127.0.0.1"
ADMIN = "admin"
#: Words are not compressed each for itself: it saves no packet, and costs time and memory of every socket.
WEBSOCKETS = ("--ws", "websockets-sansio", "--ws-max-size", "131072", "--ws-per-message-deflate", "false")


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
        choices = {part.title: choice(part, state) for part in PARTS}
        own = [stack.enter_context(announced(part, choices[part.title], state)) for part in PARTS]
        env = {"PUBLIC_URL": f"http://{HOST}:{port}"} | child_environment()
        manage("Tables", ["migrate", "--noinput"], env, log=log_file(logs, "migrate"))
        manage("Demo", ["load_demo"], env, log=None)
        login = admin_account(state, env, log_file(logs, "admin"))

        supervisor = Supervisor(ROOT, logs, [process for process in own if process], say)
        stack.callback(supervisor.stop)
        stack.callback(say, "\nStopping ...")
        celery = [sys.executable, "-m", "celery", "-A", "marcelcms"]
        worker = [*celery, "worker", "--loglevel", "WARNING", "--concurrency"]
        beat = [*celery, "beat", "--loglevel", "WARNING"]
        web = [sys.executable, "-m", "uvicorn", "marcelcms.asgi:application", "--host", HOST, "--port", str(port)]
        # Whom to believe about a visitor's address is for TRUSTED_PROXIES alone.
        web += ["--no-proxy-headers", "--no-access-log", "--timeout-graceful-shutdown", "2", *WEBSOCKETS]
        # A worker first finishes its task, then drops it (SIGQUIT, the second for one that was handed out at the last
        # moment): the broker hands it out again.
        for name, options in (
            ("worker", ["2", "--queues", "celery"]),
            ("long-worker", ["2", "--queues", "long,reports"]),
            ("crawl-worker", ["2", "--queues", "crawl"]),
        ):
            command = [*worker, *options, "--hostname", f"{name}@%h"]
            supervisor.add(Program(name, command, env, (signal.SIGTERM, signal.SIGQUIT, signal.SIGQUIT)))
        supervisor.add(Program("beat", beat, env, (signal.SIGTERM,)))
        supervisor.add(Program("web", web, env, (signal.SIGTERM,)))
        with timed("Web, worker, beat"):
            supervisor.wait_for(f"http://{HOST}:{port}/health/live")
        write_private(note, json.dumps({"pid": os.getpid(), "url": f"http://{HOST}:{port}/"}))
        say(summary(port, login, choices, state))
        supervisor.watch()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


@contextmanager
def timed(title: str, note: str = "") -> Iterator[None]:
    began = time.monotonic()
    yield
    say(f"  {title:<18} {time.monotonic() - began:5.1f} s  {note}".rstrip())


@contextmanager
def announced(part: Part, note: str, state: Path) -> Iterator[Process | None]:
    """Provide a server and print a line about it."""
    with ExitStack() as stack:
        with timed(part.title, note):
            process = stack.enter_context(provide_part(state, part))
        yield process


def manage(title: str, arguments: list[str], env: dict[str, str], *, log: Path | None) -> None:
    """Run a management command; without `log` its output goes to the terminal."""
    with timed(title):
        process = spawn(title, [sys.executable, "manage.py", *arguments], log=log, env=env, cwd=ROOT)
        if finish(process):
            where = f", see {log}:{process.last_lines(20)}" if log else "; its output is above."
            raise ServiceError(f"`manage.py {' '.join(arguments)}` failed{where}")


def admin_account(state: Path, env: dict[str, str], log: Path) -> str:
    """Return how to log in; make the account if it is missing."""
    kept = state / "admin_password"
    password = kept.read_text().strip() if kept.exists() else secrets.token_urlsafe(12)
    command = ["createsuperuser", "--noinput", "--username", ADMIN, "--email", f"{ADMIN}@localhost.localdomain"]
    with timed("Admin account"):
        argv = [sys.executable, "manage.py", *command]
        process = spawn("admin", argv, log=log, env=env | {"DJANGO_SUPERUSER_PASSWORD": password}, cwd=ROOT)
        failed = finish(process) != 0
    if not failed:
        write_private(kept, password + "\n")
    elif "already taken" not in process.last_lines():
        raise ServiceError(f"The admin account could not be made, see {log}:{process.last_lines(20)}")
    elif not kept.exists():
        return f"{ADMIN}, with the password it was given before"
    return f"{ADMIN} / {password}   (its first password, kept in {shown(kept)})"


def child_environment() -> dict[str, str]:
    """Return the environment of the project's processes; one thread per model call leaves cores to other requests."""
    return (
        {"OMP_NUM_THREADS": "1"}
        | dict(os.environ)
        | {
            "DJANGO_SETTINGS_MODULE": "marcelcms.settings",
            "PYTHONUNBUFFERED": "1",
        }
    )


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
