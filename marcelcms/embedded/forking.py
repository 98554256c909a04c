"""Child processes that go on with what this one has loaded, and share its memory until they write to it (Linux).

Elsewhere a forked process may not use the system's libraries, so that the child loads everything again.
"""

import ctypes
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from pathlib import Path

from marcelcms.embedded.processes import PR_SET_PDEATHSIG, Process

PR_SET_NAME = 15
#: The parent's files have lower numbers; it has few.
HIGHEST_FILE = 1024


class Forked:
    """A forked child, with those of `subprocess.Popen`'s methods that `Process` needs."""

    def __init__(self, child: BaseProcess) -> None:
        self._child = child
        self.pid: int = child.pid or 0

    @property
    def returncode(self) -> int | None:
        return self._child.exitcode

    def poll(self) -> int | None:
        return self._child.exitcode

    def wait(self, timeout: float | None = None) -> int:
        """Wait by looking: what `multiprocessing` waits for is among the files that a child closes."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (code := self._child.exitcode) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(self._child.name, timeout or 0)
            time.sleep(0.02)
        return code

    def send_signal(self, signum: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, signum)


def fork(
    name: str,
    main: Callable[..., object],
    arguments: Sequence[str] = (),
    *,
    log: Path | None,
    signals: Sequence[int] = (signal.SIGTERM,),
    patience: float = 5,
) -> Process:
    """Call `main(*arguments)` in a child as `spawn` starts one: its session and its log, ended with this process.

    Raises RuntimeError where another thread runs: its locks would stay locked in the child for ever.
    """
    if threading.active_count() > 1:
        raise RuntimeError(f"{name} cannot be forked beside other threads: {threading.enumerate()}")
    sys.stdout.flush()
    sys.stderr.flush()
    child = multiprocessing.get_context("fork").Process(
        target=_become, args=(name, os.getpid(), log, main, arguments), name=name
    )
    child.start()
    return Process(name, Forked(child), log, signals, patience)


def _become(name: str, parent: int, log: Path | None, main: Callable[..., object], arguments: Sequence[str]) -> None:
    os.setsid()
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
    libc.prctl(PR_SET_NAME, name.encode(), 0, 0, 0)  # what `ps -e` and `top` show
    if os.getppid() != parent:  # it died before the request above
        os._exit(1)
    for signum in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(signum, signal.SIG_DFL)
    # Among them are the locks that tell other processes that this one's parent lives.
    os.closerange(3, HIGHEST_FILE)
    if log:
        output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.close(output)
    main(*arguments)
