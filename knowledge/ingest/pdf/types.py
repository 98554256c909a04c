"""Values that the steps of reading a PDF pass to each other."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple


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


class BadPdf(ValueError):
    """A file that cannot be imported; the message names it, the page where one is to blame, and what is wrong."""

    def __init__(self, template: str, *, page: int | None = None, name: str = "", **values: str | int) -> None:
        self.reason, self.page, self.name = Said(template, values), page, name
        place = ", ".join(part for part in (name, f"page {page}" if page else "") if part)
        super().__init__(f"{place}: {self.reason}" if place else str(self.reason))


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


@dataclass(frozen=True, slots=True)
class PdfText:
    """A PDF as Markdown, with `<!-- page 3 -->` where page 3 begins."""

    title: str
    language: str
    markdown: str
    pages: int
    warnings: tuple[Said, ...] = ()

    def to_wire(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_wire(cls, wire: Mapping[str, Any]) -> "PdfText":
        return cls(**{**wire, "warnings": tuple(Said(**said) for said in wire["warnings"])})


class Char(NamedTuple):
    """One character on a page; `top` and `bottom` count down from the page's upper edge."""

    text: str
    x0: float
    x1: float
    top: float
    bottom: float
    baseline: float
    size: float
    font: str


class Rule(NamedTuple):
    """A drawn straight line."""

    x0: float
    x1: float
    top: float
    bottom: float

    @property
    def is_horizontal(self) -> bool:
        return self.x1 - self.x0 > self.bottom - self.top


@dataclass(frozen=True, slots=True)
class Part:
    """Words of one line that stand together."""

    text: str
    x0: float
    x1: float


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells, row by row; `header` has as many names as a row has cells, or is empty.

    A cell is None where the one above goes on. `guessed` says that nothing but its place makes a row the header.
    `record` is the name of what a form describes, such as a module's.
    """

    page: int
    x0: float
    x1: float
    top: float
    bottom: float
    rows: Sequence[Sequence[str | None]]
    header: Sequence[str] = ()
    caption: str = ""
    frame: int = 0
    guessed: bool = False
    record: str = ""


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text; `frame` numbers the column that it stands in within its page, in reading order.

    `in_cell` says that it stands in a cell of a form.
    """

    page: int
    text: str
    x0: float
    x1: float
    top: float
    baseline: float
    size: float
    bold: bool
    mono: bool
    parts: tuple[Part, ...] = ()
    frame: int = 0
    left: float = 0
    right: float = 0
    in_cell: bool = False

    @property
    def style(self) -> tuple[float, bool]:
        return round(self.size * 2) / 2, self.bold


Element = Line | Table


@dataclass(frozen=True, slots=True)
class Form:
    """What stands in the cells of a form, in reading order; each frame of the elements is one cell's."""

    x0: float
    x1: float
    top: float
    bottom: float
    elements: Sequence[Element]


@dataclass(frozen=True, slots=True)
class Bookmark:
    """An entry of the outline; `level` counts from 1."""

    title: str
    level: int
    page: int


@dataclass(slots=True)
class Page:
    """One page's elements in reading order."""

    number: int
    width: float
    height: float
    elements: list[Element] = field(default_factory=list)
    has_pictures: bool = False
    characters: int = 0
    unmapped: int = 0
