"""The crawling process as its parent sees it: started, read, and always ended."""

import json
import logging
import os
import subprocess
import sys
import threading
import time
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import IO

from knowledge.ingest.crawler.messages import TAKEN, Alive, CrawlPlan, Done, Finding, from_line

logger = logging.getLogger(__name__)

ROOT = Path(__file__).resolve().parents[3]
#: It reports every second, except while it reads a page.
LONGEST_SILENCE_S = 120
#: The part of our environment that the process gets: no secrets, and no proxy, which would bypass the check of
#: addresses.
PASSED_ON = ("PATH", "SSL_CERT_FILE", "SSL_CERT_DIR")


class CrawlerDied(RuntimeError):
    """The process ended, or stopped reporting, before it was done."""


@contextmanager
def crawling(plan: CrawlPlan) -> Iterator[Iterator[Finding | None]]:
    """Start the crawler and yield its findings, `Done` last; None for every second without one. Raises CrawlerDied.

    The process does not outlive the block.
    """
    folder = Path(plan.folder)
    (folder / "plan.json").write_text(json.dumps(plan.to_wire()))
    environment = {name: os.environ[name] for name in PASSED_ON if name in os.environ}
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(  # noqa: S603
            [sys.executable, "-m", "knowledge.ingest.crawler", str(folder / "plan.json")],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=log,
            cwd=ROOT,
            env={
                **environment,
                "PYTHONPATH": str(ROOT),
                "LANG": "C.UTF-8",
                "CRAWLER_PARENT": str(os.getpid()),
                "TMPDIR": str(folder.resolve()),  # what the browser stores goes with the crawl
            },
        )
    try:
        with closing(_findings(process)) as findings:
            yield findings
    finally:
        process.kill()
        process.wait()
        _opened(process.stdin).close()


def _findings(process: "subprocess.Popen[bytes]") -> Generator[Finding | None]:
    said = _listen(process)
    heard = time.monotonic()
    while True:
        try:
            finding = said.get(timeout=1)
        except Empty:
            if time.monotonic() - heard > LONGEST_SILENCE_S:
                raise CrawlerDied("the crawler fell silent") from None
            yield None
            continue
        if finding is None:
            raise CrawlerDied("the crawler ended before it was done")
        heard = time.monotonic()
        yield finding
        if isinstance(finding, Done):
            return
        if not isinstance(finding, Alive):
            _take(process)


def _take(process: "subprocess.Popen[bytes]") -> None:
    """Acknowledge a finding: the crawler fetches no more than we can process."""
    with suppress(BrokenPipeError):  # it ended; what it said last is still to be read
        os.write(_opened(process.stdin).fileno(), TAKEN)


def _opened(pipe: IO[bytes] | None) -> IO[bytes]:
    if pipe is None:
        raise TypeError("the process was started without its pipes")
    return pipe


def _listen(process: "subprocess.Popen[bytes]") -> "SimpleQueue[Finding | None]":
    """Queue what the process writes, and None at its end.

    A thread reads it, so that waiting can end and a full pipe blocks nobody.
    """
    said: SimpleQueue[Finding | None] = SimpleQueue()

    def read(output: IO[bytes]) -> None:
        with output:
            for line in output:
                try:
                    said.put(from_line(line))
                except ValueError:  # it died while it spoke
                    break
        said.put(None)

    threading.Thread(target=read, args=(_opened(process.stdout),), daemon=True, name="crawler").start()
    return said
