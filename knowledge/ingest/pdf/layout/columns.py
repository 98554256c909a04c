"""The columns of a page, read one after the other; pure."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from statistics import median

from knowledge.ingest.pdf.layout.segments import Segment
from knowledge.ingest.pdf.types import Form, Table

#: A column is at least this wide, and its lines fill this share of it.
COLUMN_WIDTH, COLUMN_FILL = 90.0, 0.55
COLUMN_LINES = 5
GUTTER = 6.0
MOST_SPLITS = 3
Item = Segment | Table | Form
#: What stands in a column, and its left and right edge.
Frame = tuple[list[Item], float, float]


def frames(items: list[Item], *, columns: bool) -> Iterator[Frame]:
    """Yield (contents, left and right edge) of each column, in reading order."""
    if not items:
        return
    yield from _split(
        items, min(item.x0 for item in items), max(item.x1 for item in items), 0 if columns else MOST_SPLITS
    )


def _split(items: list[Item], left: float, right: float, depth: int) -> Iterator[Frame]:
    gutter = _gutter(items, left, right) if depth < MOST_SPLITS else None
    if gutter is None:
        yield items, left, right
        return
    start, end = gutter
    crossing = sorted((item for item in items if item.x0 < start and item.x1 > end), key=_top)
    bands: list[tuple[list[Item], list[Item]]] = [([], []) for _ in range(len(crossing) + 1)]
    tops = [_top(item) for item in crossing]
    for item in items:
        if item.x0 < start and item.x1 > end:
            continue
        band = sum(top < _top(item) for top in tops)
        bands[band][0 if (item.x0 + item.x1) / 2 < (start + end) / 2 else 1].append(item)
    wide: list[Item] = []
    for (lefts, rights), separator in zip(bands, [*crossing, None], strict=True):
        if lefts and rights and not _beside(lefts, rights):
            if wide:
                yield wide, left, right
                wide = []
            yield from _split(lefts, min(item.x0 for item in lefts), start, depth + 1)
            yield from _split(rights, end, max(item.x1 for item in rights), depth + 1)
        else:
            wide += lefts + rights
        if separator is not None:
            wide.append(separator)
    if wide:
        yield wide, left, right


def _beside(lefts: Sequence[Item], rights: Sequence[Item]) -> bool:
    """Return whether they are a line or two with a gap, not columns."""
    return (
        len(lefts) <= 2
        and len(rights) <= 2
        and max(map(_top, (*lefts, *rights))) - min(map(_top, (*lefts, *rights))) < 20
    )


def _top(item: Item) -> float:
    return item.top


def _gutter(items: Sequence[Item], left: float, right: float) -> tuple[float, float] | None:
    """Find the empty strip between two columns of prose, if there are two."""
    if right - left < 2 * COLUMN_WIDTH:
        return None
    width = int(right - left) + 1
    crossings = [0] * (width + 1)
    for item in items:
        start, end = max(0, int(item.x0 - left)), min(width, int(item.x1 - left) + 1)
        crossings[start] += 1
        crossings[end] -= 1
    covered, total = [], 0
    for change in crossings[:width]:
        total += change
        covered.append(total)
    from_x, to_x = int(0.2 * width), int(0.8 * width)
    fewest = min(covered[from_x:to_x])
    best: tuple[float, float] | None = None
    for is_empty, run in groupby(range(from_x, to_x), key=lambda x: covered[x] <= fewest + 1):
        strip = list(run)
        if not is_empty:
            continue
        low = min(covered[x] for x in strip)
        core = [x for x in strip if covered[x] == low]
        strip_start, strip_end = left + core[0], left + core[-1] + 1
        is_wider = best is None or strip_end - strip_start > best[1] - best[0]
        if is_wider and strip_end - strip_start >= GUTTER and _are_columns(items, left, right, strip_start, strip_end):
            best = strip_start, strip_end
    return best


def _are_columns(items: Sequence[Item], left: float, right: float, start: float, end: float) -> bool:
    lefts = [item for item in items if item.x1 <= start + 1]
    rights = [item for item in items if item.x0 >= end - 1]
    crossing = len(items) - len(lefts) - len(rights)
    if min(len(lefts), len(rights)) < COLUMN_LINES or crossing > 1.5 * min(len(lefts), len(rights)):
        return False
    left_width, right_width = start - left, right - end
    if min(left_width, right_width) < COLUMN_WIDTH:
        return False
    return all(
        median(sorted(item.x1 - item.x0 for item in side)[len(side) // 4 :]) >= COLUMN_FILL * width
        for side, width in ((lefts, left_width), (rights, right_width))
    )
