"""Child processes that end with their parent, however it ends (Linux), each with a log file of its own."""

import ctypes
import os
import pwd
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

CHILD = Path(__file__).with_name("_child.py")
PR_SET_PDEATHSIG = 1
LOG_BYTES = 5_000_000
RESTART_SECONDS = 20


class ServiceError(Exception):
    """A part could not be started or is gone; the message is for the person at the terminal."""


@dataclass(frozen=True, slots=True)
class User:
    """The user and group that a child process runs as."""

    uid: int
    gid: int


class Child(Protocol):
    """What is asked of a child's handle: `subprocess.Popen`, or `forking.Forked`."""

    pid: int

    @property
    def returncode(self) -> int | None: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def send_signal(self, signum: int) -> None: ...


class Process:
    """A running child: `signals` are tried in turn when it is to stop, each for `patience` seconds, then SIGKILL."""

    def __init__(self, name: str, child: Child, log: Path | None, signals: Sequence[int], patience: float) -> None:
        self.name, self.log, self.signals, self.patience = name, log, signals, patience
        self.child = child
        self.log_start = log.stat().st_size if log else 0

    @property
    def pid(self) -> int:
        return self.child.pid

    @property
    def running(self) -> bool:
        return self.child.poll() is None

    def last_lines(self, count: int = 8) -> str:
        """Return the last lines that it wrote since its start, indented."""
        if not self.log:
            return ""
        with self.log.open("rb") as log:
            log.seek(max(self.log_start, self.log.stat().st_size - 8_000))
            lines = log.read().decode(errors="replace").strip().splitlines()
        return "".join(f"\n    {line}" for line in lines[-count:])

    def stop(self) -> None:
        """End it and what it started; an interrupt ends the waiting."""
        for signum in self.signals:
            if not self.running:
                break
            with suppress(ProcessLookupError):
                self.child.send_signal(signum)
            with suppress(subprocess.TimeoutExpired, KeyboardInterrupt):
                self.child.wait(self.patience)
        self.sweep()
        self.child.wait()

    def sweep(self) -> None:
        """Kill what is left of its process group."""
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, signal.SIGKILL)


class Service:
    """A started server and the address that others use it by, which stays the same when it is started again."""

    def __init__(self, process: Process, url: str, start: Callable[[], Process]) -> None:
        self.process, self.url, self._start = process, url, start

    def start_again(self) -> Process:
        """Start it on its data once more, after its end, and return its process; raises ServiceError.

        For a moment what is left of it may still hold its memory, and others its port.
        """
        deadline = time.monotonic() + RESTART_SECONDS
        while True:
            self.process.sweep()
            try:
                self.process = self._start()
                return self.process
            except ServiceError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.2)


def spawn(
    name: str,
    argv: Sequence[str | Path],
    *,
    log: Path | None,
    env: Mapping[str, str],
    cwd: Path | None = None,
    user: User | None = None,
    on_parent_death: int = signal.SIGKILL,
    signals: Sequence[int] = (signal.SIGTERM,),
    patience: float = 5,
) -> Process:
    """Start `argv` in a session of its own, so that a terminal's Ctrl-C reaches only the parent.

    Without `log` it writes where its parent writes.
    """
    if threading.current_thread() is not threading.main_thread():
        # Linux tells a child about the death of the thread that started it.
        raise RuntimeError("Child processes are started by the main thread only.")
    who = user or User(-1, -1)
    wrapper = [sys.executable, "-IS", str(CHILD), *map(str, (os.getpid(), int(on_parent_death), who.uid, who.gid))]
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600) if log else None
    try:
        popen = subprocess.Popen(  # noqa: S603
            [*wrapper, *map(str, argv)],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
            env=dict(env),
            cwd=cwd,
            start_new_session=True,
        )
    finally:
        if output is not None:
            os.close(output)
    return Process(name, popen, log, signals, patience)


def finish(process: Process) -> int:
    """Wait for a child that ends by itself; end it if the wait is interrupted."""
    with stopping(process):
        return process.child.wait()


@contextmanager
def stopping(process: Process) -> Iterator[None]:
    """Stop the process if the block fails."""
    try:
        yield
    except BaseException:
        process.stop()
        raise


def log_file(folder: Path, name: str) -> Path:
    """Return the log file of a part; a long one is replaced when the part starts."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    log = folder / f"{name}.log"
    if log.exists() and log.stat().st_size > LOG_BYTES:
        log.replace(log.with_suffix(".log.1"))
    log.touch(mode=0o600)
    return log


def server_environment() -> dict[str, str]:
    """Return a server's environment, without what could change its language or its settings."""
    inherited = ("PATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")
    return {"LC_ALL": "C", "TZ": "UTC"} | {name: os.environ[name] for name in inherited if name in os.environ}


def end_leftover(pid_file: Path, *, mark: Path, signals: Sequence[int] = (signal.SIGTERM,)) -> None:
    """End the server that a killed owner left behind, known by `mark` in its command line; delete its pid file.

    After a restart of the machine the number may be someone else's, who is left alone.
    """
    try:
        pid = int(pid_file.read_text().split()[0])
    except (FileNotFoundError, ValueError, IndexError):
        return
    for signum in (*signals, signal.SIGKILL):
        if str(mark) not in _command_line(pid):
            break
        with suppress(ProcessLookupError):
            os.kill(pid, signum)
        deadline = time.monotonic() + 10
        while str(mark) in _command_line(pid) and time.monotonic() < deadline:
            time.sleep(0.05)
    pid_file.unlink(missing_ok=True)


def _command_line(pid: int) -> str:
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    if Path("/proc/self").exists():
        return ""
    ps = ["/bin/ps", "-p", str(pid), "-o", "command="]
    return subprocess.run(ps, capture_output=True, text=True, check=False).stdout  # noqa: S603


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def answers(port: int) -> bool:
    """Return whether something listens there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=2):
            return True
    except OSError:
        return False


def secret(path: Path) -> str:
    """Return the secret kept in `path`, readable by its owner only; make one if there is none."""
    if not path.exists():
        write_private(path, secrets.token_urlsafe(32))
    return path.read_text().strip()


def write_private(path: Path, content: str) -> None:
    """Write a file that only its owner can read; nobody sees it half written."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
        file.write(content)
    draft.replace(path)


def unprivileged() -> User:
    """Return the user for programs that refuse to run as root."""
    try:
        nobody = pwd.getpwnam("nobody")
    except KeyError as error:
        raise ServiceError("PostgreSQL does not run as root, and there is no user `nobody` to run it as.") from error
    return User(nobody.pw_uid, nobody.pw_gid)


def end_with_make() -> None:
    """Ask for SIGTERM when the `make` that started this dies, which leaves its children running."""
    if sys.platform == "linux":
        with suppress(OSError):
            if Path(f"/proc/{os.getppid()}/comm").read_text().strip() in {"make", "gmake"}:
                ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
