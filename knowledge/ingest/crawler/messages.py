"""Messages of the crawling process, one JSON object a line."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import datetime
from typing import Any

from core.hashing import fingerprint
from knowledge.ingest.formats.types import Said


@dataclass(frozen=True, slots=True)
class Page:
    """An HTML page that was read. Equal `likeness` (title and text) means the same page once more."""

    url: str
    etag: str
    last_modified: str
    likeness: str
    links: tuple[str, ...]
    title: str
    language: str
    markdown: str
    references: tuple[tuple[str, str], ...]  # (text, address); `[text][n]` in the text means the n-th, from 1
    open_graph: Mapping[str, str]
    favicon: str
    modified: str  # ISO 8601, or ""
    is_rendered: bool = False  # read after its scripts had run


@dataclass(frozen=True, slots=True)
class FetchedFile:
    """A PDF, an office file or a picture that was fetched into `path`, which ends as its format does."""

    url: str
    path: str
    name: str
    etag: str
    last_modified: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The server reports that a known page is unchanged."""

    url: str


@dataclass(frozen=True, slots=True)
class Failed:
    """The page could not be fetched or read this time; it counts neither as present nor as missing."""

    url: str
    reason: Said
    status: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """The page exists, but is not to become a document of its own."""

    url: str
    reason: Said


@dataclass(frozen=True, slots=True)
class Gone:
    """The server reports that the page does not exist."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Alive:
    """Sent every second: the process works, and so many addresses wait for their visit."""

    waiting: int


@dataclass(frozen=True, slots=True)
class Done:
    """The end. After a complete crawl nothing links to a known page that was not mentioned."""

    complete: bool
    remarks: tuple[Said, ...] = ()


Finding = Page | FetchedFile | Unchanged | Failed | Skipped | Gone | Alive | Done
KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind for kind in (Page, FetchedFile, Unchanged, Failed, Skipped, Gone, Alive, Done)
}


def to_line(finding: Finding) -> str:
    return json.dumps({"kind": type(finding).__name__, **asdict(finding)}) + "\n"


def from_line(line: str | bytes) -> Finding:
    """Parse a line; raises ValueError if it was not written to its end."""
    wire = json.loads(line)
    kind = KINDS[wire.pop("kind")]
    if "reason" in wire:
        wire["reason"] = Said(**wire["reason"])
    if kind is Done:
        wire["remarks"] = tuple(Said(**said) for said in wire["remarks"])
    if kind is Page:
        wire["links"] = tuple(wire["links"])
        wire["references"] = tuple((text, url) for text, url in wire["references"])
    finding: Finding = kind(**wire)
    return finding


def iso(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""


def likeness(title: str, text: str) -> str:
    """Return the same for pages with the same title and text.

    Figures count: pages for two terms often differ in nothing else.
    """
    return fingerprint(title, text)


@dataclass(frozen=True, slots=True)
class KnownPage:
    """A page as it was last seen; `likeness` is that of `findings.Page`."""

    etag: str = ""
    last_modified: str = ""
    likeness: str = ""
    links: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CrawlPlan:
    """`allow` and `deny` are whole addresses in which `*` stands for anything; no `allow` allows the whole site."""

    start_urls: tuple[str, ...]
    user_agent: str
    folder: str  # where files go that the parent reads
    allow: tuple[str, ...] = ()
    deny: tuple[str, ...] = ()
    domains: tuple[str, ...] = ()  # further names of the first start address's host
    max_depth: int = 8
    max_pages: int = 5000
    delay_s: float = 0.5
    timeout_s: float = 30
    max_bytes: int = 10_000_000
    allow_private: bool = False
    use_sitemaps: bool = True
    reads_pictures: bool = False  # whether OCR is installed
    browser: str = ""  # the Chromium that renders pages which are empty without JavaScript; "" for none
    memory_bytes: int = 2_000_000_000
    most_ahead: int = 100  # findings, with their files, that may wait for the parent
    known: Mapping[str, KnownPage] = field(default_factory=dict)

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "CrawlPlan":
        lists = {name: tuple(wire[name]) for name in ("start_urls", "allow", "deny", "domains")}
        known = {url: KnownPage(**{**page, "links": tuple(page["links"])}) for url, page in wire["known"].items()}
        return cls(**{**wire, **lists, "known": known})


#: Written by the parent for each finding that it has processed, except signs of life.
TAKEN = b"\n"


class Parent:
    """The other end of standard output and input; `most_ahead` findings may wait for it."""

    def __init__(self, most_ahead: int) -> None:
        self._most_ahead = most_ahead
        self._said = self._taken = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._taken_more = asyncio.Event()
        threading.Thread(target=self._hear, daemon=True, name="parent").start()

    def tell(self, finding: Finding) -> None:
        self._said += not isinstance(finding, Alive)
        try:
            sys.stdout.write(to_line(finding))
            sys.stdout.flush()
        except BrokenPipeError:
            os._exit(1)  # the parent has closed the pipe

    async def catches_up(self) -> None:
        """Wait until one more finding may be written."""
        self._loop = asyncio.get_running_loop()
        while self._said - self._taken >= self._most_ahead:
            self._taken_more.clear()
            await self._taken_more.wait()

    def _hear(self) -> None:
        for _line in sys.stdin.buffer:
            self._taken += 1
            if self._loop:
                self._loop.call_soon_threadsafe(self._taken_more.set)
