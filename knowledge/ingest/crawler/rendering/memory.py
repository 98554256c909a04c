"""Memory of the processes that a process has started, read from /proc; elsewhere than on Linux nothing is seen."""

import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

PROC = Path("/proc")


def memory_below(pid: int) -> dict[int, int]:
    """Return the bytes of each process below `pid` that it shares with none."""
    parents = dict(_parents())
    found: set[int] = set()
    newest = {pid}
    while newest:
        newest = {child for child, parent in parents.items() if parent in newest} - found
        found |= newest
    return {child: _own_memory(child) for child in found}


def end_heaviest(memory: dict[int, int]) -> None:
    """Kill the process that takes the most."""
    with suppress(ProcessLookupError):
        os.kill(max(memory, key=lambda pid: memory[pid]), signal.SIGKILL)


def _parents() -> Iterator[tuple[int, int]]:
    for path in PROC.glob("[0-9]*/stat"):
        with suppress(OSError):
            yield int(path.parent.name), int(path.read_text().rpartition(")")[2].split()[1])


def _own_memory(pid: int) -> int:
    with suppress(OSError):
        lines = (PROC / str(pid) / "status").read_text().splitlines()
        return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))
    return 0
