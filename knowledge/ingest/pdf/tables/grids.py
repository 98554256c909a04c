"""Cells from the rules that are drawn on a page: each once, over as many rows and columns as it spans; pure."""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from knowledge.ingest.pdf.types import Rule

#: Rules this near are one, as the two of a double border; and rules touch, or go on, over gaps this wide.
NEAR = 3.0
#: Where two rules alone make cells, none is smaller.
NARROWEST, LOWEST = 30.0, 8.0
#: A grid with more places is a drawing.
MOST_PLACES = 10_000


class Cell(NamedTuple):
    """A cell over `rows` rows from `row` and `columns` columns from `column`."""

    row: int
    column: int
    rows: int
    columns: int


class Stretch(NamedTuple):
    """A part of a rule: where it lies, and from where to where it goes."""

    at: float
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Grid:
    """Rules that touch, as cells; `xs` and `ys` are the borders of its columns and rows."""

    xs: Sequence[float]
    ys: Sequence[float]
    cells: Sequence[Cell]

    @property
    def box(self) -> tuple[float, float, float, float]:
        return self.xs[0], self.ys[0], self.xs[-1], self.ys[-1]

    @property
    def area(self) -> float:
        return (self.xs[-1] - self.xs[0]) * (self.ys[-1] - self.ys[0])

    def place(self, x: float, y: float) -> tuple[int, int] | None:
        """Return the row and column of a point, or None outside."""
        row, column = bisect_right(self.ys, y) - 1, bisect_right(self.xs, x) - 1
        return (row, column) if 0 <= row < len(self.ys) - 1 and 0 <= column < len(self.xs) - 1 else None


def find_grids(rules: Iterable[Rule]) -> list[Grid]:
    """Find the grids of a page, the smallest first, so that a table in a cell comes before the table it stands in.

    A side that has no rule is closed where the rules that cross it end.
    """
    level, upright = [], []
    for rule in rules:
        if rule.is_horizontal:
            level.append(Stretch((rule.top + rule.bottom) / 2, rule.x0, rule.x1))
        else:
            upright.append(Stretch((rule.x0 + rule.x1) / 2, rule.top, rule.bottom))
    grids = [_grid(*parts) for parts in _touching(_merged(level), _merged(upright))]
    return sorted((grid for grid in grids if grid), key=lambda grid: grid.area)


def _merged(stretches: Iterable[Stretch]) -> list[Stretch]:
    """Merge what lies on one line, or next to it, and goes on."""
    lines: list[list[Stretch]] = []
    for stretch in sorted(stretches):
        if lines and stretch.at - lines[-1][0].at <= NEAR:
            lines[-1].append(stretch)
        else:
            lines.append([stretch])
    found: list[Stretch] = []
    for line in lines:
        at = sum(stretch.at for stretch in line) / len(line)
        start = end = None
        for stretch in sorted(line, key=lambda stretch: stretch.start):
            if start is None or end is None:
                start, end = stretch.start, stretch.end
            elif stretch.start - end <= NEAR:
                end = max(end, stretch.end)
            else:
                found.append(Stretch(at, start, end))
                start, end = stretch.start, stretch.end
        if start is not None and end is not None:
            found.append(Stretch(at, start, end))
    return found


def _touching(level: Sequence[Stretch], upright: Sequence[Stretch]) -> list[tuple[list[Stretch], list[Stretch]]]:
    """Group level and upright rules that touch."""
    heights = [rule.at for rule in level]
    parent = list(range(len(level) + len(upright)))

    def root(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    for number, rule in enumerate(upright, start=len(level)):
        for index in range(bisect_left(heights, rule.start - NEAR), bisect_right(heights, rule.end + NEAR)):
            if level[index].start - NEAR <= rule.at <= level[index].end + NEAR:
                parent[root(index)] = root(number)
    groups: dict[int, tuple[list[Stretch], list[Stretch]]] = defaultdict(lambda: ([], []))
    for index, rule in enumerate([*level, *upright]):
        groups[root(index)][0 if index < len(level) else 1].append(rule)
    return [group for group in groups.values() if group[0] and group[1] and _makes_grid(*group)]


def _makes_grid(level: Sequence[Stretch], upright: Sequence[Stretch]) -> bool:
    """Return whether there are three rules or more, or two that cross: a header of two names over one row."""
    if len(level) + len(upright) >= 3:
        return True
    (across,), (down,) = level, upright
    beside = min(down.at - across.start, across.end - down.at)
    beyond = min(across.at - down.start, down.end - across.at)
    return beside >= NARROWEST and beyond >= LOWEST


def _grid(level: Sequence[Stretch], upright: Sequence[Stretch]) -> Grid | None:
    xs, ys = _borders(upright, level), _borders(level, upright)
    columns, rows = len(xs) - 1, len(ys) - 1
    if columns < 2 or rows < 1 or columns * rows > MOST_PLACES:
        return None
    return Grid(xs, ys, _cells(rows, columns, _walls(upright, xs, ys), _walls(level, ys, xs)))


def _borders(across: Sequence[Stretch], along: Sequence[Stretch]) -> list[float]:
    """List where rules lie, and where those that cross them begin and end."""
    found: list[float] = []
    for value in sorted(rule.at for rule in across):
        if not found or value - found[-1] > NEAR:
            found.append(value)
    for value in sorted(end for rule in along for end in (rule.start, rule.end)):
        place = bisect_left(found, value)
        if all(abs(value - near) > NEAR for near in found[max(0, place - 1) : place + 1]):
            found.insert(place, value)
    return found


def _walls(rules: Sequence[Stretch], borders: Sequence[float], others: Sequence[float]) -> set[tuple[int, int]]:
    """List (border, interval between the other borders) where a rule stands."""
    found: set[tuple[int, int]] = set()
    for rule in rules:
        border = bisect_right(borders, rule.at + 0.01) - 1
        for index in range(len(others) - 1):
            if rule.start - NEAR <= (others[index] + others[index + 1]) / 2 <= rule.end + NEAR:
                found.add((border, index))
    return found


def _cells(rows: int, columns: int, upright: set[tuple[int, int]], level: set[tuple[int, int]]) -> list[Cell]:
    """Join places that no rule parts; where rules end within what is joined, it is cut at its rows."""
    owner: dict[tuple[int, int], int] = {}
    members: list[list[tuple[int, int]]] = []
    for start in ((row, column) for row in range(rows) for column in range(columns)):
        if start in owner:
            continue
        number, waiting = len(members), [start]
        owner[start] = number
        members.append([])
        while waiting:
            row, column = waiting.pop()
            members[number].append((row, column))
            for place, is_parted in (
                ((row, column + 1), (column + 1, row) in upright),
                ((row, column - 1), (column, row) in upright),
                ((row + 1, column), (row + 1, column) in level),
                ((row - 1, column), (row, column) in level),
            ):
                if not is_parted and 0 <= place[0] < rows and 0 <= place[1] < columns and place not in owner:
                    owner[place] = number
                    waiting.append(place)
    return sorted(cell for places in members for cell in _rectangles(places, upright, level))


def _rectangles(
    places: Sequence[tuple[int, int]], upright: set[tuple[int, int]], level: set[tuple[int, int]]
) -> list[Cell]:
    by_row: Mapping[int, list[int]] = defaultdict(list)
    for row, column in places:
        by_row[row].append(column)
    going_on: dict[tuple[int, int], Cell] = {}
    found: list[Cell] = []
    for row in sorted(by_row):
        runs: list[tuple[int, int]] = []
        for column in sorted(by_row[row]):
            if runs and runs[-1][1] == column and (column, row) not in upright:
                runs[-1] = runs[-1][0], column + 1
            else:
                runs.append((column, column + 1))
        here: dict[tuple[int, int], Cell] = {}
        for run in runs:
            above = going_on.get(run)
            is_open = not any((row, column) in level for column in range(*run))
            if above and above.row + above.rows == row and is_open:
                here[run] = above._replace(rows=above.rows + 1)
                del going_on[run]
            else:
                here[run] = Cell(row, run[0], 1, run[1] - run[0])
        found += going_on.values()
        going_on = here
    return [*found, *going_on.values()]
