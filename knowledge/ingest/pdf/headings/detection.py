"""Headings and the title, found by bookmarks, the table of contents, numbering and fonts; pure."""

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from knowledge.ingest.pdf.headings.candidates import (
    CAPTION,
    DEEPEST,
    LABEL,
    LARGER,
    MOST_LINES,
    Candidate,
    assign_levels,
    bare,
    body_style,
    candidate_from,
    is_labelled,
    known_levels,
    list_candidates,
    recognise_kind,
    stands_out,
)
from knowledge.ingest.pdf.pages import Flow, Pages
from knowledge.ingest.pdf.types import Bookmark, Element, Line
from knowledge.ingest.pdf.words import comparable, join_lines

LONGEST = 180
#: Names of boxes in a text, which stand above nothing but the box.
BOXES = {
    "note", "notes", "hint", "tip", "tips", "warning", "caution", "important", "example", "danger", "attention",
    "hinweis", "hinweise", "tipp", "achtung", "warnung", "beispiel", "anmerkung", "wichtig", "vorsicht",
    "bemerkung",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Heading:
    """`count` lines from a line of the flow are a heading of this level."""

    text: str
    level: int
    count: int


def find_title(flow: Sequence[Element], body: tuple[float, bool]) -> str:
    """Find the largest words of the first page, if they are larger than its text."""
    first = [element for element in flow[:60] if isinstance(element, Line) and element.page == flow[0].page]
    if not first:
        return ""
    size = max((line.size for line in first if len(comparable(line.text)) > 2), default=0)
    if size < LARGER * body[0]:
        return ""
    start = next(index for index, line in enumerate(first) if line.size == size and len(comparable(line.text)) > 2)
    lines = [first[start].text]
    for line in first[start + 1 :]:
        if abs(line.size - size) > 0.3:
            break
        lines.append(line.text)
    return join_lines(lines[:MOST_LINES])[:300]


def split_run_in(pages: Pages, bookmarks: Sequence[Bookmark]) -> None:
    """Split headings from the paragraph that begins beside them if a bookmark names them."""
    wanted: dict[int, set[str]] = defaultdict(set)
    for bookmark in bookmarks:
        wanted[bookmark.page] |= {comparable(bookmark.title), comparable(bare(bookmark.title))} - {""}
    pages.rewrite(lambda page: [part for element in page.elements for part in _split(element, wanted[page.number])])


def _split(element: Element, wanted: set[str]) -> list[Element]:
    if not isinstance(element, Line) or len(element.parts) < 2 or comparable(element.parts[0].text) not in wanted:
        return [element]
    first, *others = element.parts
    rest = " ".join(part.text for part in others)
    return [
        replace(element, text=first.text, x1=first.x1, parts=(first,)),
        replace(element, text=rest, x0=others[0].x0, parts=tuple(others)),
    ]


def find_headings(
    pages: Pages, *, bookmarks: Sequence[Bookmark], entries: Sequence[str], title: str
) -> dict[int, Heading]:
    """Find headings by the index of their first line among all elements; `entries` are a table of contents' titles."""
    flow = pages.elements()
    body = body_style(pages.lines())
    candidates = list_candidates(flow, body)
    front = _front(flow, candidates, body, title)
    found = _bookmarked(flow, bookmarks, candidates)
    taken = {index for start, heading in found.items() for index in range(start, start + heading.count)}
    sure = len(found) >= max(3, 0.6 * len(bookmarks)) if bookmarks else False
    listed = {comparable(name) for entry in entries for name in (entry, bare(entry))}
    free = [
        candidate
        for candidate in candidates
        if taken.isdisjoint(candidate.places)
        and _is_heading(flow, candidate, body, listed, strict=sure)
        and candidate.start not in front
    ]
    if not sure and listed:
        free += _listed_only(flow, listed, taken.union(*(candidate.places for candidate in free)))
    known = known_levels(candidates, {start: heading.level for start, heading in found.items()})
    levels = assign_levels(free, known)
    for candidate in free:
        found[candidate.start] = Heading(candidate.text, levels[candidate.cluster], candidate.count)
    return dict(_with_label(flow, start, found, body) for start in sorted(found))


def _with_label(
    flow: Sequence[Element], start: int, found: Mapping[int, Heading], body: tuple[float, bool]
) -> tuple[int, Heading]:
    """Add a label such as “Chapter 3” above a heading to it; a number alone is dropped."""
    heading, label = found[start], ""
    while start - 1 not in found and is_labelled(flow, start):
        line = flow[start - 1]
        if not isinstance(line, Line) or not stands_out(line, body):
            break
        start, label = start - 1, f"{line.text} {label}"
        heading = replace(heading, count=heading.count + 1)
    return start, replace(heading, text=f"{label}{heading.text}") if recognise_kind(label)[0] else heading


# --- bookmarks and contents ---


def _bookmarked(
    flow: Flow[Element], bookmarks: Sequence[Bookmark], candidates: Sequence[Candidate]
) -> dict[int, Heading]:
    """Find the lines that bookmarks name, in order, on the page that they open or the one after."""
    starts = {candidate.start: candidate for candidate in candidates}
    found: dict[int, Heading] = {}
    top = min((bookmark.level for bookmark in bookmarks), default=1)
    for bookmark in bookmarks:
        wanted = {comparable(bookmark.title), comparable(bare(bookmark.title))} - {""}
        best: tuple[int, int, int] | None = None  # (quality, index, lines)
        for index in (*flow.on_page(bookmark.page), *flow.on_page(bookmark.page + 1)):
            if index in found:
                continue
            count = _matches(flow, index, wanted)
            if not count:
                continue
            quality = (2 if index in starts else 0) + (flow[index].page == bookmark.page)
            if best is None or quality > best[0]:
                best = quality, index, count
        if best:
            _quality, index, count = best
            text = join_lines([line.text for line in flow[index : index + count] if isinstance(line, Line)])
            found[index] = Heading(text, min(DEEPEST, bookmark.level - top + 1), count)
    return found


def _matches(flow: Sequence[Element], index: int, wanted: set[str]) -> int:
    """Count the lines from here that make one of the wanted titles; 0 for none."""
    said = ""
    first = flow[index]
    for count in range(1, MOST_LINES + 1):
        line = flow[index + count - 1] if index + count <= len(flow) else None
        if not isinstance(line, Line) or line.page != first.page:
            return 0
        said = join_lines([said, line.text]) if said else line.text
        whole, name = comparable(said), comparable(bare(said))
        if whole in wanted or name in wanted:
            return count
        if not any(title.startswith((whole, name or whole)) for title in wanted):
            return 0
    return 0


def _listed_only(flow: Sequence[Element], listed: set[str], taken: set[int]) -> list[Candidate]:
    """List numbered lines that look like text but stand in the table of contents."""
    return [
        candidate_from(index, [line])
        for index, line in enumerate(flow)
        if index not in taken
        and isinstance(line, Line)
        and recognise_kind(line.text)[0]
        and comparable(line.text) in listed
        and len(line.text) <= LONGEST
    ]


# --- the rest ---


def _front(flow: Sequence[Element], candidates: Sequence[Candidate], body: tuple[float, bool], title: str) -> set[int]:
    """Find the title, and the authors and dates under it: they head no section."""
    first = [candidate for candidate in candidates if candidate.page == flow[0].page and candidate.start < 30]
    if not first:
        return set()
    largest = max(candidate.size for candidate in first)
    others = [c.size for c in candidates if c not in first or c.kind]
    found: set[int] = set()
    begun = False
    for candidate in first:
        said = comparable(candidate.text)
        is_title = bool(title) and (said in comparable(title) or comparable(title) in said)
        unique = candidate.size == largest and all(size < largest for size in others)
        if not begun:
            begun = (is_title or unique) and not candidate.kind
        elif candidate.kind or _prose_between(flow, min(found), candidate.start):
            break
        if begun:
            found.add(candidate.start)
    return found


def _prose_between(flow: Sequence[Element], start: int, end: int) -> bool:
    return sum(len(line.text) > 60 for line in flow[start:end] if isinstance(line, Line) and not line.bold) >= 2


def _is_heading(
    flow: Sequence[Element], candidate: Candidate, body: tuple[float, bool], listed: set[str], *, strict: bool
) -> bool:
    text = candidate.text
    if len(text) > LONGEST or CAPTION.match(text) or comparable(text) in BOXES or len(comparable(text)) < 2:
        return False
    if (
        text.endswith((",", ";"))
        or re.match(r"^[•●▪■◦–—\-*]\s", text)
        or (text.endswith((".", ":")) and not candidate.kind)
    ):
        return False
    end = candidate.start + candidate.count
    lines = [line for line in flow[candidate.start : end] if isinstance(line, Line)]
    if LABEL.match(text) and _stands_out_at(flow, end, lines[0], body):
        return False
    if comparable(text) in listed or comparable(bare(text)) in listed:
        return True
    larger = lines[0].size >= LARGER * body[0]
    if any(len(line.parts) > (2 if candidate.kind else 1) for line in lines):
        return False
    before = flow[candidate.start - 1] if candidate.start else None
    after = flow[end] if end < len(flow) else None
    if after is None:
        return False
    above = _gap(before, lines[0])
    below = _gap(lines[-1], after)
    if larger and not strict:
        return len(lines) <= 3 or bool(candidate.kind)
    if larger:
        return above > 1.3 or bool(candidate.kind)
    if candidate.kind and len(lines) <= 3 and above > 1.25:
        return True
    return len(lines) <= 2 and above > 1.35 and above >= 0.9 * below and len(text) <= 100 and text[0].isupper()


def _stands_out_at(flow: Sequence[Element], index: int, label: Line, body: tuple[float, bool]) -> bool:
    line = flow[index] if index < len(flow) else None
    return (
        isinstance(line, Line) and line.page == label.page and stands_out(line, body) and line.size >= label.size - 0.5
    )


def _gap(upper: Element | None, lower: Element) -> float:
    """Measure the distance of baselines in the lower one's letters; large if they are in different columns."""
    if upper is None or (upper.page, upper.frame) != (lower.page, lower.frame):
        return 9.0
    if not isinstance(lower, Line):
        return 1.5
    return (lower.baseline - (upper.baseline if isinstance(upper, Line) else upper.bottom)) / max(lower.size, 1)
