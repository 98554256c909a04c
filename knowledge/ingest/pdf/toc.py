"""A table of contents: its lines are no text of the document, but they say what the headings are; pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.ingest.pdf.types import Line, Page
from knowledge.ingest.pdf.words import comparable

NAMES = re.compile(
    r"^(?:[\divx.]*\s*)?(?:table of contents|contents|brief contents|inhalt|inhalts(?:verzeichnis|übersicht)|"
    r"list of (?:figures|tables|examples)|(?:abbildungs|tabellen)verzeichnis)\s*:?$",
    re.IGNORECASE,
)
LEADER = re.compile(r"^(?P<title>.*?\w.*?)[\s.·…_]*(?:\.\s?){3,}[\s.·…]*(?P<page>\d{1,5}|[ivxlc]{1,7})$", re.IGNORECASE)
DOTS = re.compile(r"(?:\.\s?){3}")
FAR = re.compile(r"^(?P<title>.*?\w.*?)\s+(?P<page>\d{1,5}|[ivxlc]{1,7})$")
#: Lines between two entries that may belong to long titles.
BETWEEN = 5
FEWEST = 4


@dataclass(frozen=True, slots=True)
class Entry:
    title: str
    x0: float


def without_contents(pages: Sequence[Page]) -> list[Entry]:
    """Remove tables of contents from the pages; return their entries."""
    lines = [element for page in pages for element in page.elements if isinstance(element, Line)]
    here = {comparable(line.text) for line in lines}
    entries: list[Entry] = []
    gone: set[int] = set()
    for start, end in _runs(lines):
        run = lines[start:end]
        listed = [entry for line in run if (entry := _entry(line))]
        headed = start and NAMES.match(lines[start - 1].text)
        titles = {comparable(entry.title) for entry in listed}
        known = sum(title in here or _unnumbered(title) in here for title in titles)
        if headed or known >= 0.5 * len(titles):
            entries += listed
            gone.update(id(line) for line in run)
            if headed:
                gone.add(id(lines[start - 1]))
    for page in pages:
        page.elements = [element for element in page.elements if id(element) not in gone]
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


def _entry(line: Line) -> Entry | None:
    # Where there are no dots, the longer pattern would try every place for them.
    if DOTS.search(line.text) and (found := LEADER.match(line.text)):
        return Entry(found["title"].strip(), line.x0)
    if len(line.parts) >= 2 and (found := FAR.match(line.text)):
        last = line.parts[-1]
        if last.text == found["page"] and last.x1 > line.right - 40 and last.x0 - line.parts[-2].x1 > 1.5 * line.size:
            return Entry(found["title"].strip(), line.x0)
    return None


def _unnumbered(title: str) -> str:
    return title.lstrip("0123456789")
