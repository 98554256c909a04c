"""Names the process that writes an answer, so that another one on its machine knows at once when it has died.

A name holds for one start of the machine, one numbering of processes (each container has its own) and one process: a
number may be given again. Whoever is elsewhere, or on a system without /proc, cannot tell and waits for the lease.
"""

import os
from contextlib import suppress
from functools import cache
from pathlib import Path

PROC = Path("/proc")
#: The place of a process's state, and of the time of its start, after its name.
STATE, STARTED = 0, 19


def name_process(pid: int) -> str:
    """Return the name of a process; its machine's part alone if it is not there, "" if the system does not tell."""
    fields = _fields(pid)
    return f"{_machine()} {pid} {fields[STARTED] if fields else ''}" if _machine() else ""


def has_ended(name: str) -> bool:
    """Return whether the process of that name is known to have ended."""
    machine, _, process = name.partition(" ")
    if not machine or machine != _machine():
        return False
    pid, _, started = process.partition(" ")
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False  # somebody else's
    fields = _fields(int(pid))
    return bool(fields) and (fields[STATE] == "Z" or fields[STARTED] != started)


@cache
def _machine() -> str:
    with suppress(OSError):
        start = (PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{start}/{(PROC / 'self/ns/pid').readlink()}"
    return ""


def _fields(pid: int) -> list[str]:
    with suppress(OSError):
        return (PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    return []
