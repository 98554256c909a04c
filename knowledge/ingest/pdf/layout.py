"""A page's characters into lines in reading order, with columns read one after the other; pure."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from knowledge.ingest.pdf.columns import Item, frames
from knowledge.ingest.pdf.segments import Segment, segments_of, text_of
from knowledge.ingest.pdf.values import Char, Element, Line, Part, Table

BOLD = re.compile(
    r"bold|black|heavy|semib|demi|[-,]bd|cmbx|cmssbx|sfbx|ecbx|bx\d|nimbusromno9l-medi|medi(?:ital)?$", re.I
)
MONO = re.compile(r"mono|courier|typewriter|cmtt|sftt|ectt|cmsltt|consol|menlo|nimbusmonl|inconsol|lmtt", re.I)


def lines_of(
    chars: Sequence[Char], tables: Sequence[Table] = (), *, number: int = 1, columns: bool = True
) -> list[Element]:
    """The page's lines and tables in reading order."""
    items: list[Item] = [*segments_of(chars), *tables]
    found: list[Element] = []
    for frame, (members, left, right) in enumerate(frames(items, columns=columns)):
        members.sort(key=lambda item: item.top if isinstance(item, Table) else item.baseline)
        for item in _rows(members):
            if isinstance(item, Table):
                found.append(replace(item, frame=frame))
            elif line := _line(item, number, frame, left, right):
                found.append(line)
    return found


def _rows(members: Iterable[Item]) -> Iterator[list[Segment] | Table]:
    row: list[Segment] = []
    for item in members:
        if isinstance(item, Table):
            if row:
                yield row
                row = []
            yield item
        elif row and item.baseline - row[0].baseline <= max(1.2, 0.15 * item.size):
            row.append(item)
        else:
            if row:
                yield row
            row = [item]
    if row:
        yield row


def _line(row: list[Segment], number: int, frame: int, left: float, right: float) -> Line | None:
    row.sort(key=lambda segment: segment.x0)
    parts = tuple(Part(text, seg.x0, seg.x1) for seg in row if (text := text_of(seg.chars)))
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
        bold=sum(bool(BOLD.search(char.font)) for char in letters) >= 0.9 * len(letters),
        mono=sum(bool(MONO.search(char.font)) for char in letters) >= 0.9 * len(letters),
        parts=parts,
        frame=frame,
        left=left,
        right=right,
    )
