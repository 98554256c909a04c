"""Candidates for headings: how they are numbered, how they look, and which level follows from that; pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from knowledge.ingest.pdf.types import Element, Line
from knowledge.ingest.pdf.words import join_lines

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
MUCH_LARGER = 1.3
#: How a heading is numbered and looks: (kind, depth, size, bold).
Cluster = tuple[str, int, float, bool]


@dataclass(frozen=True, slots=True)
class Candidate:
    """Neighbouring lines of one look that stand out: `count` of them from `start`."""

    start: int
    count: int
    page: int
    style: tuple[float, bool]
    text: str
    kind: str
    depth: int

    @property
    def size(self) -> float:
        return self.style[0]

    @property
    def cluster(self) -> Cluster:
        """Cluster of the candidate: all of one cluster have one level."""
        return self.kind, self.depth, *self.style

    @property
    def places(self) -> range:
        return range(self.start, self.start + self.count)


def body_style(lines: Iterable[Line]) -> tuple[float, bool]:
    """Find the look of most of the text."""
    weights: Counter[tuple[float, bool]] = Counter()
    for line in lines:
        weights[line.style] += len(line.text)
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
    return Candidate(start, len(lines), lines[0].page, lines[0].style, text, kind, depth)


def stands_out(line: Line, body: tuple[float, bool]) -> bool:
    if line.mono or not re.search(r"[^\W\d_]", line.text):
        return False
    if line.in_cell:  # words that stand out a little are a label there
        return line.size >= MUCH_LARGER * body[0]
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
            votes["", 0, *candidate.style][level] += 1
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
