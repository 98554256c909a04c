"""Rows with the same columns: whether they are a table, which rows are its header, what a span says; pure."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from knowledge.ingest.pdf.tables.grids import Cell
from knowledge.ingest.pdf.types import Element

#: A cell of a table has no more; with more it is a frame around prose.
CELL_CHARACTERS = 1_500
#: A name of a column that is known by its place only.
NAME = 60
#: How what is no name of a column ends: as a sentence, though an abbreviation may have its dot.
ENDED = re.compile(r"[;,]$|\s.*\.$")
#: The share of a header's names that stand out; one may be set in other letters.
MOSTLY = 0.7


@dataclass(frozen=True, slots=True)
class Said:
    """What stands in a cell; `is_value` where it is short enough for a line with its label."""

    text: str
    elements: Sequence[Element]
    bold: bool
    is_value: bool
    has_tables: bool


def is_label(said: Said) -> bool:
    return said.is_value and bool(said.text) and (said.bold or said.text.endswith(":"))


class Band:
    """Rows of a grid between two cuts that go through; mostly one row."""

    def __init__(self, cells: Sequence[Cell], said: Mapping[Cell, Said]) -> None:
        self.cells = sorted(cells, key=lambda cell: (cell.column, cell.row))
        self._said = said
        self.row = min(cell.row for cell in cells)
        self.rows = max(cell.row + cell.rows for cell in cells) - self.row
        self.starts = tuple(sorted({cell.column for cell in cells}))

    def said(self, cell: Cell) -> Said:
        return self._said[cell]

    @property
    def filled(self) -> list[Said]:
        return [self._said[cell] for cell in self.cells if self._said[cell].text]

    @property
    def is_bold(self) -> bool:
        filled = self.filled
        return bool(filled) and all(said.bold for said in filled)

    @property
    def is_names(self) -> bool:
        """Return whether its cells say nothing but names: of columns, or labels without their values."""
        said = [self._said[cell] for cell in self.cells]
        are_labels = all(one.text.endswith(":") for one in said)
        return len(said) > 1 and all(0 < len(one.text) <= NAME for one in said) and (self.is_bold or are_labels)

    @property
    def is_values(self) -> bool:
        """Return whether nothing that it says has a name."""
        return len(self.filled) > 1 and not any(is_label(said) for said in self.filled)

    def heads(self, below: "Band") -> bool:
        """Return whether it is the upper row of a header whose names span columns of the one below."""
        return (
            len(self.starts) > 1
            and set(self.starts) < set(below.starts)
            and self.is_bold
            and not any(said.text.endswith(":") for said in self.filled)
        )

    def pairs(self) -> Iterator[tuple[Said, Said]]:
        """Yield labels with the value beside them."""
        for name, value in pairwise(self.filled):
            if is_label(name) or not name.bold:
                yield name, value

    def sentence(self) -> str:
        """Say a row of short cells: “Label: value; Label: value”."""
        text, before = "", None
        for said in self.filled:
            if before is None:
                text = said.text
            elif before.text.endswith(":"):
                text = f"{text} {said.text}"
            elif not said.bold and (is_label(before) or (len(self.filled) == 2 and _is_name(before.text))):
                text = f"{text}: {said.text}"
            else:
                text = f"{text}; {said.text}"
            before = said
        return text


def _is_name(text: str) -> bool:
    return len(text) <= NAME and ":" not in text


@dataclass(frozen=True, slots=True)
class Matrix:
    """A table's rows under its header, if it has one."""

    rows: list[list[str | None]]
    header: list[str]
    guessed: bool
    caption: str


def as_matrix(run: Sequence[Band]) -> Matrix | None:
    """Read bands with the same columns as a table; None where they are a form's rows, or text in columns."""
    starts = run[-1].starts
    rows = [row for row in _filled(run, starts) if any(place.text for place in row)]
    said = [band.said(cell) for band in run for cell in band.cells]
    if len(rows) < 2 or sum(any(row[place].text for row in rows) for place in range(len(starts))) < 2:
        return None
    if any(one.has_tables or len(one.text) > CELL_CHARACTERS for one in said) or _is_keyed(rows):
        return None
    count, guessed = _bold_rows(rows), False
    is_alike = all(_mostly_bold(row) for row in rows) or not any(place.bold for row in rows[1:] for place in row)
    if not count and is_alike:
        count, guessed = _plain_header(rows), True
    if not count and len(starts) == 2 and any(place.bold for row in rows for place in row):
        return None
    # What stands alone over the names of the columns is no name of one.
    above = next((index for index in range(count) if sum(bool(place.text) for place in rows[index]) > 1), 0)
    caption = " ".join(place.text for row in rows[:above] for place in row if place.text)
    header = [_name(rows[above:count], place) for place in range(len(starts))] if count else []
    return Matrix([[place.said for place in row] for row in rows[count:]], header, guessed, caption)


@dataclass(frozen=True, slots=True)
class Place:
    """A row's place in a column: a cell's text where the cell begins; `width` counts the columns that it spans."""

    text: str = ""
    bold: bool = False
    width: int = 1
    goes_on: bool = False

    @property
    def said(self) -> str | None:
        return None if self.goes_on else self.text


def _filled(run: Sequence[Band], starts: Sequence[int]) -> list[list[Place]]:
    """Lay out the cells; what spans stands at its first place only."""
    rows = [[Place() for _ in starts] for _ in range(sum(band.rows for band in run))]
    first = 0
    for band in run:
        for cell in band.cells:
            place, row, said = starts.index(cell.column), first + cell.row - band.row, band.said(cell)
            width = sum(cell.column <= start < cell.column + cell.columns for start in starts)
            rows[row][place] = Place(said.text, said.bold, width)
            for below in range(row + 1, row + cell.rows):
                rows[below][place] = Place(goes_on=True)
        first += band.rows
    return rows


def _bold_rows(rows: Sequence[Sequence[Place]]) -> int:
    """Count the rows at the top that are bold, if one below them is not: they are the header."""
    bold = [_mostly_bold(row) for row in rows]
    count = next((index for index, is_bold in enumerate(bold) if not is_bold), 0)
    return count if sum(bool(place.text) or place.goes_on for row in rows[:count] for place in row) > 1 else 0


def _mostly_bold(row: Sequence[Place]) -> bool:
    filled = [place.bold for place in row if place.text]
    return sum(filled) >= MOSTLY * len(filled)


def _plain_header(rows: Sequence[Sequence[Place]]) -> int:
    """Count the rows of a header that does not stand out: short names or abbreviations, all there, without numbers."""
    first = rows[0]
    if any(place.width > 1 for place in first) and len(rows) > 2:
        return 2
    names = [place.text for place in first]
    is_header = all(name and len(name) <= NAME and not ENDED.search(name) for name in names)
    return int(is_header and not any(char.isdecimal() for name in names for char in name))


def _is_keyed(rows: Sequence[Sequence[Place]]) -> bool:
    """Return whether every second cell names what the next one says, as in a form."""
    if len(rows[0]) % 2:
        return False
    names = [place for row in rows for place in row[::2] if place.text]
    values = [place for row in rows for place in row[1::2] if place.text]
    if len(names) < len(rows) / 2:
        return False
    if sum(name.text.endswith(":") for name in names) >= 0.8 * len(names):
        return True
    if all(place.bold for place in rows[0] if place.text):
        return False
    return sum(name.bold for name in names) >= 0.8 * len(names) and sum(value.bold for value in values) <= 0.2 * len(
        values
    )


def _name(rows: Sequence[Sequence[Place]], column: int) -> str:
    """Join what the rows of a header say over a column; a name that spans columns is each one's."""
    names: dict[str, None] = {}
    for row in rows:
        for start, place in enumerate(row):
            if place.text and start <= column < start + place.width:
                names[place.text] = None
    return " ".join(names)
