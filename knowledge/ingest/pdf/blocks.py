"""Lines into blocks: headings, paragraphs joined over columns and pages, list items, code, tables, footnotes; pure."""

import re
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median
from typing import Literal

from knowledge.ingest.pdf.headings.candidates import CAPTION, DEEPEST, body_style
from knowledge.ingest.pdf.headings.detection import Heading
from knowledge.ingest.pdf.pages import Pages
from knowledge.ingest.pdf.tables.records import record_in_line
from knowledge.ingest.pdf.tables.sentences import joined_parts
from knowledge.ingest.pdf.types import Element, Line, Table
from knowledge.ingest.pdf.words import HYPHENS, comparable

BULLET = re.compile(r"^[•●▪■◦‣∙·○►▶➢✓–—*\-](?=\s)\s+")
LONE_BULLET = re.compile(r"^[•●▪■◦‣∙○►▶➢✓]\s*")
#: Bullets that no program's text begins with.
ROUND = re.compile(r"^[•●▪■◦‣–]\s")
ITEM = re.compile(r"^(?:\(?\d{1,2}[.)]|\(?[a-z]{1,2}\)|\([ivx]{1,5}\)|\[\d{1,3}\])\s+")
#: Absätze of a German regulation: paragraphs, each with its number.
CLAUSE = re.compile(r"^\(\d{1,2}[a-z]?\)\s")
FOOTNOTE = re.compile(r"^(?:\d{1,3}|[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}|[*†‡])\s?\S")
ENDED = re.compile(r"[.!?:;…]['\"”“’»)\]]*[⁰¹²³⁴⁵⁶⁷⁸⁹]*$")
ADDRESS = re.compile(r"^\S{0,3}\s?<?(?:https?://|www\.|mailto:)\S+$")

Kind = Literal["heading", "paragraph", "item", "code", "table", "note"]


@dataclass(slots=True)
class Block:
    """A part of a page: `lines`, of which the first is on `page`, or a table.

    `right` is where the full lines of its last column end.
    """

    kind: Kind
    page: int
    lines: list[Line] = field(default_factory=list)
    heading: Heading | None = None
    table: Table | None = None
    right: float = 0

    @property
    def first(self) -> Line:
        return self.lines[0]

    @property
    def last(self) -> Line:
        return self.lines[-1]


def compose_blocks(pages: Pages, headings: Mapping[int, Heading]) -> Iterator[Block]:
    """Yield the blocks of all pages; `headings` are by the index of their first line among all elements."""
    blocks = _with_joined_tables(_Composer(pages, headings).blocks())
    return _with_captions_first(_with_names_of_records(blocks))


class _Composer:
    """Knows of a document what tells one paragraph from the next: its leading and where its full lines end."""

    def __init__(self, pages: Pages, headings: Mapping[int, Heading]) -> None:
        lines = pages.lines()
        self._flow, self._headings, self._body_size = pages.elements(), headings, body_style(lines)[0]
        self._mono_body = sum(line.mono for line in lines) > 0.5 * len(lines)
        self._leading = _leading(lines)
        ends = Counter(round(line.x1) for line in lines if len(line.text) > 40)
        self._usual_right = ends.most_common(1)[0][0] if ends else 0

    def blocks(self) -> Iterator[Block]:
        last: list[Block] = []  # the last block, and the notes below it
        for _frame, run in groupby(enumerate(self._flow), key=lambda pair: (pair[1].page, pair[1].frame)):
            column = list(run)
            right = self._right_edge([element for _index, element in column if isinstance(element, Line)])
            is_below_table = bool(last) and last[0].table is not None and last[0].page == column[0][1].page
            main, notes = self._without_footnotes(column, may_be_all=is_below_table)
            made = self._blocks(main, right)
            if made and last and self._continues(last[0], made[0]):
                # The notes under its first half go before the paragraph, so that it stays one.
                before = last.pop(0)
                before.lines += made.pop(0).lines
                before.right = right
                last.append(before)
            last += made
            for note in self._blocks(notes, right):
                note.kind = "note" if note.kind == "paragraph" else note.kind
                last.append(note)
            done = next((place for place in reversed(range(len(last))) if last[place].kind != "note"), len(last))
            yield from last[:done]
            del last[:done]
        yield from last

    def _right_edge(self, lines: Sequence[Line]) -> float:
        """Find where the full lines of a column end."""
        if not lines:
            return 0
        edge, least = max(line.x1 for line in lines), self._usual_right - 60
        # A column of short lines is no evidence: the usual edge of the document is used.
        return max(edge, self._usual_right) if lines[0].left <= least <= lines[0].right else edge

    def _without_footnotes(
        self, indexed: list[tuple[int, Element]], *, may_be_all: bool
    ) -> tuple[list[tuple[int, Element]], list[tuple[int, Element]]]:
        """Split into (text, footnotes): small lines at the end of a column, from the first that begins like a note.

        With `may_be_all` there need not be text above them.
        """
        cut = len(indexed)
        for position in range(len(indexed) - 1, -1, -1):
            element = indexed[position][1]
            if (
                not isinstance(element, Line)
                or element.in_cell
                or element.size > 0.93 * self._body_size
                or element.mono
            ):
                break
            if FOOTNOTE.match(element.text):
                cut = position
        return (indexed[:cut], indexed[cut:]) if cut or may_be_all else (indexed, [])

    def _blocks(self, indexed: Sequence[tuple[int, Element]], right: float) -> list[Block]:
        blocks: list[Block] = []
        skip = 0
        for index, element in indexed:
            if skip:
                skip -= 1
                continue
            if heading := self._headings.get(index):
                lines = [line for line in self._flow[index : index + heading.count] if isinstance(line, Line)]
                blocks.append(Block("heading", element.page, lines, heading=heading, right=right))
                skip = heading.count - 1
            elif isinstance(element, Table):
                blocks.append(Block("table", element.page, table=element, right=right))
            elif blocks and blocks[-1].lines and self._same_block(blocks[-1], element):
                blocks[-1].lines.append(element)
            else:
                blocks.append(Block(self._kind(element), element.page, [element], right=right))
        return blocks

    def _kind(self, line: Line) -> Kind:
        if line.mono and ROUND.match(line.text):
            return "item"
        if line.mono and not self._mono_body and not ADDRESS.match(line.text):
            return "code"
        if (
            BULLET.match(line.text)
            or LONE_BULLET.match(line.text)
            or (ITEM.match(line.text) and not CLAUSE.match(line.text))
        ):
            return "item"
        return "paragraph"

    def _same_block(self, block: Block, line: Line) -> bool:
        last, kind = block.last, self._kind(line)
        if block.kind in {"heading", "table"} or (kind == "code") != (block.kind == "code"):
            return False
        gap = line.baseline - last.baseline
        usual = self._leading.get(round(line.size), 1.25 * line.size)
        if block.kind == "code":
            return gap < 2.6 * usual
        if kind == "item" or CLAUSE.match(line.text):
            return False
        if abs(line.size - last.size) > 0.12 * last.size or gap > 1.3 * max(usual, line.size) or gap < -1:
            return False
        if last.in_cell and last is block.first and last.text.endswith(":"):
            return True  # a label and its value
        if line.bold != last.bold and last is block.first and CAPTION.match(line.text):
            return False
        if line.bold and not last.bold and len(line.parts) == 1 and (line.in_cell or ENDED.search(last.text)):
            return False
        return not self._begins(block, line)

    def _begins(self, block: Block, line: Line) -> bool:
        """Decide by the indentation, or the room left on the line before, whether a new paragraph begins."""
        last, em = block.last, line.size
        if line.text[0].islower() and not ENDED.search(last.text):
            return False
        if block.kind == "item":
            hanging = block.lines[1].x0 if len(block.lines) > 1 else None
            if hanging is not None and abs(line.x0 - hanging) > 0.8 * em:
                return True
            if hanging is None and line.x0 < block.first.x0 - 0.5 * em:
                return True
        elif line.x0 > last.x0 + 0.8 * em or (len(block.lines) > 1 and line.x0 < last.x0 - 0.8 * em):
            return not self._centred(last, line)
        return self._has_room(block, line)

    @staticmethod
    def _has_room(block: Block, line: Line) -> bool:
        """Return whether the next line's first word would have fitted on the line before."""
        last = block.last
        room = block.right - last.x1
        word = len(line.text.split(maxsplit=1)[0])
        return room > (0.55 * word + 0.3) * line.size + (0.5 if ENDED.search(last.text) else 2.5) * line.size

    @staticmethod
    def _centred(last: Line, line: Line) -> bool:
        return abs((last.x0 + last.x1) - (line.x0 + line.x1)) < line.size and abs(last.x0 - line.x0) > 0.8 * line.size

    def _continues(self, before: Block, block: Block) -> bool:
        """Return whether a paragraph continues in the next column or on the next page."""
        if before.kind not in {"paragraph", "item"} or block.kind != "paragraph" or CLAUSE.match(block.first.text):
            return False
        last, line = before.last, block.first
        if (last.in_cell or line.in_cell) and not (last.in_cell and line.in_cell and last.page < line.page):
            return False
        if abs(line.size - last.size) > 0.12 * last.size or line.bold != last.bold:
            return False
        if last.text.endswith(HYPHENS) and line.text[0].islower():
            return True
        if ENDED.search(last.text):
            return False
        return line.text[0].islower() or not self._has_room(before, line)


def _with_joined_tables(blocks: Iterable[Block]) -> Iterator[Block]:
    """Give the second part of a table that runs over a page the first part's header."""
    last: list[Block] = []  # the last block, and the notes below it
    for block in blocks:
        if last and (before := last[0].table) and block.table and block.page <= last[0].page + 1:
            last[0].table, block.table = joined_parts(before, block.table) or (before, block.table)
        if block.kind != "note":
            yield from last
            last = []
        last.append(block)
    yield from last


def _with_names_of_records(blocks: Iterable[Block]) -> Iterator[Block]:
    """Put a heading above each record that has none: the name of what it describes, such as a module's."""
    last: Heading | None = None
    level = 0
    is_below_heading = False
    for block in blocks:
        name = block.table.record if block.table else ""
        if block.kind == "paragraph":
            name = record_in_line(block.first)
        if name and last and comparable(last.text) == comparable(name):
            level = last.level
        elif name:
            # Where a heading stands right above, it is a chapter's.
            level = level or (min(DEEPEST, last.level + is_below_heading) if last else 1)
            last = Heading(name, level, 0)
            yield Block("heading", block.page, heading=last)
        last = block.heading or last
        is_below_heading = block.kind == "heading"
        yield block


def _with_captions_first(blocks: Iterable[Block]) -> Iterator[Block]:
    """Put a caption that stands under its table above it."""
    above: Block | None = None
    last: Block | None = None
    for block in blocks:
        if (
            last
            and last.table
            and _is_caption(block)
            and block.page == last.page
            and not (above and _is_caption(above))
        ):
            above = block
            yield block
            continue
        if last:
            yield last
        above, last = last, block
    if last:
        yield last


def _is_caption(block: Block) -> bool:
    return bool(block.lines) and not block.heading and bool(CAPTION.match(block.first.text))


def _leading(lines: Iterable[Line]) -> dict[int, float]:
    """Measure the usual distance of baselines, by the size of the letters."""
    gaps: dict[int, array[float]] = defaultdict(lambda: array("d"))
    for upper, lower in pairwise(lines):
        gap = lower.baseline - upper.baseline
        if (upper.page, upper.frame, upper.style) == (
            lower.page,
            lower.frame,
            lower.style,
        ) and 0 < gap < 2.2 * lower.size:
            gaps[round(lower.size)].append(gap)
    return {size: min(median(values), 1.8 * size) for size, values in gaps.items() if len(values) >= 3}
