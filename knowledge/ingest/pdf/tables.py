"""Tables: found by their rules, read cell by cell, said as sentences; pure but for pdfplumber's table finder."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from knowledge.ingest.pdf.layout import BOLD, arrange_lines
from knowledge.ingest.pdf.types import Char, Element, Line, Rule, Table
from knowledge.ingest.pdf.words import join_lines

if TYPE_CHECKING:
    from pdfplumber.page import Page as PlumberPage
    from pdfplumber.table import Table as PlumberTable

#: A cell with more is no cell: the lines are a frame around prose.
CELL_CHARACTERS = 1_500
#: Rules of one booktabs table begin and end within this distance.
ALIGNED = 3.0
COLUMN_GAP = 5.0


def find_tables(
    page: "PlumberPage", chars: Sequence[Char], rules: Sequence[Rule], *, number: int
) -> tuple[list[Table], list[Char]]:
    """Find the page's tables, and the characters outside them."""
    found: list[Table] = []
    rest = list(chars)
    upright = [rule for rule in rules if not rule.is_horizontal]
    level = [rule for rule in rules if rule.is_horizontal]
    if len(_distinct(rule.x0 for rule in upright)) >= 3 and len(_distinct(rule.top for rule in level)) >= 3:
        for grid in page.find_tables():
            if table := _ruled(grid, rest, number):
                found.append(table)
                rest = [char for char in rest if not _inside(char, grid.bbox)]
    for box in _booktabs(level, upright):
        inside = [char for char in rest if _inside(char, box[:4])]
        if table := _open(inside, box[:4], box[4], number):
            found.append(table)
            rest = [char for char in rest if not _inside(char, box[:4])]
    return found, rest


def _distinct(values: Iterable[float]) -> list[float]:
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > ALIGNED:
            found.append(value)
    return found


def _inside(char: Char, box: tuple[float, float, float, float]) -> bool:
    x, y = (char.x0 + char.x1) / 2, (char.top + char.bottom) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]


# --- grids ---


def _ruled(grid: "PlumberTable", chars: Sequence[Char], number: int) -> Table | None:
    cells = [cell for cell in grid.cells if cell]
    xs, ys = _distinct(cell[0] for cell in cells), _distinct(cell[1] for cell in cells)
    if len(xs) < 2 or len(ys) < 2:
        return None
    x0, top, x1, bottom = grid.bbox
    inside = [char for char in chars if _inside(char, grid.bbox)]
    if not inside:
        return None
    rows = [["" for _ in xs] for _ in ys]
    spans = [[1 for _ in xs] for _ in ys]
    bold = [[False for _ in xs] for _ in ys]
    for cell in cells:
        members = [char for char in inside if _inside(char, cell)]
        text = cell_text(members)
        if len(text) > CELL_CHARACTERS:
            return None
        is_bold = bool(members) and all(BOLD.search(char.font) for char in members if char.text.isalnum())
        columns = [index for index, x in enumerate(xs) if cell[0] - ALIGNED <= x < cell[2] - ALIGNED]
        lines = [index for index, y in enumerate(ys) if cell[1] - ALIGNED <= y < cell[3] - ALIGNED]
        for row in lines:
            for column in columns:
                rows[row][column], bold[row][column] = text, is_bold
                spans[row][column] = len(columns)
    return _table(rows, spans, bold, number=number, box=(x0, top, x1, bottom))


def _table(
    rows: list[list[str]],
    spans: list[list[int]],
    bold: list[list[bool]],
    *,
    number: int,
    box: tuple[float, float, float, float],
) -> Table | None:
    caption = ""
    kept = [index for index, row in enumerate(rows) if any(row)]
    rows, spans, bold = ([values[index] for index in kept] for values in (rows, spans, bold))  # type: ignore[assignment]
    if rows and spans[0][0] == len(rows[0]) > 1:
        caption, rows, spans, bold = rows[0][0], rows[1:], spans[1:], bold[1:]
    if len(rows) < 2 or len(rows[0]) < 2 or sum(any(row[i] for row in rows) for i in range(len(rows[0]))) < 2:
        return None
    header: list[str] = []
    if _is_keyed(rows, bold):
        pass
    elif any(span > 1 for span in spans[0]) and len(rows) > 2:
        header = [
            " ".join(dict.fromkeys(name for name in names if name)) for names in zip(rows[0], rows[1], strict=True)
        ]
        rows = rows[2:]
    else:
        header, rows = rows[0], rows[1:]
    x0, top, x1, bottom = box
    return Table(number, x0, x1, top, bottom, rows, header, caption)


def _is_keyed(rows: Sequence[Sequence[str]], bold: Sequence[Sequence[bool]]) -> bool:
    """Return whether the first column names what the second says, as in a form, rather than the first row."""
    if len(rows[0]) != 2 or all(bold[0]):
        return False
    names = [row[0] for row in rows if row[0]]
    if len(names) < len(rows) / 2:
        return False
    if all(name.endswith(":") for name in names):
        return True
    return sum(line[0] for line in bold) >= 0.8 * len(rows) and sum(line[1] for line in bold) <= 0.2 * len(rows)


def cell_text(chars: Sequence[Char]) -> str:
    return join_lines([line.text for line in arrange_lines(chars) if isinstance(line, Line)])


# --- tables with level rules only ---


def _booktabs(level: Sequence[Rule], upright: Sequence[Rule]) -> list[tuple[float, float, float, float, float]]:
    """List (box, the y under the header) for three or more rules of the same width over one another."""
    groups: dict[tuple[int, int], list[Rule]] = {}
    for rule in level:
        if rule.x1 - rule.x0 > 60:
            groups.setdefault((round(rule.x0 / ALIGNED), round(rule.x1 / ALIGNED)), []).append(rule)
    boxes = []
    for rules in groups.values():
        tops = _distinct(rule.top for rule in rules)
        x0, x1 = rules[0].x0, rules[0].x1
        if len(tops) < 3 or any(
            tops[0] - 1 < (rule.top + rule.bottom) / 2 < tops[-1] + 1 and x0 - 1 < rule.x0 < x1 + 1 for rule in upright
        ):
            continue
        boxes.append((x0 - 1, tops[0], x1 + 1, tops[-1], tops[1]))
    return boxes


def _open(
    chars: Sequence[Char], box: tuple[float, float, float, float], under_header: float, number: int
) -> Table | None:
    lines = _lines_across(chars)
    if len(lines) < 2:
        return None
    edges = _columns(lines)
    if len(edges) < 2:
        return None
    header = [""] * len(edges)
    rows: list[list[str]] = []
    for line in lines:
        cells = [""] * len(edges)
        for part in line.parts:
            column = max(index for index, edge in enumerate(edges) if index == 0 or edge <= part.x0 + 1)
            cells[column] = f"{cells[column]} {part.text}".strip()
        if line.baseline <= under_header + 1:
            header = [f"{name} {cell}".strip() for name, cell in zip(header, cells, strict=True)]
        elif cells[0] or not rows:
            rows.append(cells)
        else:  # the first column is empty: the row before goes on
            rows[-1] = [
                join_lines([old, new]) if old and new else old or new for old, new in zip(rows[-1], cells, strict=True)
            ]
    if not rows or not any(header) or any(len(cell) > CELL_CHARACTERS for row in rows for cell in row):
        return None
    return Table(number, box[0], box[2], box[1], box[3], rows, header)


def _lines_across(chars: Sequence[Char]) -> list[Line]:
    """List lines over the whole width, ignoring columns."""
    return [line for line in arrange_lines(chars, columns=False) if isinstance(line, Line)]


def _columns(lines: Sequence[Line]) -> list[float]:
    """Find where columns begin: after a strip that no line crosses."""
    spans = sorted((part.x0, part.x1) for line in lines for part in line.parts)
    edges: list[float] = []
    end = float("-inf")
    for x0, x1 in spans:
        if x0 - end > COLUMN_GAP:
            edges.append(x0)
        end = max(end, x1)
    return edges


# --- tables without rules ---


def aligned(elements: Sequence[Element]) -> list[Element]:
    """Turn bold headers over aligned cells into tables."""
    found: list[Element] = []
    index = 0
    while index < len(elements):
        table, count = _aligned_from(elements, index)
        found.append(table or elements[index])
        index += count
    return found


def _aligned_from(elements: Sequence[Element], index: int) -> tuple[Table | None, int]:
    first = elements[index]
    if not isinstance(first, Line) or not first.bold or len(first.parts) < 2:
        return None, 1
    edges = [part.x0 for part in first.parts]
    rows: list[list[str]] = []
    last = first
    for line in elements[index + 1 :]:
        if not isinstance(line, Line) or line.bold or line.frame != first.frame:
            break
        if line.baseline - last.baseline > 2.5 * line.size or not all(_at(part.x0, edges) for part in line.parts):
            break
        cells = [" ".join(part.text for part in line.parts if abs(part.x0 - edge) <= ALIGNED) for edge in edges]
        if not cells[0] and rows:
            rows[-1] = [
                join_lines([old, new]) if old and new else old or new for old, new in zip(rows[-1], cells, strict=True)
            ]
        elif len(line.parts) < 2 and (not rows or line.x1 > edges[1] - COLUMN_GAP):
            break
        else:
            rows.append(cells)
        last = line
    if len(rows) < 2 or sum(all(row[:2]) for row in rows) < 0.6 * len(rows):
        return None, 1
    count = next(offset for offset, line in enumerate(elements[index:]) if line is last) + 1
    box = first.x0, max(line.x1 for line in elements[index : index + count]), first.top, last.baseline
    header = [part.text for part in first.parts]
    return Table(first.page, *box, rows, header, frame=first.frame), count


def _at(x: float, edges: Sequence[float]) -> bool:
    return any(abs(x - edge) <= ALIGNED for edge in edges)


# --- tables as text ---


def sentences(table: Table) -> list[str]:
    """Write each row as a sentence: “Header: value; Header: value”."""
    found = []
    for row in table.rows:
        if table.header:
            cells = [
                f"{name.rstrip(':')}: {value}" if name else value
                for name, value in zip(table.header, row, strict=True)
                if value
            ]
            unique = set(filter(None, row))
            said = (
                next(iter(unique))
                if len(unique) == 1 and sum(bool(cell) for cell in row) == len(row)
                else "; ".join(cells)
            )
        elif len(row) == 2 and row[0] and row[1]:
            said = f"{row[0].rstrip(':')}: {row[1]}"
        else:
            said = "; ".join(dict.fromkeys(filter(None, row)))
        if said:
            found.append(said)
    return found


def continued(before: Table, after: Table) -> Table:
    """Continue a table that runs over a page, under the first part's header."""
    if not before.header or len(before.header) != len(after.header):
        return after
    if list(after.header) == list(before.header):
        return after
    return replace(after, rows=[after.header, *after.rows], header=before.header)
