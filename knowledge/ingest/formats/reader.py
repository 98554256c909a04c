"""`read_file`: reads a file in a process of its own, which a hostile file may exhaust without harm."""

import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from queue import Empty, Queue
from typing import IO, Any

from knowledge.ingest.formats.types import BadFile, FileText, Format, Limits, NoText, Progress
from knowledge.ingest.formats.types import gettext_noop as _

ROOT = Path(__file__).resolve().parents[3]
START_SECONDS = 60


def read_file(
    source: Path | str | bytes,
    *,
    kind: Format,
    name: str = "",
    limits: Limits | None = None,
    progress: Progress | None = None,
    **options: bool | str,
) -> FileText:
    """Read a file of a format as Markdown; `options` are that format's own.

    Raises BadFile with the file's name and what is wrong with it, and OSError.
    """
    limits = limits or Limits()
    name = name or ("" if isinstance(source, bytes) else Path(source).name)
    settings = {"suffix": kind.suffix, "limits": asdict(limits), "options": options}
    with running("knowledge.ingest.formats.sandbox", settings, source) as process:
        return _result(process, name, limits, progress)


@contextmanager
def running(
    module: str, settings: Mapping[str, Any], source: Path | str | bytes
) -> Iterator["subprocess.Popen[bytes]"]:
    """Provide a process that reads the source on its standard input; it ends with the block. Raises OSError."""
    with opened(source) as file:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", module, json.dumps(settings)],
            stdin=file,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=ROOT,
            env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8"},
        )
        try:
            yield process
        finally:
            process.kill()
            process.wait()


def _result(process: "subprocess.Popen[bytes]", name: str, limits: Limits, progress: Progress | None) -> FileText:
    started = time.monotonic()
    page: int | None = None  # not opened yet
    pieces: list[str] = []
    said = said_by(process)
    while True:
        left = started + limits.total_seconds - time.monotonic()
        patience = START_SECONDS if page is None else limits.page_seconds
        try:
            value = said.get(timeout=max(0.0, min(left, patience)))
        except Empty:
            reason = _("reading it takes longer than {limit} seconds")
            seconds = limits.total_seconds if left <= patience else patience
            raise BadFile(reason, page=None if page is None else page + 1, name=name, limit=seconds) from None
        if value is None:
            raise BadFile(
                _("it needs more memory or time than a file should"), page=None if page is None else page + 1, name=name
            )
        if "markdown" in value:
            pieces.append(value["markdown"])
            continue
        if "text" in value:
            return replace(FileText.from_wire(value["text"]), markdown="".join(pieces))
        if "bad" in value:
            error = BadFile if value.get("is_text", True) else NoText
            raise error(value["bad"], page=value["page"], name=name, **value["values"])
        page = value["page"]
        if progress and page:
            progress(page, value["of"])


def said_by(process: "subprocess.Popen[bytes]") -> "Queue[dict[str, Any] | None]":
    """Queue the lines that the process writes, and None at its end; a thread reads them, so that waiting can end."""
    said: Queue[dict[str, Any] | None] = Queue()
    output = process.stdout
    if output is None:
        raise TypeError("the process has no output")

    def read(output: IO[bytes]) -> None:
        with output:
            for line in output:
                try:
                    said.put(json.loads(line))
                except ValueError:  # it died while it spoke
                    break
        said.put(None)

    threading.Thread(target=read, args=(output,), daemon=True, name="file").start()
    return said


@contextmanager
def opened(source: Path | str | bytes) -> Iterator[IO[bytes]]:
    if isinstance(source, bytes):
        with tempfile.TemporaryFile() as file:
            file.write(source)
            file.seek(0)
            yield file
    else:
        with Path(source).open("rb") as file:
            yield file
