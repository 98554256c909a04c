"""A table of contents: its lines are no text of the document, but they say what the headings are; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.ingest.pdf.pages import Pages
from knowledge.ingest.pdf.types import Line
from knowledge.ingest.pdf.words import comparable

NAMES = re.compile(
    r"^(?:[\divx.]*\s*)?(?:table of contents|contents|brief contents|inhalt|inhalts(?:verzeichnis|übersicht)|"
    r"list of (?:figures|tables|examples)|(?:abbildungs|tabellen)verzeichnis)\s*:?$",
    re.IGNORECASE,
)
PAGE = re.compile(r"(?:\d{1,5}|[ivxlc]{1,7})$", re.IGNORECASE)
#: What stands between a title and its page: dots, mostly.
LEADER = " .·…"
DOTS = re.compile(r"(?:\. ?){3}")
WORD = re.compile(r"\w")
#: Lines between two entries that may belong to long titles.
BETWEEN = 5
FEWEST = 4


@dataclass(frozen=True, slots=True)
class Run:
    """Lines from `start` up to `end` that are mostly entries."""

    start: int
    end: int
    entries: Sequence[str]

    @property
    def titles(self) -> set[str]:
        return {comparable(title) for title in self.entries}


def without_contents(pages: Pages) -> list[str]:
    """Remove tables of contents from the pages; return the titles that they list."""
    lines = pages.lines()
    runs = [Run(start, end, list(filter(None, map(_entry, lines[start:end])))) for start, end in _runs(lines)]
    wanted = {name for run in runs for title in run.titles for name in (title, _unnumbered(title))}
    here = wanted.intersection(comparable(line.text) for line in lines)
    entries: list[str] = []
    gone: set[int] = set()
    for run in runs:
        headed, titles = _named(lines, run.start), run.titles
        known = sum(title in here or _unnumbered(title) in here for title in titles)
        if headed or known >= 0.5 * len(titles):
            entries += run.entries
            gone.update(range(run.start - headed, run.end))
    pages.without_lines(gone)
    return entries


def _runs(lines: Sequence[Line]) -> list[tuple[int, int]]:
    """Find runs [start, end) of lines that are mostly entries."""
    runs: list[tuple[int, int]] = []
    start = last = -1
    count = 0
    for index, line in enumerate(lines):
        if _entry(line):
            if start >= 0 and index - last > BETWEEN:
                if count >= FEWEST and count >= 0.5 * (last + 1 - start):
                    runs.append((start, last + 1))
                start, count = -1, 0
            if start < 0:
                start = index
            last, count = index, count + 1
    if start >= 0 and count >= FEWEST and count >= 0.5 * (last + 1 - start):
        runs.append((start, last + 1))
    # A title that begins above its first entry's last line belongs to it where the name of the list stands above that.
    return [
        (next((first - back for back in range(BETWEEN + 1) if _named(lines, first - back)), first), end)
        for first, end in runs
    ]


def _named(lines: Sequence[Line], index: int) -> bool:
    return index > 0 and bool(NAMES.match(lines[index - 1].text))


def _entry(line: Line) -> str:
    """Return the title that a line of a table of contents lists; or nothing."""
    page = PAGE.search(line.text)
    if not page:
        return ""
    title = line.text[: page.start()]
    name = title.rstrip(LEADER)
    # Dots lead to the page, or it stands alone at the right edge.
    if DOTS.search(title[len(name) :]):
        title = name
    elif not _stands_far(page[0], line):
        return ""
    return title.strip() if WORD.search(title) else ""


def _stands_far(page: str, line: Line) -> bool:
    if len(line.parts) < 2:
        return False
    before, last = line.parts[-2:]
    return last.text == page and last.x1 > line.right - 40 and last.x0 - before.x1 > 1.5 * line.size


def _unnumbered(title: str) -> str:
    return title.lstrip("0123456789")
