"""What the crawling process tells, one JSON object a line."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from knowledge.hashing import fingerprint
from knowledge.ingest.pdf.values import Said


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


@dataclass(frozen=True, slots=True)
class PdfFile:
    """A PDF that was fetched into `path`."""

    url: str
    path: str
    name: str
    etag: str
    last_modified: str


@dataclass(frozen=True, slots=True)
class Unchanged:
    """The server says that a known page is as it was."""

    url: str


@dataclass(frozen=True, slots=True)
class Failed:
    """It could not be fetched or read this time; nothing follows from that."""

    url: str
    reason: Said
    status: int = 0


@dataclass(frozen=True, slots=True)
class Skipped:
    """It is there, but not to become a document of its own."""

    url: str
    reason: Said


@dataclass(frozen=True, slots=True)
class Gone:
    """The server says that it is not there."""

    url: str
    status: int


@dataclass(frozen=True, slots=True)
class Alive:
    """Said every second: the process works, and so many addresses wait for their visit."""

    waiting: int


@dataclass(frozen=True, slots=True)
class Done:
    """The end. After a complete crawl a known page that nothing was said of is linked nowhere any more."""

    complete: bool
    remarks: tuple[Said, ...] = ()


Finding = Page | PdfFile | Unchanged | Failed | Skipped | Gone | Alive | Done
KINDS: Mapping[str, type[Any]] = {
    kind.__name__: kind for kind in (Page, PdfFile, Unchanged, Failed, Skipped, Gone, Alive, Done)
}


def to_line(finding: Finding) -> str:
    return json.dumps({"kind": type(finding).__name__, **asdict(finding)}) + "\n"


def from_line(line: str | bytes) -> Finding:
    """Raises ValueError where the line was not written to its end."""
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
