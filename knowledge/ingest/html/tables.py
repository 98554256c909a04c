"""Tables: those of data become pipe tables, those that only arrange a page are read as text."""

from collections.abc import Mapping, Sequence

from knowledge.ingest.html.dom import HEADINGS, Element, attribute, elements, holds, read_text

MAX_COLUMNS = 60
#: A longer cell is a text of its own, not a value.
MAX_CELL = 1500
#: A spanned cell is said in each row that it belongs to, if it is as short as a label.
MAX_REPEATED = 200


def list_cells(table: Element) -> list[list[Element]]:
    """List the rows of a data table; none for other tables."""
    if attribute(table, "role") in {"presentation", "none"}:
        return []
    if holds(table, "table", "pre", "summary", *HEADINGS):
        return []
    rows = [[cell for cell in row if cell.tag in {"td", "th"}] for row in elements(table, "tr")]
    rows = [row for row in rows if row]
    widest = max((sum(_span(cell, "colspan") for cell in row) for row in rows), default=0)
    if len(rows) < 2 or not 1 < widest <= MAX_COLUMNS or max(map(len, rows)) < 2:
        return []
    return [] if any(len(read_text(cell)) > MAX_CELL for row in rows for cell in row) else rows


def pipe_table(rows: Sequence[Sequence[Element]], texts: Mapping[Element, str]) -> list[str]:
    """Write a table's lines; rows of headings become one, and spanning cells are repeated in each place."""
    width = max(sum(_span(cell, "colspan") for cell in row) for row in rows)
    headings = 0
    while headings < len(rows) - 1 and _is_heading(rows[headings]):
        headings += 1
    grid: list[list[str]] = []
    spanning: dict[int, tuple[int, str]] = {}  # column: how many more rows, and what it says
    for number, row in enumerate(rows):
        line: list[str] = []
        for cell in row:
            _fill(line, spanning)
            text, columns, height = texts[cell], _span(cell, "colspan"), _span(cell, "rowspan")
            repeated = text if len(text) <= MAX_REPEATED else ""
            if len(line) >= MAX_COLUMNS:  # spans pushed it out of the table
                line[-1] = f"{line[-1]} {text}".strip()
                continue
            for column in range(columns):
                # In a heading a span holds for each of its columns; in the body it is one value.
                said = text if column == 0 else repeated if number < headings and columns < width else ""
                if height > 1:
                    spanning[len(line)] = (height - 1, repeated if said else "")
                line.append(said)
        _fill(line, spanning)
        grid.append(line)
    width = max(map(len, grid))
    grid = [line + [""] * (width - len(line)) for line in grid]
    heading = [" / ".join(dict.fromkeys(filter(None, column))) for column in zip(*grid[:headings], strict=True)]
    lines = [heading or [""] * width, ["---"] * width, *(line for line in grid[headings:] if any(line))]
    return [f"| {' | '.join(line)} |" for line in lines]


def _fill(line: list[str], spanning: dict[int, tuple[int, str]]) -> None:
    while (column := len(line)) in spanning and column < MAX_COLUMNS:
        left, text = spanning.pop(column)
        line.append(text)
        if left > 1:
            spanning[column] = (left - 1, text)


def _is_heading(row: Sequence[Element]) -> bool:
    parent = row[0].getparent().getparent()
    return all(cell.tag == "th" for cell in row) or (parent is not None and parent.tag == "thead")


def _span(cell: Element, name: str) -> int:
    value = attribute(cell, name).strip()
    limit = MAX_COLUMNS + 1 if name == "colspan" else 1000
    return max(1, min(int(value), limit)) if value.isdecimal() and len(value) < 6 else 1
