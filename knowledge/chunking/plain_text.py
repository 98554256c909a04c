"""Markdown as plain text on one line, for quotes, source boxes and excerpts; and plain text as Markdown; pure.

Inline marks are read by the rules of CommonMark. Blocks are only told apart: a sentence that begins with "2." is text.
"""

import re
from collections.abc import Iterator
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from knowledge.chunking.numbered_links import NUMBERED_LINK

#: A text without any of these is plain.
SIGNS = re.compile(r"[\\*_`\[<&|~#>]")
INLINE_SIGNS = re.compile(r"[\\*_`\[<&]")
FENCE = re.compile(r"[ \t]*(?:`{3,}[^`]*|~{3,}.*)$")
THEMATIC_BREAK = re.compile(r"[ \t]*([*_-])(?:[ \t]*\1){2,}[ \t]*$")
HEADING = re.compile(r"[ \t]{0,3}#{1,6}[ \t]+(?P<text>.*?)(?:[ \t]+#+)?[ \t]*$")
QUOTED = re.compile(r"^[ \t]*(?:>[ \t]?)+")
LIST_MARK = re.compile(r"[ \t]*(?P<mark>[-*+•]|\d{1,3}[.)])[ \t]+")
#: The line of dashes under a table's header; a table may stand on one line.
RULE = re.compile(r"\|(?:[ \t]*:?-{3,}:?[ \t]*\|)+")
CELL_END = re.compile(r"(?<!\\)\|")
#: A mark whose other half stands in another sentence.
CUT_OFF = re.compile(r"(?<!\w)(?:\*\*+|__+)(?=\w)|(?<=[\w.,:;!?)])(?:\*\*+|__+)(?!\w)|^[*_](?=\w)|(?<=[.!?…])[*_]$")
#: Characters that Markdown may read as a mark.
MARKS = re.compile(r"[\\*_`\[\]<&~|]")


def make_plain(markdown: str) -> str:
    """Return the words that a reader of the Markdown sees, on one line; list marks stay."""
    if not SIGNS.search(markdown):
        return " ".join(markdown.split())
    return " ".join(" ".join(_read_inline(piece) for piece in _split_blocks(markdown)).split())


def escape_marks(text: str) -> str:
    """Return plain text as Markdown that reads the same; most texts stay as they are."""
    words = " ".join(text.split())
    return words if make_plain(words) == words else MARKS.sub(r"\\\g<0>", words)


def _split_blocks(markdown: str) -> Iterator[str]:
    """Yield the paragraphs, headings, list items and table cells without the signs of their blocks."""
    has_rule = bool(RULE.search(markdown))
    lines: list[str] = []
    for raw in markdown.split("\n"):
        line = QUOTED.sub("", raw)
        item = LIST_MARK.match(line)
        heading = HEADING.match(line)
        is_row = line.lstrip().startswith("|") or (has_rule and "|" in line)
        is_empty = not line.strip() or bool(FENCE.match(line) or THEMATIC_BREAK.match(line))
        if lines and (item or heading or is_row or is_empty):
            yield "\n".join(lines)
            lines = []
        if is_row:
            yield from CELL_END.split(RULE.sub("|", line))
        elif heading:
            yield heading["text"]
        elif item:
            yield "-" if item["mark"] in "*+•" else item["mark"]
            lines = [line[item.end() :]]
        elif not is_empty:
            lines.append(line)
    yield "\n".join(lines)


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    return MarkdownIt("commonmark", {"maxNesting": 20})


@lru_cache(maxsize=8192)
def _read_inline(text: str) -> str:
    if not INLINE_SIGNS.search(text):
        return text
    tokens: list[Token] = []
    parser = _parser()
    parser.inline.parse(NUMBERED_LINK.sub(r"[\g<words>](#)", text), parser, {}, tokens)
    stack = tokens[::-1]
    found = []
    while stack:
        token = stack.pop()
        if token.children:  # an image's alternative text
            stack.extend(reversed(token.children))
        elif token.type == "text":
            found.append(CUT_OFF.sub("", token.content))
        elif token.type != "html_inline":
            found.append(" " if token.type.endswith("break") else token.content)
    return "".join(found)
