"""Cuts a Markdown document into chunks: along its headings first, then along its blocks, then inside a block.

A chunk never crosses a heading. The blocks of one section are packed greedily, in reading order, up to the limit. A
block that fits is never cut. One that does not fit is taken apart at its own seams: a list between its items, a quote
or an item between its blocks, a table between its rows, code and raw HTML between lines, a paragraph between sentences,
a sentence between words and a word, at last, between characters.

Text is kept as the source has it, with these exceptions: line ends are normalised, NUL is removed, thematic breaks and
headings without words are dropped, whitespace shrinks where blocks or parts of one meet, a chunk loses the indentation
of its first line (a nested item would else read as code), and every piece of a cut table begins with the table's header
row and delimiter row. A table row that does not fit under them follows without, cut like prose; where that is the
first row, the header stands once by itself, cut if it must be.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.chunking.numbered_links import without_numbers
from knowledge.chunking.sentences import sentence_spans

_SPACE = re.compile(r"\s+")
_CONTAINERS = frozenset({"bullet_list_open", "ordered_list_open", "list_item_open", "blockquote_open"})
_PROSE = frozenset({"paragraph_open", "heading_open"})
# Bounds how often a growing chunk is measured again, so that words of no length cannot make cutting quadratic.
_MEASURINGS_PER_CHUNK = 32


@dataclass(frozen=True, slots=True)
class Chunk:
    """One cut of a Markdown document, in reading order.

    `heading_path` is the path of the section that the text stands in, outermost heading first, as plain text. For a
    section of neither body nor subsections the text is the heading itself, which then also ends the path.
    """

    position: int  # counts from 0
    heading_path: tuple[str, ...]
    text: str  # Markdown, as in the source


def cut(markdown: str, *, limit: int, measure: Callable[[str], int]) -> list[Chunk]:
    """Cut `markdown` into chunks of at most `limit` tokens by `measure`.

    Joining may cost one token at most: measure(a + b) <= measure(a) + measure(b) + 1. The one text that can exceed the
    limit is a single character that measures more on its own.
    """
    if limit < 1:
        raise ValueError(f"limit is {limit}, but a chunk needs room for at least 1 token")
    source = _normalised(markdown)
    lines = source.split("\n")
    cutter = _Cutter(lines, limit, measure)
    chunks: list[Chunk] = []
    for section in _sections(source, lines):
        pieces = [piece for block in section.blocks for piece in cutter.pieces(block)]
        if not pieces and section.path and not section.has_subsections:
            pieces = list(cutter.prose(section.path[-1]))
        for text in cutter.pack(pieces):
            chunks.append(Chunk(len(chunks), section.path, _unindented(text)))
    return chunks


@dataclass(frozen=True, slots=True)
class _Block:
    """Lines [start, end) of the source; `inner` are the tokens between a container's opening and closing one."""

    kind: str
    start: int
    end: int
    inner: Sequence[Token] = ()


@dataclass(frozen=True, slots=True)
class _Section:
    path: tuple[str, ...]
    blocks: list[_Block]
    has_subsections: bool


@dataclass(frozen=True, slots=True)
class _Piece:
    """Text that stays together; `gap` is the whitespace before it where it follows another piece in a chunk."""

    text: str
    gap: str
    size: int  # tokens of the text


def _normalised(markdown: str) -> str:
    text = markdown.replace("\0", "").replace("\r\n", "\n").replace("\r", "\n")
    return text.replace("\f", "\n")  # PDF text has it between pages, also inside a paragraph


def _sections(source: str, lines: Sequence[str]) -> Iterator[_Section]:
    parser = MarkdownIt("commonmark", {"maxNesting": 20}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])  # inline markup matters in headings alone and is slow to parse
    references: dict[str, object] = {}
    open_headings: list[tuple[int, str]] = []  # level from 1, plain text
    blocks: list[_Block] = []
    for block in _blocks(parser.parse(source, references), 0, len(lines), lines):
        if block.kind != "heading_open":
            blocks.append(block)
            continue
        inline, closing = block.inner
        level, title = int(closing.tag[1:]), _plain(parser, inline.content, references)
        if not title:
            continue
        path = tuple(text for _, text in open_headings)
        yield _Section(path, blocks, has_subsections=bool(open_headings) and level > open_headings[-1][0])
        blocks = []
        while open_headings and open_headings[-1][0] >= level:
            open_headings.pop()
        open_headings.append((level, title))
    yield _Section(tuple(text for _, text in open_headings), blocks, has_subsections=False)


def _plain(parser: MarkdownIt, inline: str, references: dict[str, object]) -> str:
    """Return inline Markdown as the words a reader sees, on one line."""
    tokens: list[Token] = []
    parser.inline.parse(without_numbers(inline), parser, references, tokens)
    found: list[str] = []
    stack = tokens[::-1]
    while stack:
        token = stack.pop()
        if token.children:  # an image's alternative text
            stack.extend(reversed(token.children))
        elif token.type != "html_inline":
            found.append(" " if token.type.endswith("break") else token.content)
    return " ".join("".join(found).split())


def _blocks(tokens: Sequence[Token], start: int, end: int, lines: Sequence[str]) -> Iterator[_Block]:
    """Yield the outermost blocks of `tokens`, and the lines between them that have no token.

    These are link reference definitions, and what is nested too deep.
    """
    index, line = 0, start
    while index < len(tokens):
        opening, first = tokens[index], index
        if opening.nesting == 1:
            while tokens[index].level != opening.level or tokens[index].nesting != -1:
                index += 1
        index += 1
        if opening.map is None or opening.map[1] <= line:
            continue
        block_start = max(line, opening.map[0])
        if any(text.strip() for text in lines[line:block_start]):
            yield _Block("gap", line, block_start)
        line = min(opening.map[1], end)
        yield _Block(opening.type, block_start, line, tokens[first + 1 : index])
    if any(text.strip() for text in lines[line:end]):
        yield _Block("gap", line, end)


class _Cutter:
    """Takes blocks apart into pieces within the limit and packs pieces into chunks."""

    def __init__(self, lines: Sequence[str], limit: int, measure: Callable[[str], int]) -> None:
        self._lines = lines
        self._limit = limit
        self._measure = measure
        # What joining may cost besides the parts: the gap, and one token for each of its two ends.
        self._joint = {gap: measure(gap) + 2 for gap in ("", " ", "\n", "\n\n")}

    def pieces(self, block: _Block, gap: str = "\n\n") -> Iterator[_Piece]:
        """Yield the block whole if it fits, else its parts."""
        text = self._text(block.start, block.end)
        if block.kind == "hr" or not text.strip():
            return
        size = self._measure(text)
        if size <= self._limit:
            yield _Piece(text, gap, size)
        elif block.kind in _CONTAINERS and block.inner:
            yield from self._parts(block, gap)
        elif block.kind == "table_open":
            yield from self._table(block, gap)
        elif block.kind in _PROSE:
            yield from self.prose(text, gap)
        else:
            yield from self._each_line(self._lines[block.start : block.end], gap)

    def prose(self, text: str, gap: str = "\n\n") -> Iterator[_Piece]:
        """Yield sentences, and the words of a sentence that does not fit; the first piece follows after `gap`."""
        previous_end = 0
        for start, end in sentence_spans(text):
            if previous_end:
                gap = _seam(text[previous_end:start])
            sentence = text[start if previous_end else 0 : end]  # the first with its indentation
            size = self._measure(sentence)
            if size <= self._limit:
                yield _Piece(sentence, gap, size)
            else:
                yield from self._halves(text[start:end], gap)
            previous_end = end

    def pack(self, pieces: Iterable[_Piece], head: str = "") -> Iterator[str]:
        """Join neighbours greedily up to the limit; every text begins with the line or lines of `head`."""
        head_size = self._measure(head)
        parts: list[str] = []
        size = measurings = 0  # `size` never falls below the tokens of the joined parts
        for piece in pieces:
            if parts:
                grown = size + self._joint[piece.gap] + piece.size
                if grown > self._limit and measurings < _MEASURINGS_PER_CHUNK:
                    measurings += 1
                    grown = self._measure("".join((*parts, piece.gap, piece.text)))
                if grown <= self._limit:
                    parts += piece.gap, piece.text
                    size = grown
                    continue
                yield "".join(parts)
            parts = [head, "\n", piece.text] if head else [piece.text]
            size = head_size + self._joint["\n"] + piece.size if head else piece.size
            measurings = 0
        if parts:
            yield "".join(parts)

    def _text(self, start: int, end: int) -> str:
        """Return lines [start, end) without blank lines at either end."""
        while start < end and not self._lines[start].strip():
            start += 1
        return "\n".join(self._lines[start:end]).rstrip()

    def _parts(self, block: _Block, gap: str) -> Iterator[_Piece]:
        previous_end = block.start
        for inner in _blocks(block.inner, block.start, block.end, self._lines):
            if previous_end > block.start:
                # A block's lines may end with the blank ones that set it apart from the next.
                gap = "\n" if self._lines[previous_end - 1].strip() and inner.start == previous_end else "\n\n"
            yield from self.pieces(inner, gap)
            previous_end = inner.end

    def _each_line(self, lines: Iterable[str], gap: str) -> Iterator[_Piece]:
        for line in lines:
            text = line.rstrip()
            if not text:
                gap = "\n\n"
                continue
            size = self._measure(text)
            if size <= self._limit:
                yield _Piece(text, gap, size)
            else:
                yield from self.prose(text, gap)
            gap = "\n"

    def _table(self, block: _Block, gap: str) -> Iterator[_Piece]:
        """Pack the rows under the header; see the module's docstring for rows that are too long."""
        head = self._text(block.start, block.start + 2)
        head_size = self._measure(head)

        def fits(row: _Piece) -> bool:
            if head_size + self._joint["\n"] + row.size <= self._limit:
                return True
            return head_size <= self._limit and self._measure(f"{head}\n{row.text}") <= self._limit

        texts = [line.rstrip() for line in self._lines[block.start + 2 : block.end] if line.strip()]
        rows = [_Piece(text, "\n", self._measure(text)) for text in texts]
        if not rows or not fits(rows[0]):
            yield from self._each_line(head.split("\n"), gap)
            gap = "\n"
        for under_head, run in groupby(rows, fits):
            if not under_head:
                yield from self._each_line((row.text for row in run), gap)
            else:
                for text in self.pack(run, head):
                    yield _Piece(text, gap, self._measure(text))
                    gap = "\n\n"
            gap = "\n\n"

    def _halves(self, text: str, gap: str) -> Iterator[_Piece]:
        """Halve `text` between words until every part fits, and between characters if it is one word."""
        open_parts = [(text, gap)]
        while open_parts:
            part, before = open_parts.pop()
            size = self._measure(part)
            if size <= self._limit or len(part) == 1:
                yield _Piece(part, before, size)
            elif spaces := list(_SPACE.finditer(part)):
                space = spaces[len(spaces) // 2]
                open_parts += (part[space.end() :], _seam(space.group())), (part[: space.start()], before)
            else:
                open_parts += (part[len(part) // 2 :], ""), (part[: len(part) // 2], before)


def _seam(whitespace: str) -> str:
    return "\n" if "\n" in whitespace else " "


def _unindented(text: str) -> str:
    """Move the first lines of `text` to the margin, up to one that is indented less than the first."""
    width = len(text) - len(text.lstrip(" \t"))
    lines = text.split("\n")
    for index, line in enumerate(lines):
        if line[:width].strip():
            break
        lines[index] = line[width:]
    return "\n".join(lines)
