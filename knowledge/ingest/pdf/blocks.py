"""Lines into blocks: headings, paragraphs joined over columns and pages, list items, code, tables, footnotes; pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from statistics import median
from typing import Literal

from knowledge.ingest.pdf.headings.candidates import CAPTION, DEEPEST
from knowledge.ingest.pdf.headings.detection import Heading
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
    """A part of a page: `lines`, of which the first is on `page`, or a table."""

    kind: Kind
    page: int
    lines: list[Line] = field(default_factory=list)
    heading: Heading | None = None
    table: Table | None = None

    @property
    def first(self) -> Line:
        return self.lines[0]

    @property
    def last(self) -> Line:
        return self.lines[-1]


class Composer:
    """Knows of a document what tells one paragraph from the next: its leading and where its full lines end."""

    def __init__(self, flow: Sequence[Element], headings: Mapping[int, Heading], body_size: float) -> None:
        lines = [element for element in flow if isinstance(element, Line)]
        self._flow, self._headings, self._body_size = flow, headings, body_size
        self._mono_body = sum(line.mono for line in lines) > 0.5 * len(lines)
        self._leading = _leading(lines)
        self._right = _right_edges(lines)

    def blocks(self) -> list[Block]:
        blocks: list[Block] = []
        for _frame, run in groupby(enumerate(self._flow), key=lambda pair: (pair[1].page, pair[1].frame)):
            main, notes = self._without_footnotes(list(run))
            made = self._blocks(main)
            last = next((place for place in reversed(range(len(blocks))) if blocks[place].kind != "note"), None)
            if made and last is not None and self._continues(blocks[last], made[0]):
                # The notes under its first half go before the paragraph, so that it stays one.
                before = blocks.pop(last)
                before.lines += made.pop(0).lines
                blocks.append(before)
            blocks += made
            for note in self._blocks(notes):
                note.kind = "note" if note.kind == "paragraph" else note.kind
                blocks.append(note)
        _join_tables(blocks)
        blocks = _with_names_of_records(blocks)
        _put_captions_first(blocks)
        return blocks

    def _without_footnotes(
        self, indexed: list[tuple[int, Element]]
    ) -> tuple[list[tuple[int, Element]], list[tuple[int, Element]]]:
        """Split into (text, footnotes): small lines at the end of a column, from the first that begins like a note."""
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
        return (indexed[:cut], indexed[cut:]) if cut else (indexed, [])

    def _blocks(self, indexed: Sequence[tuple[int, Element]]) -> list[Block]:
        blocks: list[Block] = []
        skip = 0
        for index, element in indexed:
            if skip:
                skip -= 1
                continue
            if heading := self._headings.get(index):
                lines = [line for line in self._flow[index : index + heading.count] if isinstance(line, Line)]
                blocks.append(Block("heading", element.page, lines, heading=heading))
                skip = heading.count - 1
            elif isinstance(element, Table):
                blocks.append(Block("table", element.page, table=element))
            elif blocks and blocks[-1].lines and self._same_block(blocks[-1], element):
                blocks[-1].lines.append(element)
            else:
                blocks.append(Block(self._kind(element), element.page, [element]))
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
        return self._has_room(last, line)

    def _has_room(self, last: Line, line: Line) -> bool:
        """Return whether the next line's first word would have fitted on the line before."""
        room = self._right.get((last.page, last.frame), last.right) - last.x1
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
        return line.text[0].islower() or not self._has_room(last, line)


def _join_tables(blocks: Sequence[Block]) -> None:
    """Give the second part of a table that runs over a page the first part's header."""
    before: Block | None = None
    for block in blocks:
        if (
            before
            and before.table
            and block.table
            and block.page <= before.page + 1
            and (parts := joined_parts(before.table, block.table))
        ):
            before.table, block.table = parts
        if block.kind != "note":
            before = block


def _with_names_of_records(blocks: Sequence[Block]) -> list[Block]:
    """Put a heading above each record that has none: the name of what it describes, such as a module's."""
    found: list[Block] = []
    last: Heading | None = None
    level = 0
    for block in blocks:
        name = block.table.record if block.table else ""
        if block.kind == "paragraph":
            name = record_in_line(block.first)
        if name and last and comparable(last.text) == comparable(name):
            level = last.level
        elif name:
            # Where a heading stands right above, it is a chapter's.
            is_chapter = bool(found) and found[-1].kind == "heading"
            level = level or (min(DEEPEST, last.level + is_chapter) if last else 1)
            last = Heading(name, level, 0)
            found.append(Block("heading", block.page, heading=last))
        last = block.heading or last
        found.append(block)
    return found


def _put_captions_first(blocks: list[Block]) -> None:
    """Put a caption that stands under its table above it."""
    for index in range(len(blocks) - 1):
        table, under = blocks[index : index + 2]
        above = blocks[index - 1] if index else None
        if table.table and _is_caption(under) and under.page == table.page and not (above and _is_caption(above)):
            blocks[index : index + 2] = under, table


def _is_caption(block: Block) -> bool:
    return bool(block.lines) and not block.heading and bool(CAPTION.match(block.first.text))


def _leading(lines: Sequence[Line]) -> dict[int, float]:
    """Measure the usual distance of baselines, by the size of the letters."""
    gaps: dict[int, list[float]] = defaultdict(list)
    for upper, lower in pairwise(lines):
        gap = lower.baseline - upper.baseline
        if (upper.page, upper.frame, upper.style) == (
            lower.page,
            lower.frame,
            lower.style,
        ) and 0 < gap < 2.2 * lower.size:
            gaps[round(lower.size)].append(gap)
    return {size: min(median(values), 1.8 * size) for size, values in gaps.items() if len(values) >= 3}


def _right_edges(lines: Sequence[Line]) -> dict[tuple[int, int], float]:
    """Find where the full lines of each column end."""
    document = Counter(round(line.x1) for line in lines if len(line.text) > 40)
    common = document.most_common(1)[0][0] if document else 0
    edges: dict[tuple[int, int], float] = {}
    for key, run in groupby(lines, key=lambda line: (line.page, line.frame)):
        own = list(run)
        edge = max(line.x1 for line in own)
        # A column of short lines is no evidence: the usual edge of the document is used.
        edges[key] = max(edge, common) if own[0].left <= common - 60 and own[0].right >= common - 60 else edge
    return edges
