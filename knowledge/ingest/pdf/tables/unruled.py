"""Tables without cells of their own: with level rules only, or a bold header over aligned cells; pure."""

from collections.abc import Iterable, Sequence

from knowledge.ingest.pdf.layout.lines import arrange_lines
from knowledge.ingest.pdf.types import Char, Element, Line, Rule, Table
from knowledge.ingest.pdf.words import join_lines

#: A cell with more is no cell.
CELL_CHARACTERS = 1_500
#: Rules of one booktabs table begin and end within this distance.
ALIGNED = 3.0
COLUMN_GAP = 5.0


def distinct(values: Iterable[float]) -> list[float]:
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > ALIGNED:
            found.append(value)
    return found


# --- tables with level rules only ---


def booktabs(level: Sequence[Rule], upright: Sequence[Rule]) -> list[tuple[float, float, float, float, float]]:
    """List (box, the y under the header) for three or more rules of the same width over one another."""
    groups: dict[tuple[int, int], list[Rule]] = {}
    for rule in level:
        if rule.x1 - rule.x0 > 60:
            groups.setdefault((round(rule.x0 / ALIGNED), round(rule.x1 / ALIGNED)), []).append(rule)
    boxes = []
    for rules in groups.values():
        tops = distinct(rule.top for rule in rules)
        x0, x1 = rules[0].x0, rules[0].x1
        if len(tops) < 3 or any(
            tops[0] - 1 < (rule.top + rule.bottom) / 2 < tops[-1] + 1 and x0 - 1 < rule.x0 < x1 + 1 for rule in upright
        ):
            continue
        boxes.append((x0 - 1, tops[0], x1 + 1, tops[-1], tops[1]))
    return boxes


def read_open(
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
        if rows and (not cells[0] or rows[-1][0].endswith((",", "-"))):
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
