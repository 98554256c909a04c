"""Tables on pictures: what OCR has read has no rules, but its boxes stand in columns and rows; pure."""

from collections.abc import Sequence
from itertools import pairwise
from statistics import median

from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.pdf.layout.recognised import group_rows
from knowledge.ingest.pdf.types import Table
from knowledge.ingest.pdf.words import join_lines

#: Two columns are prose more often than a table, which then reads as lines of “label value” anyway.
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
Span = tuple[float, float]
Row = list[ReadLine]


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
        part, spans = _extend(rows[index:], height)
        if table := _table(part, spans, height, number):
            tables.append(table)
            index += len(part)
        else:
            rest += rows[index]
            index += 1
    return tables, rest


def _extend(rows: Sequence[Row], height: float) -> tuple[list[Row], list[Span]]:
    """Take rows from the first on as long as no box closes a gap between the columns; return their spans too."""
    spans = _spans(rows[0], height)
    part: list[Row] = [rows[0]]
    for row in rows[1:]:
        is_far = min(box.top for box in row) - max(box.bottom for box in part[-1]) > FARTHEST * height
        further = _spans([*row, *(ReadLine("", x0, 0, x1, 0) for x0, x1 in spans)], height)
        if len(further) < max(COLUMNS, len(spans)) or is_far:
            break
        part, spans = [*part, row], further
    return part, spans


def _spans(boxes: Sequence[ReadLine], height: float) -> list[Span]:
    """Join what stands over one another, from left to right."""
    found: list[Span] = []
    for box in sorted(boxes, key=lambda box: box.x0):
        if found and box.x0 - found[-1][1] < GUTTER * height:
            found[-1] = found[-1][0], max(found[-1][1], box.x1)
        else:
            found.append((box.x0, box.x1))
    return found


def _table(part: Sequence[Row], spans: Sequence[Span], height: float, number: int) -> Table | None:
    if len(spans) < COLUMNS or len(part) < ROWS or len(part[0]) < 2 or _is_prose(part, spans):
        return None
    rows = [[_cell(boxes, span) for span in spans] for boxes in _whole_rows(part, height)]
    spoken = sum(sum(map(bool, row)) >= 2 for row in rows)
    filled = sum(sum(map(bool, row)) for row in rows)
    if len(rows) < ROWS or spoken < SPOKEN * len(rows) or filled < FILLED * len(rows) * len(spans):
        return None
    header = rows.pop(0) if _is_header(rows[0]) else ()
    boxes = [box for row in part for box in row]
    top, bottom = min(box.top for box in boxes), max(box.bottom for box in boxes)
    return Table(number, spans[0][0], spans[-1][1], top, bottom, rows, header, guessed=True)


def _is_prose(part: Sequence[Row], spans: Sequence[Span]) -> bool:
    """Return whether half of the columns are lines of running text."""
    prose = 0
    for left, right in spans:
        lines = [box for row in part for box in row if left <= (box.x0 + box.x1) / 2 <= right]
        letters, width = median(len(box.text) for box in lines), median(box.x1 - box.x0 for box in lines)
        prose += letters >= PROSE_LETTERS and width >= PROSE_FILL * (right - left)
    return 2 * prose >= len(spans)


def _whole_rows(part: Sequence[Row], height: float) -> list[Row]:
    """Join the lines of cells: within a row the steps are shorter than to the next row, if there are two kinds."""
    middles = [median((box.top + box.bottom) / 2 for box in row) for row in part]
    steps = [after - before for before, after in pairwise(middles)]
    ordered = sorted(steps)
    jumps = [(after / max(before, 0.1 * height), (before + after) / 2) for before, after in pairwise(ordered)]
    ratio, between = max(jumps, default=(0.0, 0.0))
    limit = between if ratio >= LONGER and between < 2.5 * height else 0.0
    rows = [list(part[0])]
    for step, row in zip(steps, part[1:], strict=True):
        if step <= limit:
            rows[-1] += row
        else:
            rows.append(list(row))
    return rows


def _cell(boxes: Sequence[ReadLine], span: Span) -> str:
    within = [box for box in boxes if span[0] <= (box.x0 + box.x1) / 2 <= span[1]]
    return join_lines([" ".join(box.text for box in sorted(row, key=lambda box: box.x0)) for row in group_rows(within)])


def _is_header(row: Sequence[str]) -> bool:
    """Return whether a first row names the columns; the first one may have no name."""
    return all(row[1:]) and all(len(cell) <= NAME_LETTERS and not cell.isdecimal() for cell in row)
