"""`make run` of a fresh clone: seconds to the first page and the first answer, what it prints when, and its memory.

`python -m benchmarks.make_run [--folder CHECKOUT] [--installed] [--json FILE]`. Without `--installed` the last commit
is unpacked into an empty folder and installed there; with it, the checkout's `.venv` is used and only the data is new.
Memory is the proportional set size of all its processes after a hundred different questions of the demo, each asked in
a session of its own. Processor time counts everything that was started, also what has ended.
"""

import argparse
import http.client
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import uuid
from contextlib import suppress
from pathlib import Path
from typing import Any

from benchmarks.asking import asked
from benchmarks.environment import ROOT
from benchmarks.measuring import proportional_mib, say, table
from marcelcms.embedded.processes import free_port

FIRST = "How much is the semester contribution?"
QUESTIONS, PAUSE, PATIENCE = 100, 0.1, 1800.0
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.make_run", description=__doc__)
    parser.add_argument("--folder", type=Path, default=ROOT, metavar="CHECKOUT")
    parser.add_argument("--installed", action="store_true", help="use the checkout's .venv")
    parser.add_argument("--json", type=Path, metavar="FILE")
    given = parser.parse_args()
    place = Path(tempfile.mkdtemp(prefix="marcelcms-make-run-"))
    place.chmod(0o711)
    try:
        found = measure(given.folder.resolve(), place, installed=given.installed)
    finally:
        home = (place / "state" / "postgres").resolve()  # elsewhere where PostgreSQL's user cannot reach `place`
        shutil.rmtree(place, ignore_errors=True)
        shutil.rmtree(home, ignore_errors=True)
    show(found)
    if given.json:
        given.json.write_text(json.dumps(found, indent=1) + "\n")


def measure(checkout: Path, place: Path, *, installed: bool) -> dict[str, Any]:
    port = free_port()
    names = ("PATH", "HOME", "LANG", "TMPDIR", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX", "SSL_CERT_FILE")
    environment = {name: os.environ[name] for name in names if name in os.environ}
    environment |= {"PORT": str(port), "STATE_DIR": str(place / "state")}
    (place / "state").mkdir(mode=0o711)
    clone, command = checkout, [str(checkout / ".venv" / "bin" / "python"), "-m", "marcelcms.embedded"]
    questions = different_questions(checkout / "marcelcms" / "demo")
    began = time.monotonic()
    if not installed:
        clone, command = place / "clone", ["make", "run"]
        clone.mkdir(mode=0o711)
        archive = subprocess.run(["git", "archive", "HEAD"], cwd=checkout, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], cwd=clone, input=archive, check=True)
    process = subprocess.Popen(
        command,
        cwd=clone,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    lines: list[tuple[float, str]] = []
    reader = threading.Thread(target=read_lines, args=(process, began, lines), daemon=True)
    reader.start()
    try:
        until(lambda: page(port), process, lines)
        first_page = {"seconds": time.monotonic() - began, "cpu": processor_seconds(process.pid)}
        until(lambda: answer(port, FIRST) == "complete", process, lines)
        first_answer = {"seconds": time.monotonic() - began, "cpu": processor_seconds(process.pid)}
        until(lambda: any("MarcelCMS runs" in line for _at, line in lines), process, lines)
        statuses = [answer(port, question) for question in questions]
        memory = {
            f"{number} {name}": proportional_mib([pid])
            for number, (pid, name) in enumerate(sorted(family(process.pid).items()))
        }
        idle = processor_seconds(process.pid)
        time.sleep(10)
        idle = (processor_seconds(process.pid) - idle) / 10
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            process.wait(60)
    return {
        "first_page": first_page,
        "first_answer": first_answer,
        "load": os.getloadavg()[0],
        "lines": lines,
        "questions": len(questions),
        "complete": statuses.count("complete"),
        "memory_mib": memory,
        "total_mib": sum(memory.values()),
        "idle_cores": idle,
    }


def different_questions(demo: Path) -> list[str]:
    texts = [json.loads(line)["text"] for line in (demo / "questions.jsonl").read_text("utf-8").splitlines()]
    texts += [row["question"] for row in json.loads((demo / "faqs.json").read_text("utf-8"))]
    return list(dict.fromkeys(texts))[:QUESTIONS]


def read_lines(process: "subprocess.Popen[str]", began: float, lines: list[tuple[float, str]]) -> None:
    assert process.stdout
    lines.extend((round(time.monotonic() - began, 1), line.rstrip()) for line in process.stdout)


def until(condition: Any, process: "subprocess.Popen[str]", lines: list[tuple[float, str]]) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        assert process.poll() is None, lines
        assert time.monotonic() < deadline, lines
        time.sleep(PAUSE)


def page(port: int) -> bool:
    """Whether the chat's page is there."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    with suppress(OSError, http.client.HTTPException):
        connection.request("GET", "/")
        return connection.getresponse().status == 200
    return False


def answer(port: int, question: str) -> str:
    """Return the status that the answer ends with."""
    token = json.loads(asked(port, "/api/v1/session", {"consent": True}).read())["token"]
    body = {"client_id": str(uuid.uuid4()), "text": question}
    reply = asked(port, f"/api/v1/conversations/{uuid.uuid4()}/ask", body, token=token)
    end = reply.read().replace(b'": "', b'":"')
    return next(
        (status for status in ("complete", "abstained", "failed") if f'"status":"{status}"'.encode() in end), ""
    )


def family(pid: int) -> dict[int, str]:
    """Return the processes below one, and itself, with their names."""
    found, newest = {}, [pid]
    while newest:
        for one in newest:
            with suppress(OSError):
                line = Path(f"/proc/{one}/cmdline").read_bytes().decode(errors="replace").replace("\0", " ").strip()
                found[one] = f"{Path(f'/proc/{one}/comm').read_text().strip()}: {line[:110]}"
        newest = [child for one in newest for child in children(one) if child not in found]
    return found


def children(pid: int) -> list[int]:
    with suppress(OSError):
        return [
            int(child)
            for thread in Path(f"/proc/{pid}/task").iterdir()
            for child in (thread / "children").read_text().split()
        ]
    return []


def processor_seconds(pid: int) -> float:
    total = 0
    for one in family(pid):
        with suppress(OSError):
            fields = Path(f"/proc/{one}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11:15]))  # its own, and those of its children that have ended
    return total / TICKS


def show(found: dict[str, Any]) -> None:
    for at, line in found["lines"]:
        say(f"{at:6.1f}  {line}")
    say()
    rows = [
        [name, f"{found[name]['seconds']:.1f}", f"{found[name]['cpu']:.1f}"] for name in ("first_page", "first_answer")
    ]
    table(["until", "seconds", "processor seconds"], rows)
    say(
        f"\nload {found['load']:.1f}; {found['complete']} of {found['questions']} complete; "
        f"at rest {found['idle_cores']:.3f} cores\n"
    )
    table(["process", "PSS, MiB"], [*found["memory_mib"].items(), ("together", f"{found['total_mib']:.0f}")])


if __name__ == "__main__":
    main()
