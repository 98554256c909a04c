"""Percentiles, tables and what the machine is; knows no Django."""

import os
import platform
from collections.abc import Iterable, Sequence
from importlib.metadata import version
from pathlib import Path

import numpy as np

LIBRARIES = ("django", "psycopg", "pgvector", "tantivy", "onnxruntime", "rank-bm25", "numpy")


def say(text: str = "") -> None:
    print(text, flush=True)


def percentiles(values: Iterable[float], *, digits: int = 2) -> dict[str, float]:
    array = np.array(list(values))
    return {"p50": round(float(np.median(array)), digits), "p95": round(float(np.percentile(array, 95)), digits)}


def table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a Markdown table, numbers to the right."""
    cells = [list(head), *([str(cell) for cell in row] for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(head))]
    rule = ["-" * widths[0], *("-" * (width - 1) + ":" for width in widths[1:])]
    for row in (cells[0], rule, *cells[1:]):
        first, *rest = zip(row, widths, strict=True)
        say(f"| {first[0].ljust(first[1])} | {' | '.join(cell.rjust(width) for cell, width in rest)} |")


def machine() -> dict[str, object]:
    """Return what the machine is and how busy, and the versions of what is measured."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory, 1),
        "system": f"{platform.system()} {platform.machine()}",
        "load_at_start": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        "libraries": {name: version(name) for name in LIBRARIES},
    }


def resident_mib(process: int | str = "self") -> float:
    """Resident memory of one process."""
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return round(int(line.split()[1]) / 1024, 1)
    raise RuntimeError("/proc has no VmRSS")


def proportional_mib(processes: Iterable[int]) -> float:
    """Memory of several processes together, where shared pages count once."""
    total = 0
    for process in processes:
        for line in Path(f"/proc/{process}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                total += int(line.split()[1])
    return round(total / 1024, 1)
