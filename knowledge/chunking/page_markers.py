"""Page numbers within Markdown: a PDF's text carries `<!-- page 3 -->` where page 3 begins; pure."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace

from knowledge.chunking.chunker import Chunk

#: Blanks are tried from their first one alone, so that a long row of them takes time in proportion to its length.
MARKER = re.compile(r"(?:(?<![ \t])[ \t]++)?<!-- page (\d{1,5}) -->[ \t]*\n?")


def page_marker(page: int) -> str:
    return f"<!-- page {page} -->"


def without_markers(text: str) -> str:
    return MARKER.sub("", text)


def with_pages(chunks: Iterable[Chunk]) -> Iterator[tuple[Chunk, int | None]]:
    """Yield each chunk without its markers, and the page that its text begins on (None before the first marker).

    A chunk of nothing but markers is left out; positions count anew.
    """
    page: int | None = None
    position = 0
    for chunk in chunks:
        begins: int | None = page
        text, done, seen = "", 0, False
        for marker in MARKER.finditer(chunk.text):
            text += chunk.text[done : marker.start()]
            done, page = marker.end(), int(marker.group(1))
            if not seen and not text.strip():
                begins = page
            seen = seen or bool(text.strip())
        text = (text + chunk.text[done:]).strip("\n")
        if text.strip():
            yield replace(chunk, position=position, text=text), begins
            position += 1
