"""Programs that read a PDF, each in a process of its own, whose processor time and memory are counted.

pymupdf4llm (AGPL) and markitdown are no part of the product: they are compared with where an interpreter has them.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.measuring import say
from knowledge.ingest.formats.types import Limits

OURS, PDFTOTEXT = "ours", "pdftotext"
#: Starts a program and says what it used. A process counts the memory of the one that started it, so this one is small.
LAUNCHER = """
import json, resource, subprocess, sys
with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as target:
    done = subprocess.run(sys.argv[3:], stdin=source, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    target.write(done.stdout)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(json.dumps([done.returncode, used.ru_utime + used.ru_stime, used.ru_maxrss]))
"""
PYMUPDF4LLM = """
import contextlib, sys
import pymupdf4llm
with contextlib.redirect_stdout(sys.stderr):
    text = pymupdf4llm.to_markdown(sys.argv[1])
sys.stdout.write(text)
"""
#: So long a file may take that is measured.
SECONDS = 3_600


@dataclass(frozen=True, slots=True)
class Reading:
    """The text that a program read from a file; `seconds` are processor time, its start included."""

    text: str
    seconds: float
    mebibytes: int


@dataclass(frozen=True, slots=True)
class Program:
    """`command` makes its arguments for a file, which it also finds on its standard input."""

    command: Callable[[Path], Sequence[str]]
    text_of: Callable[[str], str] = str

    def read(self, path: Path) -> Reading:
        """Read a file; raises RuntimeError if the program fails."""
        with tempfile.NamedTemporaryFile() as target:
            launch = [sys.executable, "-I", "-c", LAUNCHER, path, target.name, *self.command(path)]
            said = subprocess.run(launch, capture_output=True, text=True, check=True).stdout
            status, seconds, kibibytes = json.loads(said)
            if status:
                raise RuntimeError(f"{path.name}: {self.command(path)[0]} ended with status {status}")
            text = Path(target.name).read_text(encoding="utf-8", errors="replace")
        return Reading(self.text_of(text), seconds, round(kibibytes / 1024))


def sandboxed(_path: Path) -> Sequence[str]:
    """Make the arguments with which the product starts its own reader."""
    limits = Limits(page_seconds=SECONDS, total_seconds=SECONDS)
    settings = {"suffix": ".pdf", "limits": asdict(limits), "options": {}}
    return [sys.executable, "-m", "knowledge.ingest.formats.sandbox", json.dumps(settings)]


def pieced_text(said: str) -> str:
    """Return the text that the product's reader says in pieces; raises ValueError if it says why there is none."""
    values = [json.loads(line) for line in said.splitlines()]
    if "text" not in values[-1]:
        raise ValueError(values[-1])
    return "".join(value["markdown"] for value in values if "markdown" in value)


def find_programs(python: str) -> dict[str, Program]:
    """List the product's reader and the yardsticks that are installed; say why one is missing."""
    found = {OURS: Program(sandboxed, pieced_text), PDFTOTEXT: Program(lambda path: ["pdftotext", str(path), "-"])}
    others = {
        "pymupdf4llm": Program(lambda path: [python, "-c", PYMUPDF4LLM, str(path)]),
        "markitdown": Program(lambda path: [python, "-m", "markitdown", str(path)]),
    }
    for name, program in others.items():
        if not python:
            say(f"{name} is not compared: --python names no interpreter that has it.")
        elif version := _version(python, name):
            say(f"{name} {version}")
            found[name] = program
        else:
            say(f"{name} is not compared: {python} does not have it.")
    return found


def _version(python: str, name: str) -> str:
    asked = [python, "-c", f"import importlib.metadata as m; print(m.version({name!r}))"]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip()
    except OSError:
        return ""
