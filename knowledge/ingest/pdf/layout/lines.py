"""A page's characters into lines in reading order; pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from knowledge.ingest.pdf.layout.columns import Item, frames
from knowledge.ingest.pdf.layout.segments import Segment, group_segments, join_characters
from knowledge.ingest.pdf.types import Char, Element, Form, Line, Part, Table

BOLD = re.compile(
    r"bold|black|heavy|semib|demi|[-,]bd|cmbx|cmssbx|sfbx|ecbx|bx\d|nimbusromno9l-medi|medi(?:ital)?$", re.I
)
MONO = re.compile(r"mono|courier|typewriter|cmtt|sftt|ectt|cmsltt|consol|menlo|nimbusmonl|inconsol|lmtt", re.I)


@lru_cache(maxsize=256)
def is_bold(font: str) -> bool:
    return bool(BOLD.search(font))


@lru_cache(maxsize=256)
def is_mono(font: str) -> bool:
    return bool(MONO.search(font))


def arrange_lines(
    chars: Sequence[Char], boxes: Sequence[Table | Form] = (), *, number: int = 1, columns: bool = True
) -> list[Element]:
    """List the page's lines, tables and what stands in its forms in reading order."""
    items: list[Item] = [*group_segments(chars), *boxes]
    found: list[Element] = []
    frame = 0
    for members, left, right in frames(items, columns=columns):
        members.sort(key=lambda item: item.baseline if isinstance(item, Segment) else item.top)
        for item in _rows(members):
            if isinstance(item, Form):
                found += [replace(element, frame=frame + 1 + element.frame) for element in item.elements]
                frame = found[-1].frame + 1
            elif isinstance(item, Table):
                found.append(replace(item, frame=frame))
            elif line := _line(item, number, frame, left, right):
                found.append(line)
        frame += 1
    return found


def _rows(members: Iterable[Item]) -> Iterator[list[Segment] | Table | Form]:
    row: list[Segment] = []
    for item in members:
        if not isinstance(item, Segment):
            if row:
                yield row
                row = []
            yield item
        elif row and (item.baseline - row[0].baseline <= max(1.2, 0.15 * item.size) or _is_value(item, row)):
            row.append(item)
        else:
            if row:
                yield row
            row = [item]
    if row:
        yield row


def _is_value(segment: Segment, row: Sequence[Segment]) -> bool:
    """Return whether it stands a little below a label that it belongs to."""
    label = max(row, key=lambda other: other.x1)
    return (
        label.chars[-1].text == ":"
        and label.x1 < segment.x0
        and segment.baseline - label.baseline <= 0.4 * min(label.size, segment.size)
    )


def _line(row: list[Segment], number: int, frame: int, left: float, right: float) -> Line | None:
    row.sort(key=lambda segment: segment.x0)
    parts = tuple(Part(text, seg.x0, seg.x1) for seg in row if (text := join_characters(seg.chars)))
    if not parts:
        return None
    chars = [char for segment in row for char in segment.chars]
    letters = [char for char in chars if char.text.isalnum()] or chars
    main = max(row, key=lambda segment: len(segment.chars))
    return Line(
        page=number,
        text=" ".join(part.text for part in parts),
        x0=parts[0].x0,
        x1=parts[-1].x1,
        top=min(segment.top for segment in row),
        baseline=main.baseline,
        size=main.size,
        bold=sum(is_bold(char.font) for char in letters) >= 0.9 * len(letters),
        mono=sum(is_mono(char.font) for char in letters) >= 0.9 * len(letters),
        parts=parts,
        frame=frame,
        left=left,
        right=right,
    )
