"""Finds a page's tables and forms, the ones within cells before the ones around them; pure."""

from collections.abc import Sequence

from knowledge.ingest.pdf.tables.forms import read_grid
from knowledge.ingest.pdf.tables.grids import find_grids
from knowledge.ingest.pdf.tables.unruled import booktabs, read_open
from knowledge.ingest.pdf.types import Char, Form, Rule, Table

Box = tuple[float, float, float, float]


def find_tables(chars: Sequence[Char], rules: Sequence[Rule], *, number: int) -> tuple[list[Table | Form], list[Char]]:
    """Find the page's tables and forms, and the characters outside them."""
    found: list[Table | Form] = []
    rest = list(chars)
    for grid in find_grids(rules):
        inside, outside = _parted(rest, grid.box)
        within = [box for box in found if _is_within(box, grid.box)]
        if not inside and not within:
            continue
        if made := read_grid(grid, inside, within, number=number):
            found = [*(box for box in found if box not in within), made]
            rest = outside
    upright = [rule for rule in rules if not rule.is_horizontal]
    for *box, under_header in booktabs([rule for rule in rules if rule.is_horizontal], upright):
        x0, top, x1, bottom = box
        inside, outside = _parted(rest, (x0, top, x1, bottom))
        if table := read_open(inside, (x0, top, x1, bottom), under_header, number):
            found.append(table)
            rest = outside
    return found, rest


def _parted(chars: Sequence[Char], box: Box) -> tuple[list[Char], list[Char]]:
    """Part the characters into those inside a box and the others."""
    x0, top, x1, bottom = (2 * side for side in box)
    inside: list[Char] = []
    outside: list[Char] = []
    for char in chars:
        is_inside = x0 <= char.x0 + char.x1 <= x1 and top <= char.top + char.bottom <= bottom
        (inside if is_inside else outside).append(char)
    return inside, outside


def _is_within(inner: Table | Form, box: Box) -> bool:
    x, y = (inner.x0 + inner.x1) / 2, (inner.top + inner.bottom) / 2
    return box[0] <= x <= box[2] and box[1] <= y <= box[3]
