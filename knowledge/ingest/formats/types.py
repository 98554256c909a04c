"""What every reader of a file takes and gives; no Django."""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

#: Gets (part, of): pages, slides, sheets.
Progress = Callable[[int, int], None]
#: Gets the Markdown, a piece after the other: the process that reads need not hold all of it.
Write = Callable[[str], None]


def gettext_noop(text: str) -> str:
    """Mark a text for the translation catalogue, as Django's does; this package does not import Django."""
    return text


@dataclass(frozen=True, slots=True)
class Said:
    """A sentence for staff: a template and its values, so that it can be translated."""

    template: str
    values: Mapping[str, str | int] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.template.format(**self.values)


class BadFile(ValueError):
    """A file that cannot be imported; the message names it, the page where one is to blame, and what is wrong."""

    def __init__(self, template: str, *, page: int | None = None, name: str = "", **values: str | int) -> None:
        self.reason, self.page, self.name = Said(template, values), page, name
        place = ", ".join(part for part in (name, f"page {page}" if page else "") if part)
        super().__init__(f"{place}: {self.reason}" if place else str(self.reason))


class NoText(BadFile):
    """A picture that shows no text: no mistake where a crawl met it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one file; beyond them it is a mistake or an attack."""

    pages: int = 2_000
    file_bytes: int = 200_000_000
    memory_bytes: int = 1_000_000_000
    #: Seconds without a finished page, and for the whole file.
    page_seconds: int = 30
    total_seconds: int = 900
    #: A page of small print has 15,000.
    page_characters: int = 200_000
    #: Of all sheets of a workbook.
    rows: int = 20_000
    #: What an office file, which is an archive, may have unpacked.
    unpacked_bytes: int = 300_000_000


@dataclass(frozen=True, slots=True)
class FileText:
    """A file as Markdown; in that of a PDF `<!-- page 3 -->` stands where page 3 begins.

    A link in it reads `[text][n]`, as in that of a web page: `references[n - 1]` is its (text, address).
    """

    title: str
    language: str
    markdown: str = ""  # until its pieces are put together, it has none
    pages: int = 0  # slides or sheets too; 0 where the format has none
    warnings: tuple[Said, ...] = ()
    references: tuple[tuple[str, str], ...] = ()
    #: The pages whose text is a picture, which nobody has read yet.
    pictures: tuple[int, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "FileText":
        warnings = tuple(Said(**said) for said in wire["warnings"])
        references = tuple((text, address) for text, address in wire["references"])
        pictures = tuple(wire["pictures"])
        return cls(**{**wire, "warnings": warnings, "references": references, "pictures": pictures})


@dataclass(frozen=True, slots=True)
class Format:
    """A format. `read(file, *, limits, progress, write)` writes the Markdown and returns the rest of the text.

    It runs in the sandbox alone; only there are its libraries imported.
    """

    suffix: str  # ".pdf"
    label: str
    #: The first one is what we serve it as.
    media_types: tuple[str, ...]
    read: Callable[..., FileText]
    #: Stands in the first kilobyte of every such file.
    mark: bytes
    #: Whether a browser shows it; others are downloaded.
    is_shown: bool = False
    #: Whether such a file is one picture, which OCR reads.
    is_picture: bool = False
    #: Other ends of names.
    also: tuple[str, ...] = ()
