"""Running headers, footers and page numbers: lines that come back at the same place on several pages; pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from itertools import takewhile

from knowledge.ingest.pdf.headings.candidates import bare
from knowledge.ingest.pdf.tables.records import record_in_line
from knowledge.ingest.pdf.types import Line, Page
from knowledge.ingest.pdf.words import comparable

#: Only so many lines from a page's upper and lower edge can be running ones.
DEPTH = 3
#: And only within this share of its height.
ZONE = 0.25
#: Lines are at the same place when they begin within so many points.
SAME = 3.0
LARGE = 1.25
ROMAN = re.compile(r"\b(?=[ivxlc])(?:x{0,3}|xl|l)(?:ix|iv|v?i{0,3})\b", re.IGNORECASE)
NUMBER_ONLY = re.compile(
    r"^\W*(?:page|seite|s\.|p\.)?\W*(?:\d{1,5}|[ivxlc]{1,7})(?:\W*(?:/|of|von|out of)\W*\d{1,5})?\W*$", re.IGNORECASE
)


def without_running(pages: Sequence[Page], titles: Mapping[str, Collection[int]]) -> None:
    """Remove running lines from the pages; `titles` are comparable headings and their pages."""
    body = _body_size(pages)
    running: set[int] = set()
    for side in ("top", "bottom"):
        running |= _running(pages, side, body, titles)
    for page in pages:
        page.elements = [element for element in page.elements if id(element) not in running]


def _running(pages: Sequence[Page], side: str, body: float, titles: Mapping[str, Collection[int]]) -> set[int]:
    """Find the ids of running lines at one edge."""
    edges = [_edge(page, side, body) for page in pages]
    places: dict[tuple[int, str], set[int]] = defaultdict(set)
    for index, lines in enumerate(edges):
        for line in lines:
            for place in _places(line):
                for said in (line.text, *(part.text for part in line.parts)):
                    places[place, _key(said)].add(index)
    least = 2 if len(pages) <= 5 else 3
    found: set[int] = set()
    at_place: dict[int, list[tuple[Line, bool]]] = defaultdict(list)
    for index, lines in enumerate(edges):
        for line in lines:
            # Where columns are read apart on other pages, they have only a part of the line.
            repeated = any(
                all(_is_repeated(places[place, _key(text)], index, least) for text in said)
                for said in ([line.text], [part.text for part in line.parts])
                for place in _places(line)
            )
            if repeated:
                found.add(id(line))
            looks = repeated or _is_page_number(line, index) or _is_other_title(line, titles)
            at_place[round(line.baseline / SAME)].append((line, looks))
    # A place whose lines mostly look like headers is one: what stands there on other pages is a header as well.
    for slot, members in at_place.items():
        near = [*members, *at_place.get(slot - 1, []), *at_place.get(slot + 1, [])]
        if len(members) >= max(3, 0.3 * len(pages) if len(pages) < 40 else 8) and sum(
            looks for _line, looks in near
        ) >= 0.75 * len(near):
            style = Counter(line.style for line, _looks in near).most_common(2)
            styles = {name for name, _count in style}
            found |= {id(line) for line, looks in members if looks or line.style in styles}
    for index, lines in enumerate(edges):
        if lines and len(pages) > 1 and _is_page_number(lines[0], index) and NUMBER_ONLY.match(lines[0].text):
            numbered = sum(bool(other) and bool(NUMBER_ONLY.match(other[0].text)) for other in edges)
            if numbered >= min(2, len(pages)):
                found.add(id(lines[0]))
    return found


def _is_other_title(line: Line, titles: Mapping[str, Collection[int]]) -> bool:
    """Return whether a line, or a part of it, names a section that begins on another page; long names end with dots."""
    for text in (line.text, *(part.text for part in line.parts)):
        for name in (comparable(_unnumbered(text)), comparable(bare(text))):
            if line.page not in titles.get(name, [line.page]):
                return True
            if text.endswith(("…", "...")) and name and any(title.startswith(name) for title in titles):
                return True
    return False


def _body_size(pages: Sequence[Page]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for element in page.elements:
            if isinstance(element, Line):
                sizes[element.size] += len(element.text)
    return sizes.most_common(1)[0][0] if sizes else 10.0


def _edge(page: Page, side: str, body: float) -> list[Line]:
    """List the outermost lines, outermost first; large letters are a heading's, even if each stands at one place."""
    lines = [
        element
        for element in page.elements
        if isinstance(element, Line) and element.size < LARGE * body and not element.in_cell
    ]
    if side == "top":
        near = [line for line in lines if line.baseline < ZONE * page.height]
        near.sort(key=lambda line: line.baseline)
        # What stands in a record is said again in the next one.
        return list(takewhile(lambda line: not record_in_line(line), near))[:DEPTH]
    near = [line for line in lines if line.baseline > (1 - ZONE) * page.height]
    return sorted(near, key=lambda line: -line.baseline)[:DEPTH]


def _places(line: Line) -> set[int]:
    return {int((line.baseline + shift) // (2 * SAME)) for shift in (0, SAME)}


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


def _is_repeated(pages: set[int], index: int, least: int) -> bool:
    """Return whether enough pages have it, one of them near: the same words far apart are chance."""
    return len(pages) >= least and any(abs(other - index) <= 4 for other in pages if other != index)


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
