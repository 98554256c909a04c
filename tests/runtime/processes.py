"""What the tests of real processes look at."""

import os
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def descendants(pid: int) -> set[int]:
    """All processes below `pid`."""
    parents = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(status.parent.name)] = int(status.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found, newest = set(), {pid}
    while newest:
        newest = {child for child, parent in parents.items() if parent in newest}
        found |= newest
    return found


def command_lines() -> dict[int, str]:
    lines = {}
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            lines[int(path.parent.name)] = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
    return lines


def names() -> dict[int, str]:
    """Return the names of all processes, as `ps -e` shows them: `make run` calls its own by their part."""
    found = {}
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            found[int(path.parent.name)] = path.read_text().strip()
        except OSError:
            continue
    return found


def leading(name: str, parent: int) -> int:
    """Return the leading process of a part of `make run`'s process `parent`, 0 where there is none."""
    ours = descendants(parent)
    found = (pid for pid, each in names().items() if pid in ours and each == name)
    return next((pid for pid in found if session_of(pid) == pid), 0)


def session_of(pid: int) -> int:
    """Return the session that a process belongs to, 0 where it has ended meanwhile."""
    try:
        return os.getsid(pid)
    except ProcessLookupError:
        return 0


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def wait_until(condition: Callable[[], bool], seconds: float = 10) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.05)


def bare_environment(**changes: str) -> dict[str, str]:
    """Return the environment of someone who has configured nothing."""
    ours = {"DATABASE_URL", "REDIS_URL", "SECRET_KEY", "STATE_DIR", "DJANGO_SETTINGS_MODULE", "PORT", "EMBEDDING_MODEL"}
    ours.add("PYTHONDONTWRITEBYTECODE")  # each process would compile everything again
    return {name: value for name, value in os.environ.items() if name not in ours} | changes
