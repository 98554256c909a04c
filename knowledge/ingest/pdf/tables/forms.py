"""A grid's cells into tables with a header, lines of labels and values, and text; pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import groupby, pairwise

from knowledge.ingest.pdf.layout.lines import arrange_lines, is_bold
from knowledge.ingest.pdf.tables.grids import Cell, Grid
from knowledge.ingest.pdf.tables.matrices import Band, Matrix, Said, as_matrix, is_label
from knowledge.ingest.pdf.tables.records import is_name_of_record
from knowledge.ingest.pdf.types import Char, Element, Form, FormRow, Line, Part, Table
from knowledge.ingest.pdf.words import HYPHENS, join_lines

#: A cell with more letters is a text, not a value.
VALUE = 300
#: The number of a form's part, in a column of its own.
NUMBER = re.compile(r"^\(?(?:\d{1,3}[a-z]?|[a-z]|[IVX]{1,5})[.)]?$")
ENDED = re.compile(r"[.!?:;…]['\"”“’»)\]]*$")
BULLET = re.compile(r"^[•●▪■◦‣∙○►▶➢✓–—*-](?:\s|$)")
#: The column of these numbers takes no more than this share of the width.
NARROW = 0.12
Frame = list[Element]


def read_grid(grid: Grid, chars: Sequence[Char], boxes: Sequence[Table | Form], *, number: int) -> Table | Form | None:
    """Read what stands in a grid; `boxes` are the tables within its cells. None where it parts nothing."""
    return _Reader(grid, chars, boxes, number).read()


class _Reader:
    def __init__(self, grid: Grid, chars: Sequence[Char], boxes: Sequence[Table | Form], number: int) -> None:
        self._grid, self._number = grid, number
        owner = {
            (row, column): index
            for index, cell in enumerate(grid.cells)
            for row in range(cell.row, cell.row + cell.rows)
            for column in range(cell.column, cell.column + cell.columns)
        }
        self._chars: dict[Cell, list[Char]] = {cell: [] for cell in grid.cells}
        self._boxes: dict[Cell, list[Table | Form]] = {cell: [] for cell in grid.cells}
        for char in chars:
            place = grid.place((char.x0 + char.x1) / 2, (char.top + char.bottom) / 2)
            if place is not None:
                self._chars[grid.cells[owner[place]]].append(char)
        for box in boxes:
            place = grid.place((box.x0 + box.x1) / 2, (box.top + box.bottom) / 2)
            if place is not None:
                self._boxes[grid.cells[owner[place]]].append(box)
        self._said = {cell: self._say(cell) for cell in grid.cells}
        self._frames: list[Frame] = []

    def read(self) -> Table | Form | None:
        filled = [cell for cell in self._grid.cells if self._said[cell].text or self._boxes[cell]]
        if len({cell.column for cell in filled}) < 2:
            return None
        self._region(self._grid.cells)
        x0, top, x1, bottom = self._grid.box
        frames = [frame for frame in self._frames if frame]
        if len(frames) == 1 and len(frames[0]) == 1 and isinstance(table := frames[0][0], Table):
            return table
        elements = [replace(element, frame=place) for place, frame in enumerate(frames) for element in frame]
        return Form(x0, x1, top, bottom, elements) if elements else None

    def _say(self, cell: Cell) -> Said:
        chars = self._chars[cell]
        elements = arrange_lines(chars, self._boxes[cell], number=self._number, columns=False)
        lines = [line for line in elements if isinstance(line, Line)]
        letters = [char for char in chars if char.text.isalnum()]
        return Said(
            text=_said(lines),
            elements=elements,
            bold=bool(letters) and all(is_bold(char.font) for char in letters),
            is_value=not self._boxes[cell]
            and sum(len(line.text) for line in lines) <= VALUE
            and not any(BULLET.match(line.text) for line in lines[1:]),
            has_tables=bool(self._boxes[cell]),
        )

    # --- what stands in a region: rows with the same columns ---

    def _region(self, cells: Sequence[Cell], prefix: str = "") -> None:
        """Read cells that fill a rectangle; `prefix` is the number that they have in a form."""
        bands = [Band(band, self._said) for band in _bands(cells)]
        if numbers := self._numbers(bands):
            for band in bands:
                if not (number := numbers.get(band.row)):
                    self._region(band.cells, prefix)
                else:
                    said = f"{prefix} {self._said[number].text}".strip()
                    rest = [cell for cell in band.cells if cell != number]
                    if said and len(rest) == 1 and self._said[rest[0]].is_value and not self._is_cut(band, rest):
                        self._row(band, f"{said} {self._said[rest[0]].text}".strip())
                    else:
                        self._region(rest, said)
                prefix = ""
            return
        index = 0
        while index < len(bands):
            end = index + 1
            if end < len(bands) and bands[index].heads(bands[end]):
                end += 1
            while end < len(bands) and bands[end].starts == bands[end - 1].starts:
                end += 1
            run = bands[index:end]
            if len(run[-1].starts) > 1 and (matrix := as_matrix(run)):
                self._matrix(run, matrix, prefix)
            else:
                for band in run:
                    self._band(band, prefix)
                    prefix = ""
            prefix = ""
            index = end

    def _numbers(self, bands: Sequence[Band]) -> dict[int, Cell]:
        """Find the cells of a narrow first column that numbers the rows of a form, by their first row."""
        left = min(cell.column for band in bands for cell in band.cells)
        right = max(cell.column + cell.columns for band in bands for cell in band.cells)
        widest = NARROW * (self._grid.xs[right] - self._grid.xs[left])
        found: dict[int, Cell] = {}
        for band in bands:
            first = band.cells[0]
            if len(band.cells) < 2 or self._grid.xs[first.column + first.columns] - self._grid.xs[left] > widest:
                continue
            if first.rows < band.rows or first.column > left or not NUMBER.match(self._said[first].text or "0"):
                return {}
            found[band.row] = first
        if not any(self._said[cell].text for cell in found.values()):
            return {}
        # The first column of a table has numbers too: all its rows are alike.
        is_table = all(band.rows == 1 and band.starts == bands[0].starts for band in bands) and len(bands[0].starts) > 2
        return {} if is_table and len(bands) > 1 else found

    def _matrix(self, run: Sequence[Band], matrix: Matrix, prefix: str) -> None:
        caption = f"{prefix} {matrix.caption}".strip()
        x0, top, x1, bottom = self._box([cell for band in run for cell in band.cells])
        table = Table(self._number, x0, x1, top, bottom, matrix.rows, matrix.header, caption, guessed=matrix.guessed)
        self._frames.append([table])

    def _band(self, band: Band, prefix: str) -> None:
        """Read one row of a form, or rows beside a cell that spans them."""
        cells = [cell for cell in band.cells if self._said[cell].text or self._boxes[cell]]
        if not cells:
            return
        first, others = band.cells[0], band.cells[1:]
        label = self._said[first]
        if others and first.rows == band.rows > 1 and all(cell.column > first.column for cell in others):
            if label.is_value and label.text and all(self._said[cell].is_value for cell in others):
                rows = [Band(sub, self._said).sentence() for sub in _bands(others)]
                named = f"{label.text.rstrip(':')}: {'; '.join(filter(None, rows))}"
                self._row(band, f"{prefix} {named}".strip())
            else:
                self._content(first, prefix)
                self._region(others)
            return
        if band.rows > 1 and len(parts := _beside(band.cells)) > 1:
            for part in parts:
                self._region(part, prefix)
                prefix = ""
            return
        if len(cells) > 1 and all(self._said[cell].is_value for cell in cells) and not self._is_cut(band, cells):
            sentence = f"{prefix} {band.sentence()}".strip()
            self._row(band, sentence, self._names(band, prefix), self._values(band, prefix))
            return
        waiting = prefix
        for place, cell in enumerate(cells):
            said = self._said[cell]
            is_last = place == len(cells) - 1
            if not is_last and said.is_value and (NUMBER.match(said.text) or is_label(said)):
                waiting = f"{waiting} {_labelled(said.text)}".strip()
                continue
            self._content(cell, waiting)
            waiting = ""

    def _is_cut(self, band: Band, cells: Sequence[Cell]) -> bool:
        """Return whether a row may go on on the next page, or come from the page before: then it is text."""
        last = band.cells[0].row + band.rows == len(self._grid.ys) - 1
        return last and not ENDED.search(self._said[cells[-1]].text) and len(self._said[cells[-1]].text) > 80

    def _row(self, band: Band, said: str, names: FormRow | None = None, values: FormRow | None = None) -> None:
        if not said:
            return
        x0, top, x1, bottom = self._box(band.cells)
        record = next((value.text for name, value in band.pairs() if is_name_of_record(name.text)), "")
        before = self._frames[-1] if self._frames else []
        last = before[-1] if before else None
        if isinstance(last, Table) and not last.header and all(len(row) == 1 for row in last.rows):
            rows = [*last.rows, [said]]
            before[-1] = replace(last, rows=rows, bottom=bottom, record=last.record or record, names=names)
        else:
            table = Table(self._number, x0, x1, top, bottom, [[said]], record=record, names=names, values=values)
            self._frames.append([table])

    def _names(self, band: Band, prefix: str) -> FormRow | None:
        """Return the row if it says nothing but names; a number that it has in a form is its first name's."""
        first, *others = (self._said[cell].text for cell in band.cells)
        x0, _top, x1, _bottom = self._box(band.cells)
        return FormRow(x0, x1, (f"{prefix} {first}".strip(), *others)) if band.is_names else None

    def _values(self, band: Band, prefix: str) -> FormRow | None:
        """Return the row if nothing in it has a name; what is taken for its number in a form may be its first cell."""
        x0, _top, x1, _bottom = self._box(
            [cell for cell in self._grid.cells if cell.row == band.row] if prefix else band.cells
        )
        cells = [self._said[cell].text for cell in band.cells]
        return FormRow(x0, x1, (prefix, *cells) if prefix else tuple(cells)) if band.is_values else None

    def _content(self, cell: Cell, prefix: str) -> None:
        """Add what stands in a cell, after a number or label that belongs before it."""
        x0, _top, x1, _bottom = self._box([cell])
        elements = [
            replace(element, in_cell=True, left=x0, right=x1) if isinstance(element, Line) else element
            for element in self._said[cell].elements
        ]
        if not elements and not prefix:
            return
        if prefix and elements and isinstance(first := elements[0], Line) and not BULLET.match(first.text):
            elements[0] = replace(first, text=f"{prefix} {first.text}")
        elif prefix:
            self._line_of(prefix, cell)
        for _frame, members in groupby(elements, key=lambda element: element.frame):
            self._frames.append(list(members))

    def _line_of(self, text: str, cell: Cell) -> None:
        x0, top, x1, _bottom = self._box([cell])
        line = Line(self._number, text, x0, x0, top, top, 10, bold=False, mono=False, left=x0, right=x1, in_cell=True)
        self._frames.append([line])

    def _box(self, cells: Iterable[Cell]) -> tuple[float, float, float, float]:
        cells = list(cells)
        xs, ys = self._grid.xs, self._grid.ys
        return (
            xs[min(cell.column for cell in cells)],
            ys[min(cell.row for cell in cells)],
            xs[max(cell.column + cell.columns for cell in cells)],
            ys[max(cell.row + cell.rows for cell in cells)],
        )


def _said(lines: Sequence[Line]) -> str:
    """Join a cell's lines; a label beside them, at half their height, comes first."""
    rows = [line.parts for line in lines]
    label = min((part for row in rows for part in row), key=lambda part: part.x0, default=None)
    if not label or not label.text.endswith(":") or label is rows[0][0]:
        return _joined(rows)
    beside = [tuple(part for part in row if part is not label) for row in rows]
    if any(part.x0 < label.x1 for row in beside for part in row):
        return _joined(rows)
    return join_lines([label.text, _joined([row for row in beside if row])])


def _joined(rows: Sequence[Sequence[Part]]) -> str:
    """Join the lines of a cell; parts side by side that go on below, each after a hyphen, one after the other."""
    columns = list(zip(*rows, strict=False))
    is_beside = len({len(row) for row in rows}) == 1 and all(
        max(part.x1 for part in left) < min(part.x0 for part in right) for left, right in pairwise(columns)
    )
    if is_beside and any(part.text.endswith(HYPHENS) for column in columns[:-1] for part in column[:-1]):
        return " ".join(join_lines([part.text for part in column]) for column in columns)
    return join_lines([" ".join(part.text for part in row) for row in rows])


def _labelled(text: str) -> str:
    return text if NUMBER.match(text) or text.endswith(":") else f"{text}:"


def _bands(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cut between rows where no cell goes over the cut."""
    found: list[list[Cell]] = []
    end = -1
    for cell in sorted(cells):
        if not found or cell.row >= end:
            found.append([])
        found[-1].append(cell)
        end = max(end, cell.row + cell.rows)
    return found


def _beside(cells: Iterable[Cell]) -> list[list[Cell]]:
    """Cut between columns where no cell goes over the cut."""
    found: list[list[Cell]] = []
    end = -1
    for cell in sorted(cells, key=lambda cell: cell.column):
        if not found or cell.column >= end:
            found.append([])
        found[-1].append(cell)
        end = max(end, cell.column + cell.columns)
    return found
