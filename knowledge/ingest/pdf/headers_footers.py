"""Running headers, footers and page numbers: lines that come back at the same place on several pages; pure."""

import re
from bisect import bisect_left
from collections import Counter, defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain, takewhile

from knowledge.ingest.pdf.headings.candidates import bare
from knowledge.ingest.pdf.pages import Pages
from knowledge.ingest.pdf.tables.records import record_in_line
from knowledge.ingest.pdf.types import Line
from knowledge.ingest.pdf.words import comparable

#: Only so many lines from a page's upper and lower edge can be running ones.
DEPTH = 3
#: And only within this share of its height.
ZONE = 0.25
#: Lines are at the same place when they begin within so many points.
SAME = 3.0
#: What comes back within so many pages is no chance.
NEAR = 4
LARGE = 1.25
ROMAN = re.compile(r"\b(?=[ivxlc])(?:x{0,3}|xl|l)(?:ix|iv|v?i{0,3})\b", re.IGNORECASE)
NUMBER_ONLY = re.compile(
    r"^\W*(?:page|seite|s\.|p\.)?\W*(?:\d{1,5}|[ivxlc]{1,7})(?:\W*(?:/|of|von|out of)\W*\d{1,5})?\W*$", re.IGNORECASE
)

#: A place at an edge, as (edge, height), and what a line there says but for its numbers.
Said = tuple[tuple[str, int], str]


def without_running(pages: Pages, titles: Mapping[str, Collection[int]]) -> None:
    """Remove running lines from the pages; `titles` are comparable headings and their pages."""
    pages.without_lines(_Edges(pages, titles).running())


@dataclass(frozen=True, slots=True)
class EdgeLine:
    """One of a page's outermost lines: its number among all lines, and the index of its page."""

    number: int
    index: int
    side: str
    is_outermost: bool
    line: Line

    @property
    def height(self) -> tuple[str, int]:
        return self.side, round(self.line.baseline / SAME)

    @property
    def is_numbered(self) -> bool:
        return self.is_outermost and bool(NUMBER_ONLY.match(self.line.text))

    def places(self) -> Iterator[tuple[str, int]]:
        for shift in (0, SAME):
            yield self.side, int((self.line.baseline + shift) // (2 * SAME))


@dataclass(slots=True)
class AtHeight:
    """What the lines at one height are, over all pages."""

    lines: int = 0
    looks: int = 0
    styles: Counter[tuple[float, bool]] = field(default_factory=Counter)

    def add(self, other: "AtHeight") -> None:
        self.lines += other.lines
        self.looks += other.looks
        self.styles.update(other.styles)


class _Edges:
    """The edges of all pages. They are gone through several times, so that only counts are kept of them."""

    def __init__(self, pages: Pages, titles: Mapping[str, Collection[int]]) -> None:
        self._pages, self._titles = pages, titles
        self._body = _body_size(pages.lines())
        self._least = 2 if len(pages) <= 5 else 3
        self._said_again = self._find_said_again()

    def running(self) -> set[int]:
        """Find the numbers of running lines."""
        at: dict[tuple[str, int], AtHeight] = defaultdict(AtHeight)
        numbered: Counter[str] = Counter()
        for edge in chain.from_iterable(self._lines()):
            at[edge.height].add(AtHeight(1, self._looks_running(edge), Counter([edge.line.style])))
            numbered[edge.side] += edge.is_numbered
        headers = self._headers(at)
        return {
            edge.number
            for edge in chain.from_iterable(self._lines())
            if self._is_repeated(edge)
            or edge.line.style in headers.get(edge.height, ())
            or (edge.height in headers and self._looks_running(edge))
            or (edge.is_numbered and numbered[edge.side] > 1)
        }

    def _lines(self) -> Iterator[list[EdgeLine]]:
        """Yield each page's outermost lines."""
        first = 0
        for index, page in enumerate(self._pages):
            lines = page.lines
            yield [
                EdgeLine(first + number, index, side, place == 0, lines[number])
                for side in ("top", "bottom")
                for place, number in enumerate(_outermost(lines, page.height, side, self._body))
            ]
            first += len(lines)

    def _find_said_again(self) -> dict[Said, list[int]]:
        """Find the pages of what is said at a place again within a few pages: the same words far apart are chance."""
        near: deque[set[Said]] = deque(maxlen=NEAR)
        again: set[Said] = set()
        for lines in self._lines():
            said = {each for edge in lines for each in _said(edge)}
            again.update(each for each in said if any(each in others for others in near))
            near.append(said)
        found: dict[Said, list[int]] = {each: [] for each in again}
        for index, lines in enumerate(self._lines()):
            for each in again.intersection(each for edge in lines for each in _said(edge)):
                found[each].append(index)
        return found

    def _headers(self, at: Mapping[tuple[str, int], AtHeight]) -> dict[tuple[str, int], set[tuple[float, bool]]]:
        """Find the heights whose lines mostly look like headers, with the two usual looks: there all are headers."""
        count = len(self._pages)
        fewest = max(3, 0.3 * count if count < 40 else 8)
        found: dict[tuple[str, int], set[tuple[float, bool]]] = {}
        for (side, height), here in at.items():
            near = AtHeight()
            for other in (height, height - 1, height + 1):
                near.add(at.get((side, other), AtHeight()))
            if here.lines >= fewest and near.looks >= 0.75 * near.lines:
                found[side, height] = {style for style, _count in near.styles.most_common(2)}
        return found

    def _looks_running(self, edge: EdgeLine) -> bool:
        return (
            self._is_repeated(edge)
            or _is_page_number(edge.line, edge.index)
            or _is_other_title(edge.line, self._titles)
        )

    def _is_repeated(self, edge: EdgeLine) -> bool:
        """Return whether enough pages say it there, one of them near.

        Where columns are read apart on other pages, they have only a part of the line.
        """
        return any(
            all(self._is_said_again((place, _key(text)), edge.index) for text in texts)
            for texts in ([edge.line.text], [part.text for part in edge.line.parts])
            for place in edge.places()
        )

    def _is_said_again(self, said: Said, index: int) -> bool:
        pages = self._said_again.get(said, [])
        if len(pages) < self._least:
            return False
        here = bisect_left(pages, index)
        return any(0 < abs(other - index) <= NEAR for other in pages[max(0, here - 1) : here + 2])


def _said(edge: EdgeLine) -> Iterator[Said]:
    """Yield what a line, and each part of it, says at its places."""
    for text in {_key(edge.line.text), *(_key(part.text) for part in edge.line.parts)}:
        for place in edge.places():
            yield place, text


def _is_other_title(line: Line, titles: Mapping[str, Collection[int]]) -> bool:
    """Return whether a line, or a part of it, names a section that begins on another page; long names end with dots."""
    for text in (line.text, *(part.text for part in line.parts)):
        for name in (comparable(_unnumbered(text)), comparable(bare(text))):
            if line.page not in titles.get(name, [line.page]):
                return True
            if text.endswith(("…", "...")) and name and any(title.startswith(name) for title in titles):
                return True
    return False


def _body_size(lines: Iterable[Line]) -> float:
    sizes: Counter[float] = Counter()
    for line in lines:
        sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _outermost(lines: Sequence[Line], height: float, side: str, body: float) -> list[int]:
    """Index the outermost lines, outermost first; large letters are a heading's, even if each stands at one place."""
    near = [
        number
        for number, line in enumerate(lines)
        if line.size < LARGE * body
        and not line.in_cell
        and (line.baseline < ZONE * height if side == "top" else line.baseline > (1 - ZONE) * height)
    ]
    near.sort(key=lambda number: lines[number].baseline, reverse=side == "bottom")
    if side == "top":
        # What stands in a record is said again in the next one.
        near = list(takewhile(lambda number: not record_in_line(lines[number]), near))
    return near[:DEPTH]


def _key(text: str) -> str:
    text = text.casefold()
    if NUMBER_ONLY.match(text):
        return "#"
    text = re.sub(r"\d+", "#", text)
    words = text.split()
    # A roman page number stands first or last.
    for end in (0, -1):
        if words and words[end] and ROMAN.fullmatch(words[end]):
            words[end] = "#"
    return " ".join(words)


def _is_page_number(line: Line, index: int) -> bool:
    """Return whether it has this page's number, or a small number alone, at one of its ends."""
    words = line.text.split()
    ends = {words[0].strip(".,-–|"), words[-1].strip(".,-–|")}
    if str(index + 1) in ends or bool(NUMBER_ONLY.match(line.text)):
        return True
    return any(end.isdecimal() and abs(int(end) - index - 1) <= 40 for end in ends) and len(words) < 15


def _unnumbered(text: str) -> str:
    """Strip page numbers and the like from the ends of a header."""
    return re.sub(r"^[\d.\s|–-]+|[\d.\s|–-]+$", "", text)
