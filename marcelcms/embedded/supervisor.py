"""Keeps the project's own processes running, and the servers that they need."""

import time
import urllib.request
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from marcelcms.embedded.processes import Process, Service, ServiceError

QUICK_SECONDS = 30
READY_SECONDS = 120
#: Seconds between two looks at what runs.
LOOK_SECONDS = 0.1
#: Seconds before each new start of a part that dies again and again; then it is given up.
PAUSES = (0.0, 1.0, 2.0, 4.0, 8.0)


@dataclass(slots=True)
class Program:
    """One program to keep running, and how it is doing."""

    name: str
    start: Callable[[], Process]
    process: Process | None = None
    started: float = 0
    due: float = 0
    quick_deaths: int = 0


class Supervisor:
    """Starts parts, starts again what dies, stops them in reverse; `say` prints one line.

    `services` are the servers that the parts need. They are started elsewhere first and stopped last, and here only
    started again: with their data and at their address.
    """

    def __init__(self, logs: Path, services: Sequence[Service], say: Callable[[str], None]) -> None:
        self.logs, self.say = logs, say
        self.services = [
            Program(service.process.name, service.start_again, service.process, time.monotonic())
            for service in services
        ]
        self.parts: list[Program] = []

    def add(self, part: Program) -> None:
        self.parts.append(part)
        self._start(part)

    def _start(self, part: Program) -> None:
        part.process = part.start()
        part.started = time.monotonic()

    def check(self) -> None:
        """Check all parts once, and start what is due. Raise ServiceError if nothing can be done."""
        for part in (*self.services, *self.parts):
            if part.process and not part.process.running:
                self._died(part, part.process, time.monotonic())
            if not part.process and time.monotonic() >= part.due:
                self._start(part)

    def _died(self, part: Program, process: Process, now: float) -> None:
        process.sweep()
        part.process = None
        part.quick_deaths = part.quick_deaths + 1 if now - part.started < QUICK_SECONDS else 1
        what = f"{part.name} ended with {process.child.returncode}"
        if part.quick_deaths > len(PAUSES):
            times = f"{part.quick_deaths} times in a row"
            raise ServiceError(f"{what}, {times}; giving up, see {process.log}:{process.last_lines()}")
        part.due = now + PAUSES[part.quick_deaths - 1]
        self.say(f"{what}; starting it again. Its last lines in {process.log}:{process.last_lines()}")

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
            time.sleep(LOOK_SECONDS)

    def stop(self) -> None:
        """Stop the parts; their servers go on."""
        for part in reversed(self.parts):
            if part.process:
                part.process.stop()
