"""Lines that stand out of a text, and may be headings; pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from knowledge.ingest.pdf.numbering import LABEL, kind_of
from knowledge.ingest.pdf.values import Element, Line
from knowledge.ingest.pdf.words import join_lines

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
        """Candidates of one cluster have one level."""
        return self.kind, self.depth, *self.lines[0].style


def body_style(flow: Sequence[Element]) -> tuple[float, bool]:
    """The look of most of the text."""
    weights: Counter[tuple[float, bool]] = Counter()
    for element in flow:
        if isinstance(element, Line):
            weights[element.style] += len(element.text)
    return weights.most_common(1)[0][0] if weights else (10.0, False)


def candidates_of(flow: Sequence[Element], body: tuple[float, bool]) -> list[Candidate]:
    """In the order of the text; `body` is the look of most of it."""
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
    """Whether “Chapter 3” stands on the line above."""
    above = flow[index - 1] if index else None
    return isinstance(above, Line) and above.page == flow[index].page and bool(LABEL.match(above.text))


def candidate_from(start: int, lines: Sequence[Line], *, labelled: bool = False) -> Candidate:
    text = join_lines([line.text for line in lines])
    kind, depth = ("chapter", 1) if labelled and not LABEL.match(text) else kind_of(text)
    return Candidate(start, tuple(lines), text, kind, depth)


def stands_out(line: Line, body: tuple[float, bool]) -> bool:
    if line.mono or not re.search(r"[^\W\d_]", line.text):
        return False
    return line.size >= LARGER * body[0] or (line.bold and not body[1] and line.size >= 0.95 * body[0])


def _goes_on(line: Line, following: Line) -> bool:
    """Whether the next line is the same heading's."""
    if following.style != line.style or (following.page, following.frame) != (line.page, line.frame) or following.mono:
        return False
    if following.baseline - line.baseline > 1.75 * line.size:
        return False
    return not kind_of(following.text)[0]
