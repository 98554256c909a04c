"""Which lines are headings: from bookmarks, the table of contents, numbering and fonts; pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from knowledge.ingest.pdf.layout import comparable, join_lines
from knowledge.ingest.pdf.toc import Entry
from knowledge.ingest.pdf.types import Bookmark, Element, Line

_ROMAN = r"(?:(?=[MDCLXVI]+\b)M{0,3}(?:C[MD]|D?C{0,3})(?:X[CL]|L?X{0,3})(?:IX|IV|V?I{0,3}))"
_WORD = (
    r"(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|"
    r"eighteen|nineteen|twenty(?:[- ]?\w+)?)"
)
KINDS: list[tuple[str, re.Pattern[str]]] = [
    ("part", re.compile(rf"^(?:part|teil|buch)\s+(?:\d+|{_ROMAN}|[A-Z]|{_WORD})\b", re.IGNORECASE)),
    (
        "chapter",
        re.compile(
            rf"^(?:chapter|kapitel|appendix|anhang|abschnitt)\s+(?:\d+|{_ROMAN}|[A-Z]|{_WORD})\b", re.IGNORECASE
        ),
    ),
    ("paragraph", re.compile(r"^(?:§+|art(?:ikel|icle|\.)|section)\s*\d+[a-z]?\b", re.IGNORECASE)),
    ("number", re.compile(r"^\d{1,3}(?:\.\d{1,3})*\.?\s+(?=\S*[^\W\d_])")),
    ("letter", re.compile(r"^[A-Z](?:\.\d{1,3})+\.?\s+(?=\S*[^\W\d_])")),
    ("roman", re.compile(r"^(?:[IVX]+\.|[IVX]{2,})\s+(?=\S*[^\W\d_])")),
    ("alphabet", re.compile(r"^[A-Z][.)]?\s+(?=[A-ZÄÖÜ\d])")),
]
RANK = {
    name: rank for rank, name in enumerate(["part", "chapter", "roman", "alphabet", "paragraph", "number", "letter"])
}
NUMBERING = re.compile(
    rf"^(?:(?:part|teil|chapter|kapitel|appendix|anhang|section|abschnitt)\s+)?(?:\d{{1,3}}(?:\.\d{{1,3}})*|[A-Z](?:\.\d{{1,3}})+|{_ROMAN}|[A-Z])[.:)]?\s+",
    re.IGNORECASE,
)
#: A line of its own over a chapter's title.
LABEL = re.compile(
    rf"^(?:(?:chapter|kapitel|appendix|anhang|part|teil)\s*(?:\d+|{_ROMAN}|[A-Z]|{_WORD})?|{_WORD})\.?$", re.IGNORECASE
)
CAPTION = re.compile(
    r"^(?:table|tabelle|tab\.|figure|fig\.|abbildung|abb\.|listing|example|beispiel|diagram|diagramm)\s*\d",
    re.IGNORECASE,
)


#: Names of boxes in a text, which stand above nothing but the box.


def recognise_kind(text: str) -> tuple[str, int]:
    """Recognise how a heading is numbered, and how deep: (“number”, 2) for “1.2 Fees”."""
    for name, pattern in KINDS:
        if found := pattern.match(text):
            depth = len(re.findall(r"\d+", found.group())) if name in {"number", "letter"} else 1
            return ("number", depth + 1) if name == "letter" else (name, depth)
    return "", 0


def bare(title: str) -> str:
    """Strip the number from a title."""
    return NUMBERING.sub("", title, count=1)


#: Lines of one heading.
MOST_LINES = 4
#: Larger than the body's letters by this factor is larger.
LARGER = 1.07
#: How a heading is numbered and looks: (kind, depth, size, bold).
Cluster = tuple[str, int, float, bool]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Neighbouring lines of one look that stand out."""

    start: int
    lines: tuple[Line, ...]
    text: str
    kind: str
    depth: int

    @property
    def size(self) -> float:
        return self.lines[0].style[0]

    @property
    def cluster(self) -> Cluster:
        """Cluster of the candidate: all of one cluster have one level."""
        return self.kind, self.depth, *self.lines[0].style


def body_style(flow: Sequence[Element]) -> tuple[float, bool]:
    """Find the look of most of the text."""
    weights: Counter[tuple[float, bool]] = Counter()
    for element in flow:
        if isinstance(element, Line):
            weights[element.style] += len(element.text)
    return weights.most_common(1)[0][0] if weights else (10.0, False)


def list_candidates(flow: Sequence[Element], body: tuple[float, bool]) -> list[Candidate]:
    """List the candidates in the order of the text; `body` is the look of most of it."""
    found: list[Candidate] = []
    index = 0
    while index < len(flow):
        first = flow[index]
        if not isinstance(first, Line) or not stands_out(first, body):
            index += 1
            continue
        lines = [first]
        while index + len(lines) < len(flow):
            following = flow[index + len(lines)]
            if not isinstance(following, Line) or not _goes_on(lines[-1], following):
                break
            lines.append(following)
        if len(lines) <= MOST_LINES:
            found.append(candidate_from(index, lines, labelled=is_labelled(flow, index)))
        index += len(lines)
    return found


def is_labelled(flow: Sequence[Element], index: int) -> bool:
    """Return whether a label such as “Chapter 3” stands on the line above."""
    above = flow[index - 1] if index else None
    return isinstance(above, Line) and above.page == flow[index].page and bool(LABEL.match(above.text))


def candidate_from(start: int, lines: Sequence[Line], *, labelled: bool = False) -> Candidate:
    text = join_lines([line.text for line in lines])
    kind, depth = ("chapter", 1) if labelled and not LABEL.match(text) else recognise_kind(text)
    return Candidate(start, tuple(lines), text, kind, depth)


def stands_out(line: Line, body: tuple[float, bool]) -> bool:
    if line.mono or not re.search(r"[^\W\d_]", line.text):
        return False
    return line.size >= LARGER * body[0] or (line.bold and not body[1] and line.size >= 0.95 * body[0])


def _goes_on(line: Line, following: Line) -> bool:
    """Return whether the next line belongs to the same heading."""
    if following.style != line.style or (following.page, following.frame) != (line.page, line.frame) or following.mono:
        return False
    if following.baseline - line.baseline > 1.75 * line.size:
        return False
    return not recognise_kind(following.text)[0]


#: Headings go no deeper.
DEEPEST = 4
#: What stands on one level: headings numbered alike (kind, depth), or ones without a number that look alike.
Tier = tuple[str, int] | tuple[float, bool]


def known_levels(candidates: Sequence[Candidate], told: Mapping[int, int]) -> dict[Cluster, int]:
    """Return the levels of the looks that bookmarks name; `told` has a level by a heading's first line."""
    votes: dict[Cluster, Counter[int]] = defaultdict(Counter)
    for candidate in candidates:
        if level := told.get(candidate.start):
            votes[candidate.cluster][level] += 1
            votes["", 0, *candidate.lines[0].style][level] += 1
    return {cluster: levels.most_common(1)[0][0] for cluster, levels in votes.items()}


def assign_levels(candidates: Sequence[Candidate], known: Mapping[Cluster, int]) -> dict[Cluster, int]:
    """Assign a level to every cluster: larger letters stand above smaller, shorter numbers above longer ones."""
    sizes = _sizes(candidates)
    items = _listlike(sizes)
    clusters = {candidate.cluster for candidate in candidates}
    sections = {cluster for cluster in clusters if cluster[:2] not in items}
    tier_of = _tiers(candidates, sections)
    level_of: dict[Tier, int] = {}
    level = 0
    for tier in _ordered(set(tier_of.values()), sizes):
        told = next((known[cluster] for cluster in known if _own_tier(cluster) == tier), None)
        level = level_of[tier] = min(DEEPEST, level + 1) if told is None else told
    return {
        cluster: min(DEEPEST, known.get(cluster, level_of[tier_of[cluster]])) if cluster in sections else DEEPEST
        for cluster in clusters
    }


def _sizes(candidates: Sequence[Candidate]) -> dict[tuple[str, int], float]:
    """Measure the usual size of the letters, by the way of numbering."""
    sizes: dict[tuple[str, int], list[float]] = defaultdict(list)
    for candidate in candidates:
        if candidate.kind:
            sizes[candidate.kind, candidate.depth].append(candidate.size)
    return {numbered: median(values) for numbered, values in sizes.items()}


def _listlike(sizes: Mapping[tuple[str, int], float]) -> set[tuple[str, int]]:
    """Find bold items of a numbered list: they are smaller than the sections that they stand in."""
    numbers = {depth: size for (kind, depth), size in sizes.items() if kind == "number"}
    return {
        ("number", depth)
        for depth, size in numbers.items()
        if any(deeper > depth and larger > size + 0.3 for deeper, larger in numbers.items())
    }


def _own_tier(cluster: Cluster) -> Tier:
    kind, depth, size, bold = cluster
    return (kind, depth) if kind else (size, bold)


def _tiers(candidates: Sequence[Candidate], clusters: set[Cluster]) -> dict[Cluster, Tier]:
    """Assign each cluster's tier; a heading without a number that looks like numbered ones has theirs."""
    numbered = Counter(c.cluster for c in candidates if c.kind and c.cluster in clusters)
    looks: dict[Tier, Tier] = {}
    for (kind, depth, size, bold), _count in numbered.most_common():
        looks.setdefault((size, bold), (kind, depth))
    return {
        cluster: _own_tier(cluster) if cluster[0] else looks.get(_own_tier(cluster), _own_tier(cluster))
        for cluster in clusters
    }


def _ordered(tiers: set[Tier], sizes: Mapping[tuple[str, int], float]) -> list[Tier]:
    """Order tiers from the highest to the lowest."""

    def height(tier: Tier) -> tuple[float, int, int]:
        if isinstance(tier[0], str):
            return -sizes[tier[0], tier[1]], RANK[tier[0]], tier[1]
        return -tier[0], len(RANK) + 1 - tier[1], 0

    order = sorted(tiers, key=height)
    # Numbers count on from the shortest one, whatever their letters' sizes are.
    slots = [index for index, tier in enumerate(order) if tier[0] == "number"]
    numbers = sorted((order[slot] for slot in slots), key=lambda tier: tier[1])
    for slot, tier in zip(slots, numbers, strict=True):
        order[slot] = tier
    return order


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


def with_run_in_split(flow: Sequence[Element], bookmarks: Sequence[Bookmark]) -> list[Element]:
    """Split headings from the paragraph that begins beside them if a bookmark names them."""
    wanted: dict[int, set[str]] = defaultdict(set)
    for bookmark in bookmarks:
        wanted[bookmark.page] |= {comparable(bookmark.title), comparable(bare(bookmark.title))}
    found: list[Element] = []
    for element in flow:
        if isinstance(element, Line) and len(element.parts) > 1:
            first, *others = element.parts
            if comparable(first.text) in wanted[element.page] and comparable(first.text):
                rest = " ".join(part.text for part in others)
                found.append(replace(element, text=first.text, x1=first.x1, parts=(first,)))
                found.append(replace(element, text=rest, x0=others[0].x0, parts=tuple(others)))
                continue
        found.append(element)
    return found


def find_headings(
    flow: Sequence[Element], *, bookmarks: Sequence[Bookmark], entries: Sequence[Entry], title: str
) -> dict[int, Heading]:
    """Find headings by the index of their first line in `flow`."""
    body = body_style(flow)
    candidates = list_candidates(flow, body)
    front = _front(flow, candidates, body, title)
    found = _bookmarked(flow, bookmarks, candidates)
    taken = {index for start, heading in found.items() for index in range(start, start + heading.count)}
    sure = len(found) >= max(3, 0.6 * len(bookmarks)) if bookmarks else False
    listed = {comparable(bare(entry.title)) for entry in entries} | {comparable(entry.title) for entry in entries}
    free = [
        candidate
        for candidate in candidates
        if not taken & set(range(candidate.start, candidate.start + len(candidate.lines)))
        and _is_heading(flow, candidate, body, listed, strict=sure)
        and candidate.start not in front
    ]
    if not sure and listed:
        free += _listed_only(flow, listed, {*taken, *(i for c in free for i in range(c.start, c.start + len(c.lines)))})
    known = known_levels(candidates, {start: heading.level for start, heading in found.items()})
    levels = assign_levels(free, known)
    for candidate in free:
        found[candidate.start] = Heading(candidate.text, levels[candidate.cluster], len(candidate.lines))
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
    flow: Sequence[Element], bookmarks: Sequence[Bookmark], candidates: Sequence[Candidate]
) -> dict[int, Heading]:
    """Find the lines that bookmarks name, in order, on the page that they open or the one after."""
    by_page: dict[int, list[int]] = defaultdict(list)
    for index, element in enumerate(flow):
        if isinstance(element, Line):
            by_page[element.page].append(index)
    starts = {candidate.start: candidate for candidate in candidates}
    found: dict[int, Heading] = {}
    top = min((bookmark.level for bookmark in bookmarks), default=1)
    for bookmark in bookmarks:
        wanted = {comparable(bookmark.title), comparable(bare(bookmark.title))} - {""}
        best: tuple[int, int, int] | None = None  # (quality, index, lines)
        for index in [*by_page[bookmark.page], *by_page[bookmark.page + 1]]:
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
    first = [candidate for candidate in candidates if candidate.lines[0].page == flow[0].page and candidate.start < 30]
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
    text, first = candidate.text, candidate.lines[0]
    if len(text) > LONGEST or CAPTION.match(text) or comparable(text) in BOXES or len(comparable(text)) < 2:
        return False
    if (
        text.endswith((",", ";"))
        or re.match(r"^[•●▪■◦–—\-*]\s", text)
        or (text.endswith((".", ":")) and not candidate.kind)
    ):
        return False
    if LABEL.match(text) and _stands_out_at(flow, candidate.start + len(candidate.lines), first, body):
        return False
    if comparable(text) in listed or comparable(bare(text)) in listed:
        return True
    larger = first.size >= LARGER * body[0]
    if any(len(line.parts) > (2 if candidate.kind else 1) for line in candidate.lines):
        return False
    before = flow[candidate.start - 1] if candidate.start else None
    end = candidate.start + len(candidate.lines)
    after = flow[end] if end < len(flow) else None
    if after is None:
        return False
    above = _gap(before, first)
    below = _gap(candidate.lines[-1], after)
    if larger and not strict:
        return len(candidate.lines) <= 3 or bool(candidate.kind)
    if larger:
        return above > 1.3 or bool(candidate.kind)
    if candidate.kind and len(candidate.lines) <= 3 and above > 1.25:
        return True
    return (
        len(candidate.lines) <= 2 and above > 1.35 and above >= 0.9 * below and len(text) <= 100 and text[0].isupper()
    )


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
