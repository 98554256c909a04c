"""Tables on pictures: what OCR has read has no rules, but its boxes stand in columns and rows; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import median

from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.pdf.layout.recognised import group_rows
from knowledge.ingest.pdf.types import Table
from knowledge.ingest.pdf.words import join_lines

#: Two columns are prose more often than a table: they are one where the labels or the values say so.
COLUMNS, ROWS = 3, 3
#: Between columns, and between rows of one table, in heights of a line.
GUTTER, FARTHEST = 0.6, 6.0
#: The step to the next row is longer by this than that to the next line of a cell.
LONGER = 1.35
#: Shares: rows with two cells or more, cells that are filled.
SPOKEN, FILLED = 0.6, 0.4
#: Letters of a line of prose, and the share of its column that it fills.
PROSE_LETTERS, PROSE_FILL = 18, 0.75
#: Letters of a column's name.
NAME_LETTERS = 40
#: Rows with a cell that spans columns, one after the other at most; letters of such a cell.
SPANNING, SPANNING_LETTERS = 2, 120
#: The share of labels that end with a colon, or of values that are figures.
CLEAR = 0.8
#: A short value with a figure and its unit: a bare number may be that of a page, behind its dots.
FIGURE = re.compile(r"(?=.*\d)(?=.*(?:[^\W\d_]|[%€$:–/])).{1,25}")
#: What heads the figures of a table of contents.
PAGE_NUMBER = re.compile(r"(?:seite|page)n?s?\.?", re.IGNORECASE)
Span = tuple[float, float]
Row = list[ReadLine]
#: A header, which may be empty, and rows.
Cells = tuple[Sequence[str], Sequence[Sequence[str]]]


@dataclass(slots=True)
class Part:
    """Rows that stand in the same columns; `spanning` are the places of those with a cell over several of these."""

    rows: list[Row]
    spans: list[Span]
    spanning: set[int] = field(default_factory=set)


def read_columns(boxes: Sequence[ReadLine], *, number: int) -> tuple[list[Table], list[ReadLine]]:
    """Return the tables of a page, and the boxes outside of them; boxes are in points."""
    if not boxes:
        return [], []
    height = median(box.bottom - box.top for box in boxes)
    rows = group_rows(boxes)
    tables: list[Table] = []
    rest: list[ReadLine] = []
    index = 0
    while index < len(rows):
        part = _extend(rows[index:], height, least=COLUMNS)
        cells = _table(part, height)
        if cells is None:
            part = _extend(rows[index:], height, least=2)
            cells = _pairs(part)
        if cells:
            tables.append(_placed(part, cells, number))
            index += len(part.rows)
        else:
            rest += rows[index]
            index += 1
    return tables, rest


def _extend(rows: Sequence[Row], height: float, *, least: int) -> Part:
    """Take rows from the first on as long as no box closes a gap between the columns, but for cells that span some."""
    part = Part([rows[0]], _spans(rows[0], height))
    for index, row in enumerate(rows[1:], start=1):
        if not _is_near(part.rows[-1], row, height):
            break
        further = _with(part.spans, row, height)
        if len(further) >= max(least, len(part.spans)):
            part.rows.append(row)
            part.spans = further
        elif _goes_on(part, rows[index:], height):
            part.spanning.add(len(part.rows))
            part.rows.append(row)
        else:
            break
    return part


def _placed(part: Part, cells: Cells, number: int) -> Table:
    header, rows = cells
    boxes = [box for row in part.rows for box in row]
    top, bottom = min(box.top for box in boxes), max(box.bottom for box in boxes)
    return Table(number, part.spans[0][0], part.spans[-1][1], top, bottom, rows, header, guessed=True)


def _is_near(before: Row, row: Row, height: float) -> bool:
    return min(box.top for box in row) - max(box.bottom for box in before) <= FARTHEST * height


def _with(spans: Sequence[Span], row: Row, height: float) -> list[Span]:
    return _spans([*row, *(ReadLine("", x0, 0, x1, 0) for x0, x1 in spans)], height)


def _goes_on(part: Part, rows: Sequence[Row], height: float) -> bool:
    """Return whether a table goes on below a row that spans columns: soon a row stands in the same columns again.

    Where that one names columns otherwise, another table begins.
    """
    left, right = part.spans[0][0] - height, part.spans[-1][1] + height
    before = part.rows[-1]
    for row in rows[: SPANNING + 1]:
        if len(part.spans) < COLUMNS or len(part.rows) < 2 or not _is_near(before, row, height):
            return False
        further = _with(part.spans, row, height)
        if len(row) > 1 and len(further) == len(part.spans):
            first, again = _cells(part.rows[0], part.spans), _cells(row, part.spans)
            return first == again or not (_is_header(first) and _is_header(again))
        if any(box.x0 < left or box.x1 > right or len(box.text) > SPANNING_LETTERS for box in row):
            return False
        before = row
    return False


def _spans(boxes: Sequence[ReadLine], height: float) -> list[Span]:
    """Join what stands over one another, from left to right."""
    found: list[Span] = []
    for box in sorted(boxes, key=lambda box: box.x0):
        if found and box.x0 - found[-1][1] < GUTTER * height:
            found[-1] = found[-1][0], max(found[-1][1], box.x1)
        else:
            found.append((box.x0, box.x1))
    return found


def _table(part: Part, height: float) -> Cells | None:
    """Return the header and the rows of a table of three columns or more; None if the part is none."""
    if len(part.spans) < COLUMNS or len(part.rows) < ROWS or len(part.rows[0]) < 2 or _is_prose(part):
        return None
    rows = [_cells(boxes, part.spans) for boxes in _whole_rows(part, height)]
    spoken = sum(sum(map(bool, row)) >= 2 for row in rows)
    filled = sum(sum(map(bool, row)) for row in rows)
    if len(rows) < ROWS or spoken < SPOKEN * len(rows) or filled < FILLED * len(rows) * len(part.spans):
        return None
    if not _is_header(rows[0]):
        return [], rows
    return rows[0], [row for row in rows if row != rows[0]]


def _pairs(part: Part) -> Cells | None:
    """Return the rows of a part in two columns if they clearly are labels and values; a value may have more lines.

    The label of each ends with a colon, or each value is a figure: with its unit, or below a name such as “ECTS”.
    """
    while part.rows and len(part.rows[-1]) == 1 and part.rows[-1][0].x1 <= part.spans[0][1]:
        part.rows.pop()  # a line below the table
    if len(part.spans) != 2 or len(part.rows) < ROWS or len(part.rows[0]) != 2:
        return None
    rows: list[list[str]] = []
    for label, value in (_cells(row, part.spans) for row in part.rows):
        if label or not rows:
            rows.append([label, value])
        else:
            rows[-1][1] = join_lines([rows[-1][1], value])
    if len(rows) < ROWS or sum(map(all, rows)) < CLEAR * len(rows):
        return None
    if sum(label.endswith(":") for label, _value in rows) >= CLEAR * len(rows):
        return [], rows
    if _is_header(rows[0]) and not PAGE_NUMBER.fullmatch(rows[0][1]) and _are_numbers(rows[1:]):
        return rows[0], rows[1:]
    figures = sum(bool(FIGURE.fullmatch(value)) for _label, value in rows)
    return ([], rows) if figures >= CLEAR * len(rows) else None


def _are_numbers(rows: Sequence[Sequence[str]]) -> bool:
    return all(not value or value.isdecimal() for _label, value in rows)


def _is_prose(part: Part) -> bool:
    """Return whether half of the columns are lines of running text."""
    prose = 0
    rows = [row for place, row in enumerate(part.rows) if place not in part.spanning]
    for left, right in part.spans:
        lines = [box for row in rows for box in row if left <= (box.x0 + box.x1) / 2 <= right]
        letters, width = median(len(box.text) for box in lines), median(box.x1 - box.x0 for box in lines)
        prose += letters >= PROSE_LETTERS and width >= PROSE_FILL * (right - left)
    return 2 * prose >= len(part.spans)


def _whole_rows(part: Part, height: float) -> list[Row]:
    """Join the lines of cells: within a row the steps are shorter than to the next row, if there are two kinds."""
    middles = [median((box.top + box.bottom) / 2 for box in row) for row in part.rows]
    steps = [after - before for before, after in pairwise(middles)]
    ordered = sorted(steps)
    jumps = [(after / max(before, 0.1 * height), (before + after) / 2) for before, after in pairwise(ordered)]
    ratio, between = max(jumps, default=(0.0, 0.0))
    limit = between if ratio >= LONGER and between < 2.5 * height else 0.0
    rows = [list(part.rows[0])]
    for place, (step, row) in enumerate(zip(steps, part.rows[1:], strict=True), start=1):
        if step <= limit and {place - 1, place}.isdisjoint(part.spanning):
            rows[-1] += row
        else:
            rows.append(list(row))
    return rows


def _cells(boxes: Sequence[ReadLine], spans: Sequence[Span]) -> list[str]:
    """Return a row's cells; one that spans columns stands in the first of them."""
    within: list[list[ReadLine]] = [[] for _span in spans]
    for box in boxes:
        within[next((place for place, (_left, right) in enumerate(spans) if box.x0 < right), -1)].append(box)
    return [
        join_lines([" ".join(box.text for box in sorted(row, key=lambda box: box.x0)) for row in group_rows(lines)])
        for lines in within
    ]


def _is_header(row: Sequence[str]) -> bool:
    """Return whether a first row names the columns; the first one may have no name."""
    return all(row[1:]) and all(len(cell) <= NAME_LETTERS and not cell.isdecimal() for cell in row)
