"""The embedded services of a folder, shared by every process that works in it.

Whoever comes first starts a service, owns it and announces it in `services.json`; who comes later uses it. File locks
say who is there, because they end with their process: `<part>.lock` is held by the owner, `<part>.users` is shared by
the users, and `services.lock` is held while anyone starts, joins or stops.
"""

import fcntl
import json
import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from marcelcms.embedded import postgres, valkey
from marcelcms.embedded.processes import Service, ServiceError, answers, log_file, secret, write_private


class Start(Protocol):
    def __call__(self, folder: Path, *, log: Path, durable: bool, meanwhile: Callable[[str], None]) -> Service: ...


@dataclass(frozen=True, slots=True)
class Part:
    """A service, and the variable that names another one to use instead."""

    name: str
    title: str
    variable: str
    start: Start


POSTGRES = Part("postgres", "PostgreSQL", "DATABASE_URL", postgres.start)
VALKEY = Part("valkey", "Valkey", "REDIS_URL", valkey.start)
PARTS = (POSTGRES, VALKEY)


@contextmanager
def provide(folder: Path, *, durable: bool = True) -> Iterator[frozenset[str]]:
    """Set SECRET_KEY, DATABASE_URL and REDIS_URL if they are not set; yield the parts that it started."""
    with ExitStack() as stack:
        provide_secret_key(folder)
        started = [part.name for part in PARTS if stack.enter_context(provide_part(folder, part, durable=durable))]
        yield frozenset(started)


def provide_secret_key(folder: Path) -> None:
    """Set SECRET_KEY if it is not set; it is kept in `folder`, so that sessions outlive a restart."""
    if not os.environ.get("SECRET_KEY"):
        with locked(_usable(folder) / "services.lock"):
            os.environ["SECRET_KEY"] = secret(folder / "secret_key")


@contextmanager
def provide_part(
    folder: Path, part: Part, *, durable: bool = True, meanwhile: Callable[[], None] = lambda: None
) -> Iterator[Service | None]:
    """Set the variable of one part while the block runs; yield the service if this call started it.

    `meanwhile` is called while it starts, as soon as the variable is set.
    """

    def announce(url: str) -> None:
        os.environ[part.variable] = url
        meanwhile()

    if os.environ.get(part.variable):
        meanwhile()
        yield None
        return
    try:
        with _part(_usable(folder), part, announce, durable=durable) as service:
            yield service
    finally:
        os.environ.pop(part.variable, None)


@contextmanager
def locked(path: Path, *, shared: bool = False, wait: bool = True) -> Iterator[None]:
    """Hold a file lock. Raise BlockingIOError if it is taken and `wait` is false."""
    with os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "rb") as file:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | (0 if wait else fcntl.LOCK_NB))
        yield


@contextmanager
def _part(folder: Path, part: Part, announce: Callable[[str], None], *, durable: bool) -> Iterator[Service | None]:
    with ExitStack() as held:
        service = None
        with locked(folder / "services.lock"):
            try:
                held.enter_context(locked(folder / f"{part.name}.lock", wait=False))
            except BlockingIOError:
                url = _announced(folder, part)
                held.enter_context(locked(folder / f"{part.name}.users", shared=True))
            else:
                log = log_file(folder / "log", part.name)
                service = part.start(folder, log=log, durable=durable, meanwhile=announce)
                _announce(folder, part, service.url)
        if service is None:
            announce(url)
        try:
            yield service
        finally:
            if service:
                _end(folder, part, service)


def _end(folder: Path, part: Part, service: Service) -> None:
    """Stop a service when nobody else uses it; an interrupt stops it at once."""
    users, told = folder / f"{part.name}.users", False
    with suppress(KeyboardInterrupt):
        while service.process.running:
            with suppress(BlockingIOError), locked(folder / "services.lock"), locked(users, wait=False):
                service.process.stop()
                break
            if not told:
                sys.stderr.write(f"Another command still uses {part.title}: waiting until it is done.\n")
                sys.stderr.flush()
                told = True
            time.sleep(0.2)
    service.process.stop()


def _announce(folder: Path, part: Part, url: str) -> None:
    entries = _announcements(folder) | {part.name: {"pid": os.getpid(), "url": url}}
    write_private(folder / "services.json", json.dumps(entries, indent=1))


def _announcements(folder: Path) -> dict[str, dict[str, str]]:
    with suppress(FileNotFoundError, ValueError):
        return dict(json.loads((folder / "services.json").read_text()))
    return {}


def _announced(folder: Path, part: Part) -> str:
    """Return the address of a service whose owner lives."""
    entry = _announcements(folder).get(part.name, {})
    url = entry.get("url", "")
    if not url or not answers(urlsplit(url).port or 0):
        raise ServiceError(
            f"{part.title} of process {entry.get('pid', '?')} in {folder} does not answer: stop that one."
        )
    return url


def _usable(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.close(os.open(folder / "services.lock", os.O_RDWR | os.O_CREAT, 0o600))
    except PermissionError as error:
        raise ServiceError(f"{folder} belongs to another user: run this as that user, or set STATE_DIR.") from error
    return folder
