"""Tables as text: a sentence a row; and the parts of a table that goes on over a page; pure."""

import re
from collections.abc import Sequence
from dataclasses import replace

from knowledge.ingest.pdf.types import FormRow, Table
from knowledge.ingest.pdf.words import join_lines

#: Parts of one table begin and end within this distance.
SAME_PLACE = 6.0
SAID_AGAIN = 20
#: The number of a form's row, which it has again on the next page.
NUMBER = re.compile(r"^\(?\d{1,3}[a-z]?[.)]?$")
Row = Sequence[str | None]


def sentences(table: Table) -> list[str]:
    """Write each row as a sentence: “Header: value; Header: value”; rows beside one cell go on in its sentence.

    A cell with few letters, such as the year in a plan, is said again instead.
    """
    found: list[str] = []
    beside = ""
    has_groups = any(row[0] is None for row in table.rows)
    for row in table.rows:
        if row[0] is not None:
            beside = row[0]
        elif beside and len(row) > 2 and row[1] is not None and len(beside) <= SAID_AGAIN:
            row = [beside, *row[1:]]
        said = _headed(table.header, row) if table.header else _plain(row, named=has_groups and row[0] is not None)
        if not said:
            continue
        if row[0] is None and found:
            found[-1] = f"{found[-1]}; {said}"
        else:
            found.append(said)
    return found


def _headed(header: Sequence[str], row: Row) -> str:
    filled = [(name, value) for name, value in zip(header, row, strict=True) if value]
    if len(filled) == 1 and row[0] and len(row) > 1:
        return filled[0][1]
    return "; ".join(f"{name.rstrip(':')}: {value}" if name else value for name, value in filled)


def _plain(row: Row, *, named: bool) -> str:
    """Say a row without a header; `named` where its first cell is the name of one row or more."""
    filled = [cell for cell in row if cell]
    if len(filled) == 2:
        return f"{filled[0].rstrip(':')}: {filled[1]}"
    if named and len(filled) > 2:
        return f"{filled[0].rstrip(':')}: {_plain(filled[1:], named=False)}"
    return "; ".join(filled)


def joined_parts(before: Table, after: Table) -> tuple[Table, Table] | None:
    """Return both parts of a table that runs over a page, the second under the first's header; None for two tables.

    A row of names at the page's end heads what follows. A row that the page cuts, which has no first cell in the second
    part, goes to the first whole.
    """
    names = before.names if before.page < after.page else None
    header = names.cells if names else before.header
    if not header or not _is_at(names or before, after.values or after):
        return None
    if names:
        before = replace(before, rows=before.rows[:-1], names=None)
    if after.values:
        # Of two cells, the first may name the second.
        if len(after.values.cells) != len(header) or (len(header) == 2 and not names):
            return None
        said = _headed(header, after.values.cells)
        return before, replace(after, rows=[[said], *after.rows[1:]], values=None)
    if not NUMBER.match(after.caption or "0") or any(len(row) != len(header) for row in after.rows):
        return None
    if after.header and list(after.header) != list(header):
        if not after.guessed and not any(char.isdecimal() for name in after.header for char in name):
            return None
        after = replace(after, rows=[after.header, *after.rows])
    after = replace(after, header=header, guessed=before.guessed)
    first = after.rows[0] if after.rows else []
    if before.header and before.rows and first and not first[0] and any(first):
        last = before.rows[-1]
        whole = [join_lines([old, new]) if old and new else old or new for old, new in zip(last, first, strict=True)]
        return replace(before, rows=[*before.rows[:-1], whole]), replace(after, rows=after.rows[1:])
    return before, after


def _is_at(before: Table | FormRow, after: Table | FormRow) -> bool:
    return abs(before.x0 - after.x0) <= SAME_PLACE and abs(before.x1 - after.x1) <= SAME_PLACE
