"""Keeps the project's own processes running: web, worker and beat."""

import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from marcelcms.embedded.processes import Process, ServiceError, log_file, spawn

QUICK_DEATHS = 5
QUICK_SECONDS = 30
READY_SECONDS = 120
FIRST_PAUSE = 1.0


@dataclass(slots=True)
class Program:
    """One program to keep running, and how it is doing."""

    name: str
    argv: Sequence[str]
    env: Mapping[str, str]
    signals: Sequence[int]
    process: Process | None = None
    started: float = 0
    due: float = 0
    quick_deaths: int = 0


class Supervisor:
    """Starts parts, starts again what dies, stops them in reverse; `say` prints one line.

    `services` are servers it watches but cannot start again: their end is the end.
    """

    def __init__(self, root: Path, logs: Path, services: Sequence[Process], say: Callable[[str], None]) -> None:
        self.root, self.logs, self.services, self.say = root, logs, services, say
        self.parts: list[Program] = []

    def add(self, part: Program) -> None:
        self.parts.append(part)
        self._start(part)

    def _start(self, part: Program) -> None:
        part.process = spawn(
            part.name,
            part.argv,
            log=log_file(self.logs, part.name),
            env=part.env,
            cwd=self.root,
            signals=part.signals,
            patience=4,
        )
        part.started = time.monotonic()

    def check(self) -> None:
        """Check all parts once. Raise ServiceError if nothing can be done."""
        for service in self.services:
            if not service.running:
                raise ServiceError(f"{service.name} ended unexpectedly, see {service.log}:{service.last_lines()}")
        now = time.monotonic()
        for part in self.parts:
            if part.process and not part.process.running:
                self._died(part, part.process, now)
            elif not part.process and now >= part.due:
                self._start(part)

    def _died(self, part: Program, process: Process, now: float) -> None:
        process.sweep()
        part.process = None
        part.quick_deaths = part.quick_deaths + 1 if now - part.started < QUICK_SECONDS else 1
        what = f"{part.name} ended with {process.popen.returncode}"
        if part.quick_deaths >= QUICK_DEATHS:
            times = f"{QUICK_DEATHS} times in a row"
            raise ServiceError(f"{what}, {times}; giving up, see {process.log}:{process.last_lines()}")
        pause = FIRST_PAUSE * 2 ** (part.quick_deaths - 1)
        part.due = now + pause
        self.say(f"{what}; starting it again in {pause:.0f} s. Its last lines in {process.log}:{process.last_lines()}")

    def wait_for(self, url: str) -> None:
        """Wait until `url` answers 200."""
        deadline = time.monotonic() + READY_SECONDS
        while time.monotonic() < deadline:
            self.check()
            with suppress(OSError), urllib.request.urlopen(url, timeout=5) as response:  # noqa: S310
                if response.status == 200:
                    return
            time.sleep(0.1)
        raise ServiceError(f"{url} did not answer within {READY_SECONDS} s, see {self.logs}.")

    def watch(self) -> None:
        """Watch until something fails for good, or an interrupt."""
        while True:
            self.check()
            time.sleep(0.3)

    def stop(self) -> None:
        for part in reversed(self.parts):
            if part.process:
                part.process.stop()
