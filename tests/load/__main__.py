"""Idle sockets and streaming answers at once, on one ASGI process: `python -m tests.load [--asks] [--json FILE]`; with
`--asks` questions at once instead (`tests.load.asks`), on as many processes as `--web` says.

Words come from a stub of a language model over real HTTP, which keeps when each sentence was whole; the extra delay of
a sentence is the time from there to the tab. PostgreSQL and Valkey are started for it. They and the server's process
share the machine's first two cores, the stub and the tabs have its others where there are any.
"""

import argparse
import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from marcelcms.embedded.parts import socket_options
from marcelcms.embedded.services import provide
from tests.load import asks
from tests.load.asks import Asked
from tests.load.sentences import PAGE, Sent, read_sent
from tests.load.tabs import Seen, open_tabs, read_answer

ROOT = Path(__file__).resolve().parents[2]
#: (idle sockets, streaming answers)
LEVELS = ((10, 1), (100, 10), (1000, 100))
SENTENCES, PER_SECOND = 30, 20
#: Words a second where only what the server takes is measured.
AT_ONCE_PER_SECOND = 10_000
#: Seconds over which the questions come: answers are streamed together for the rest.
RAMP = 12.0
LIMITS = (
    *("SESSIONS_PER_MINUTE_AND_ADDRESS", "QUESTIONS_PER_MINUTE"),
    *("QUESTIONS_PER_MINUTE_AND_ADDRESS", "QUESTIONS_PER_MINUTE_AND_SITE"),
)


@dataclass(frozen=True, slots=True)
class Result:
    """Delays in ms of what came while all answers were streamed, memory in KiB, CPU seconds of the server a second."""

    idle: int
    streams: int
    sentences: int
    together: int
    lost: int
    disordered: int
    gaps: int
    p50: float
    p95: float
    p99: float
    memory_per_socket: float
    memory: int
    cpu: float


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.load", description="Idle sockets and streaming answers.")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--asks", action="store_true", help="questions at once instead")
    parser.add_argument("--web", type=int, default=1, metavar="N", help="web processes for --asks")
    parser.add_argument("--embedding", default="all-MiniLM-L6-v2", metavar="MODEL", help="EMBEDDING_MODEL")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="marcelcms-load-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o711)
        os.environ["STATE_DIR"], os.environ["EMBEDDING_MODEL"] = name, given.embedding
        for variable in ("DATABASE_URL", "REDIS_URL", "SECRET_KEY"):
            os.environ.pop(variable, None)
        served, others = cores()
        os.sched_setaffinity(0, served)
        stack.enter_context(provide(folder, durable=False))
        prepare(folder)
        os.sched_setaffinity(0, others)
        results: list[Result | Asked] = []
        for result in measured_asks(served, given.web) if given.asks else (measure(*level, served) for level in LEVELS):
            results.append(result)
            print(*(f"{key}={value}" for key, value in asdict(result).items()), flush=True)
    if given.json:
        given.json.write_text(json.dumps([asdict(result) for result in results], indent=1) + "\n")
    if any(isinstance(result, Result) and (result.lost or result.disordered or result.gaps) for result in results):
        sys.exit("Deltas were lost or came in another order.")


def prepare(folder: Path) -> None:
    page = folder / "page.jsonl"
    page.write_text(json.dumps(PAGE) + "\n")
    for command in (["migrate", "-v0"], ["import_documents", str(page)]):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def cores() -> tuple[set[int], set[int]]:
    """For what is measured, and for the rest."""
    first, second, *others = sorted(os.sched_getaffinity(0)) * 2
    return {first, second}, set(others)


def measure(idle: int, streams: int, served: set[int]) -> Result:
    with stub_model(SENTENCES) as (base_url, log), one_server(base_url, streams, served) as (port, pid):
        return asyncio.run(load(port, pid, idle, streams, log))


def measured_asks(served: set[int], processes: int) -> Iterator[Asked]:
    """Measure on the same servers. The first questions warm them up; tabs take turns, as behind a proxy."""

    def worked() -> tuple[float, float]:
        return sum(cpu_of(pid) for _port, pid in servers), database_cpu()

    async def ask(at_once: int) -> Asked:
        ports = [servers[number % processes][0] for number in range(at_once)]
        opened = [await open_tabs(port, [await asyncio.to_thread(session, port)]) for port in ports]
        sockets = [socket for sockets in opened for socket in sockets]
        asked = await asks.measure(sockets, numbers, seconds=asks.SECONDS, worked=worked, read_sent=sent)
        await asyncio.gather(*(socket.close() for socket in sockets))
        return asked

    def sent() -> dict[int, Sent]:
        return read_sent(log)

    numbers = itertools.count(1)
    with stub_model(1, AT_ONCE_PER_SECOND) as (base_url, log), ExitStack() as stack:
        at_once = max(asks.AT_ONCE) // processes
        servers = [stack.enter_context(one_server(base_url, at_once, served)) for _ in range(processes)]
        asyncio.run(ask(8 * processes))
        for at_once in asks.AT_ONCE:
            yield asyncio.run(ask(at_once))


async def load(port: int, pid: int, idle: int, streams: int, log: Path) -> Result:
    tokens = [await asyncio.to_thread(session, port) for _ in range(idle + streams + 1)]
    (warm,) = await open_tabs(port, tokens[:1])
    await read_answer(warm, 0, SENTENCES)
    await asyncio.sleep(1)
    before = memory_of(pid)
    waiting = await open_tabs(port, tokens[1 : idle + 1])
    await asyncio.sleep(1)
    per_socket = (memory_of(pid) - before) / idle
    readers = await open_tabs(port, tokens[idle + 1 :])
    began, used = time.monotonic(), cpu_of(pid)
    asked = (read_answer(socket, n + 1, SENTENCES, after=RAMP * n / streams) for n, socket in enumerate(readers))
    seen: list[Seen] = await asyncio.gather(*asked)
    cpu = (cpu_of(pid) - used) / (time.monotonic() - began)
    memory = memory_of(pid)
    await asyncio.gather(*(socket.close() for socket in (warm, *waiting, *readers)))
    begin, end = max(one.sentences[0] for one in seen), min(one.sentences[-1] for one in seen)
    sent = read_sent(log)
    times = [pair for one in seen for pair in zip(one.sentences, sent[one.number].sentences, strict=False)]
    delays = [(came - left) * 1000 for came, left in times if begin <= came <= end]
    cuts = statistics.quantiles(delays, n=100, method="inclusive")
    return Result(
        idle,
        streams,
        sentences=sum(len(one.sentences) for one in seen),
        together=len(delays),
        lost=sum(one.lost for one in seen),
        disordered=sum(one.disordered for one in seen),
        gaps=sum(one.gaps for one in seen),
        p50=round(cuts[49], 1),
        p95=round(cuts[94], 1),
        p99=round(cuts[98], 1),
        memory_per_socket=round(per_socket, 1),
        memory=memory,
        cpu=round(cpu, 2),
    )


def session(port: int) -> str:
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/v1/session", b'{"consent": true}', {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=10) as response:
        return str(json.load(response)["token"])


@contextmanager
def stub_model(sentences: int, per_second: int = PER_SECOND) -> Iterator[tuple[str, Path]]:
    """Start the stub. Yield its address, and the file that it writes its times to."""
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "sent.jsonl"
        with process("-m", "tests.load.stub", str(port), str(sentences), str(per_second), str(log)):
            yield f"http://127.0.0.1:{port}/v1", log


@contextmanager
def one_server(base_url: str, streams: int, served: set[int]) -> Iterator[tuple[int, int]]:
    """(port, process id)"""
    port = free_port()
    environment = {
        "LLM_BASE_URL": base_url,
        "LLM_MODEL": "stub",
        "LLM_CONCURRENCY": str(streams),
        "LLM_MAX_TOKENS": "1000",
        "OMP_NUM_THREADS": "1",
        **dict.fromkeys(LIMITS, "100000"),
    }
    command = ("-m", "uvicorn", "marcelcms.asgi:application", "--host", "127.0.0.1", "--port", str(port))
    options = (*socket_options(), "--no-access-log", "--log-level", "warning")
    with process(*command, *options, **environment) as server:
        os.sched_setaffinity(server.pid, served)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=1):
                break
            time.sleep(0.1)
        yield port, server.pid


@contextmanager
def process(*arguments: str, **environment: str) -> Iterator[subprocess.Popen[bytes]]:
    started = subprocess.Popen([sys.executable, *arguments], cwd=ROOT, env={**os.environ, **environment})
    try:
        yield started
    finally:
        started.terminate()
        started.wait(20)


def free_port() -> int:
    import socket

    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


def memory_of(pid: int) -> int:
    """Resident, in KiB."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def cpu_of(pid: int) -> float:
    """Seconds that it and its children that have ended worked, on all cores."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def database_cpu() -> float:
    """Seconds that the PostgreSQL which was started for this has worked."""
    parents: dict[int, int] = {}
    names: dict[int, str] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):  # it has ended meanwhile
            head, _, fields = stat.read_text().rpartition(")")
            pid, _, name = head.partition(" (")
            names[int(pid)], parents[int(pid)] = name, int(fields.split()[1])
    return sum(cpu_of(pid) for pid, name in names.items() if name == "postgres" and _is_below(pid, parents))


def _is_below(pid: int, parents: Mapping[int, int]) -> bool:
    while pid and pid != os.getpid():
        pid = parents.get(pid, 0)
    return bool(pid)


if __name__ == "__main__":
    main()
