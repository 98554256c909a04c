"""Values that the steps of reading a PDF pass to each other."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from knowledge.ingest.formats.types import BadFile as BadPdf
from knowledge.ingest.formats.types import FileText as PdfText
from knowledge.ingest.formats.types import Limits, Said, gettext_noop

__all__ = [
    "BadPdf",
    "Bookmark",
    "Char",
    "Element",
    "FormRow",
    "Limits",
    "Line",
    "Page",
    "Part",
    "PdfText",
    "Rule",
    "Said",
    "Table",
    "gettext_noop",
]


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


class FormRow(NamedTuple):
    """The cells of a form's row, which otherwise are one sentence."""

    x0: float
    x1: float
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells, row by row; `header` has as many names as a row has cells, or is empty.

    A cell is None where the one above goes on. `guessed` says that nothing but its place makes a row the header.
    `record` is the name of what a form describes, such as a module's. Of a form's rows, a page may part names from what
    they name: `names` is the last row if it says nothing else, and `values` the first one if nothing in it has a name.
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
    names: FormRow | None = None
    values: FormRow | None = None


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
#: Fewer letters a page than this are a stamp or a page number on a picture.
LETTERS = 20
#: A page whose text is a picture may have a heading, a header and a page number beside it: the share of the page that
#: pictures cover, and fewer letters than these. With hardly a line beside it, a plan need not fill its page.
PICTURES = ((0.4, 250), (0.25, 120))


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
    characters: int = 0
    unmapped: int = 0
    #: The share of the page that pictures cover, and the letters that stand on them.
    pictures: float = 0.0
    on_pictures: int = 0
    #: The keys of large pictures with hardly a letter on them.
    unread: tuple[str, ...] = ()
    #: Whether OCR has read it.
    is_recognised: bool = False

    @property
    def lines(self) -> list[Line]:
        return [element for element in self.elements if isinstance(element, Line)]

    @property
    def is_picture(self) -> bool:
        """Return whether what it says is in a picture: a scan, or a plan below a heading, but no backdrop of words."""
        is_mostly = any(self.pictures >= share and self.characters < letters for share, letters in PICTURES)
        return is_mostly and self.on_pictures < LETTERS and not self.is_recognised
