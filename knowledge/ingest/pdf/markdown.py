"""Blocks into Markdown: paragraphs joined, lists kept, tables said, pages marked; pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from knowledge.chunking.page_markers import page_marker
from knowledge.ingest.pdf.blocks import BULLET, LONE_BULLET, Block
from knowledge.ingest.pdf.tables.sentences import sentences
from knowledge.ingest.pdf.types import Line
from knowledge.ingest.pdf.words import join_words

LEADERS = re.compile(r"(?:\s?\.){5,}")
#: What Markdown would read as the beginning of something else.
MARK = re.compile(r"^(#{1,6}\s|>|\+\s|={3,}\s*$|-{3,}\s*$|`{3})")


class Writer:
    """`known` are the words of the document, which tell where a hyphen at a line's end belongs to the word."""

    def __init__(self, known: Collection[str], *, marks_pages: bool = True) -> None:
        self._known, self._marks_pages = known, marks_pages

    def markdown(self, blocks: Iterable[Block]) -> Iterator[str]:
        """Yield the text piece by piece."""
        before = ""
        for kind, text in self._parts(blocks):
            between = "" if not before else "\n" if kind == before == "item" else "\n\n"
            yield f"{between}{text}"
            before = kind
        if before:
            yield "\n"

    def _parts(self, blocks: Iterable[Block]) -> Iterator[tuple[str, str]]:
        page = 0
        for block in blocks:
            if block.page > page:
                page = block.page
                if self._marks_pages:
                    yield "marker", page_marker(page)
            if text := self._text(block):
                yield block.kind, text
            page = max(page, block.lines[-1].page if block.lines else page)

    def _text(self, block: Block) -> str:
        if block.heading:
            return f"{'#' * block.heading.level} {_safe(block.heading.text)}"
        if block.table:
            rows = "\n".join(f"- {sentence}" for sentence in sentences(block.table))
            return _safe(f"{block.table.caption}\n\n{rows}" if block.table.caption else rows)
        if block.kind == "code":
            return _code(block.lines)
        text = self._joined(block.lines)
        if block.kind == "item":
            if BULLET.match(text) or LONE_BULLET.match(text):
                text = BULLET.sub("", text) if BULLET.match(text) else LONE_BULLET.sub("", text)
                return f"- {text}" if text else ""
            return text if re.match(r"^\d{1,2}[.)]\s", text) else f"- {text}"
        return MARK.sub(r"\\\1", text)

    def _joined(self, lines: Sequence[Line]) -> str:
        """Join lines to one paragraph, with a marker if a page begins in it."""
        text, page = "", lines[0].page
        for line in lines:
            said = _safe(line.text)
            if line.page == page:
                text = join_words(text, said, self._known)
                continue
            page = line.page
            joined = join_words(text, said, self._known)
            # A word cut by the page's end belongs to the page it begins on.
            rest = joined[len(joined) - len(said) :]
            head = joined[: len(joined) - len(said)]
            if head.endswith(" "):
                text = f"{head.rstrip()}{page_marker(page)}\n {rest}"
            else:
                first, _, others = rest.partition(" ")
                text = f"{head}{first}{page_marker(page)}\n {others}" if others else joined
        return text


def _code(lines: Sequence[Line]) -> str:
    left = min(line.x0 for line in lines)
    width = lines[0].size * 0.6
    said = []
    for line in lines:
        row, end = " " * round((line.x0 - left) / width), line.x0
        for part in line.parts:
            row += " " * max(0, round((part.x0 - end) / width)) + part.text
            end = part.x1
        said.append(_safe(row.rstrip()))
    fence = "````" if any("```" in row for row in said) else "```"
    return "\n".join([fence, *said, fence])


def _safe(text: str) -> str:
    """Remove dot leaders, and anything that looks like one of our page markers."""
    return LEADERS.sub(" …", text.replace("<!--", "<! --"))
