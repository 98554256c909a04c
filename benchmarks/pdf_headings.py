"""Headings of a Markdown with page markers, compared with the bookmarks of its PDF; pure."""

import re
import unicodedata
from collections.abc import Sequence

from knowledge.chunking.page_markers import MARKER

#: (title, level, page)
Mark = tuple[str, int, int]
HEADING = re.compile(r"^(#{1,6}) (.+)$")
NUMBERING = re.compile(
    r"^(?:(?:chapter|kapitel|appendix|anhang|teil|part)\s+)?(?:[A-Z]|\d{1,3}|[IVX]+)?(?:\.?\d{1,3})*[.:]?\s+",
    re.IGNORECASE,
)
#: “CHAPTER FIVE”, which stands above a title.
LABEL = re.compile(r"^(?:chapter|kapitel|appendix|anhang|teil|part)\s+\w+[.:]?\s+", re.IGNORECASE)
#: The import's headings go no deeper.
DEEPEST = 4


def normal(text: str) -> str:
    return "".join(char for char in unicodedata.normalize("NFKC", text).casefold() if char.isalnum())


def bare(title: str) -> set[str]:
    """Its letters with and without its number, as bookmarks often have none."""
    without = (NUMBERING.sub("", title, count=1), LABEL.sub("", title, count=1))
    return {normal(title), *map(normal, without)} - {""}


def our_headings(markdown: str) -> list[Mark]:
    found, page, fenced = [], 0, False
    for line in markdown.split("\n"):
        for number in MARKER.findall(line):
            page = int(number)
        fenced ^= line.startswith("```")
        if not fenced and (heading := HEADING.match(line)):
            found.append((heading[2], len(heading[1]), page))
    return found


def share_found(marks: Sequence[Mark], ours: Sequence[Mark]) -> dict[str, object]:
    """Shares of the bookmarks that a heading of ours has the words of, with its page, with its place below another.

    A level is right where the heading stands deeper than that of the bookmark above it: only this can be compared,
    as a bookmark's top level is the book's in one PDF and the chapter's in another.
    """
    free = [(bare(title), level, page) for title, level, page in ours]
    found = on_page = nested = 0
    above: list[tuple[int, int]] = []  # (the bookmark's level, ours)
    missed = []
    top = min(level for _title, level, _page in marks)
    for title, level, page in marks:
        fits = [item for item in free if item[0] & bare(title)]
        if not fits:
            missed.append((title, page))
            continue
        best = min(fits, key=lambda item: abs(item[2] - page))
        free.remove(best)
        found += 1
        on_page += best[2] == page
        while above and above[-1][0] >= level:
            above.pop()
        nested += level - top >= DEEPEST or not above or best[1] > above[-1][1] or best[1] == DEEPEST
        above.append((level, best[1]))
    count = len(marks)
    return {
        "found": round(found / count, 4),
        "right_level": round(nested / max(1, found), 4),
        "right_page": round(on_page / max(1, found), 4),
        "more_than_bookmarks": round(len(free) / max(1, len(ours)), 4),
        "missed": missed[:12],
    }
