"""A page's characters into lines in reading order, with columns read one after the other; pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import groupby
from statistics import median

from knowledge.ingest.pdf.types import Char, Element, Form, Line, Part, Table

#: Gaps, in the size of the letters: between words, and between parts of a line that may belong to two columns.
WORD_GAP, PART_GAP = 0.16, 0.9
#: And where a space is written, which some fonts and justified lines make narrow.
SPACE_GAP = 0.06
#: Accents that old TeX fonts print as letters of their own, over the letter they belong to.
ACCENTS = {
    "¨": "\u0308",
    "´": "\u0301",
    "`": "\u0300",
    "ˆ": "\u0302",
    "˜": "\u0303",
    "¸": "\u0327",
    "˚": "\u030a",
    "ˇ": "\u030c",
}
SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LIGATURES = {chr(code): unicodedata.normalize("NFKC", chr(code)) for code in range(0xFB00, 0xFB07)}


@dataclass(frozen=True, slots=True)
class Segment:
    """Characters of one line without a wide gap between them."""

    chars: tuple[Char, ...]
    x0: float
    x1: float
    top: float
    bottom: float
    baseline: float
    size: float

    @classmethod
    def of(cls, chars: Sequence[Char]) -> "Segment":
        main = Counter(round(char.size, 1) for char in chars if not char.text.isspace())
        size = main.most_common(1)[0][0]
        body = [char for char in chars if round(char.size, 1) == size and not char.text.isspace()]
        return cls(
            tuple(chars),
            min(char.x0 for char in chars),
            max(char.x1 for char in chars),
            min(char.top for char in body),
            max(char.bottom for char in body),
            median(char.baseline for char in body),
            size,
        )


def group_segments(chars: Sequence[Char]) -> list[Segment]:
    """Group characters on one line without a wide gap, and join what is raised or lowered to it."""
    return _raised_joined(_segments(chars))


def _segments(chars: Sequence[Char]) -> list[Segment]:
    rows: list[list[Char]] = []
    for char in sorted(chars, key=lambda char: char.baseline):
        if rows and char.baseline - rows[-1][0].baseline <= max(1.0, 0.12 * char.size):
            rows[-1].append(char)
        else:
            rows.append([char])
    found = []
    for row in rows:
        row.sort(key=lambda char: char.x0)
        part: list[Char] = []
        end = 0.0
        space: Char | None = None
        for char in row:
            if char.text.isspace():
                space = char
                continue
            if part and char.x0 - end > PART_GAP * max(char.size, part[-1].size):
                found.append(Segment.of(part))
                part = []
            if part and _is_double(char, part):
                continue
            if space and part and char.x0 - end > SPACE_GAP * char.size and end - 1 <= space.x0 < char.x0:
                part.append(space)
            space = None
            part.append(char)
            end = max(end, char.x1) if len(part) > 1 else char.x1
        if part:
            found.append(Segment.of(part))
    return found


def _is_double(char: Char, before: Sequence[Char]) -> bool:
    """Recognise letters printed twice, a little apart, to look bold."""
    return any(
        other.text == char.text
        and abs(other.x0 - char.x0) < 0.12 * char.size
        and other.x1 - char.x0 > 0.5 * (char.x1 - char.x0)
        for other in before[-2:]
    )


def _raised_joined(segments: list[Segment]) -> list[Segment]:
    """Join superscripts, subscripts and lowered letters (as in TeX's name) to their line."""
    if not segments:
        return []
    common = Counter(segment.size for segment in segments).most_common(1)[0][0]
    small = [segment for segment in segments if len(segment.chars) <= (12 if segment.size <= 0.8 * common else 2)]
    hosts = [segment for segment in segments if segment.size > 0.8 * common]
    extra: dict[int, list[Char]] = {}
    hung: set[int] = set()
    for segment in small:
        for host in hosts:
            if id(host) not in hung and _hangs_on(segment, host):
                raised = host.baseline - segment.baseline > 0.15 * host.size
                extra.setdefault(id(host), []).extend(
                    char._replace(text=char.text.translate(SUPERSCRIPTS)) if raised else char for char in segment.chars
                )
                hung.add(id(segment))
                break
    found = []
    for segment in segments:
        if id(segment) in hung:
            continue
        if more := extra.get(id(segment)):
            chars = tuple(sorted((*segment.chars, *more), key=lambda char: char.x0))
            x0, x1 = min(char.x0 for char in chars), max(char.x1 for char in chars)
            segment = replace(segment, chars=chars, x0=x0, x1=x1)
        found.append(segment)
    return found


def _hangs_on(segment: Segment, host: Segment) -> bool:
    if segment is host or len(host.chars) <= len(segment.chars) or segment.size > 1.05 * host.size:
        return False
    overlap = min(segment.bottom, host.bottom) - max(segment.top, host.top)
    shift = abs(segment.baseline - host.baseline)
    if overlap < 0.4 * (segment.bottom - segment.top) or not 0.05 * host.size < shift < 0.6 * host.size:
        return False
    if not (host.x0 - 0.6 * host.size < segment.x1 and segment.x0 < host.x1 + 0.5 * host.size):
        return False
    if segment.size <= 0.85 * host.size:
        return True
    # A lowered letter of full size stands in a gap of its own.
    covered = sum(max(0.0, min(char.x1, segment.x1) - max(char.x0, segment.x0)) for char in host.chars)
    return covered < 0.8 * (segment.x1 - segment.x0)


def _letter_under(chars: Sequence[Char], index: int) -> int | None:
    """Find the neighbour that an accent is printed over."""
    accent = chars[index]
    centre = (accent.x0 + accent.x1) / 2
    for near in (index - 1, index + 1):
        if 0 <= near < len(chars) and chars[near].text.isalpha() and chars[near].x0 <= centre <= chars[near].x1:
            return near
    return None


def join_characters(chars: Sequence[Char]) -> str:
    """Join characters from left to right to words."""
    found: list[str] = []
    end: float | None = None
    over: Char | None = None  # an accent that stands over the next letter
    for index, char in enumerate(chars):
        text = LIGATURES.get(char.text, char.text)
        if text in ACCENTS and (letter := _letter_under(chars, index)) is not None:
            if letter < index:
                found.append(ACCENTS[text])
                end = max(end or 0, chars[letter].x1)
                continue
            over = char
            if end is not None and min(char.x0, chars[letter].x0) - end > WORD_GAP * char.size:
                found.append(" ")
            end = None
            continue
        if end is not None and char.x0 - end > WORD_GAP * char.size:
            found.append(" ")
        found.append(text)
        if over:
            found.append(ACCENTS[over.text])
            over = None
        end = char.x1
    text = unicodedata.normalize("NFC", "".join(found).replace("\x00", "").replace("\u00a0", " "))
    return " ".join(text.split())


#: A column is at least this wide, and its lines fill this share of it.
COLUMN_WIDTH, COLUMN_FILL = 90.0, 0.55
COLUMN_LINES = 5
GUTTER = 6.0
MOST_SPLITS = 3
Item = Segment | Table | Form
#: What stands in a column, and its left and right edge.
Frame = tuple[list[Item], float, float]


def frames(items: list[Item], *, columns: bool) -> Iterator[Frame]:
    """Yield (contents, left and right edge) of each column, in reading order."""
    if not items:
        return
    yield from _split(
        items, min(item.x0 for item in items), max(item.x1 for item in items), 0 if columns else MOST_SPLITS
    )


def _split(items: list[Item], left: float, right: float, depth: int) -> Iterator[Frame]:
    gutter = _gutter(items, left, right) if depth < MOST_SPLITS else None
    if gutter is None:
        yield items, left, right
        return
    start, end = gutter
    crossing = sorted((item for item in items if item.x0 < start and item.x1 > end), key=_top)
    bands: list[tuple[list[Item], list[Item]]] = [([], []) for _ in range(len(crossing) + 1)]
    tops = [_top(item) for item in crossing]
    for item in items:
        if item.x0 < start and item.x1 > end:
            continue
        band = sum(top < _top(item) for top in tops)
        bands[band][0 if (item.x0 + item.x1) / 2 < (start + end) / 2 else 1].append(item)
    wide: list[Item] = []
    for (lefts, rights), separator in zip(bands, [*crossing, None], strict=True):
        if lefts and rights and not _beside(lefts, rights):
            if wide:
                yield wide, left, right
                wide = []
            yield from _split(lefts, min(item.x0 for item in lefts), start, depth + 1)
            yield from _split(rights, end, max(item.x1 for item in rights), depth + 1)
        else:
            wide += lefts + rights
        if separator is not None:
            wide.append(separator)
    if wide:
        yield wide, left, right


def _beside(lefts: Sequence[Item], rights: Sequence[Item]) -> bool:
    """Return whether they are a line or two with a gap, not columns."""
    return (
        len(lefts) <= 2
        and len(rights) <= 2
        and max(map(_top, (*lefts, *rights))) - min(map(_top, (*lefts, *rights))) < 20
    )


def _top(item: Item) -> float:
    return item.top


def _gutter(items: Sequence[Item], left: float, right: float) -> tuple[float, float] | None:
    """Find the empty strip between two columns of prose, if there are two."""
    if right - left < 2 * COLUMN_WIDTH:
        return None
    width = int(right - left) + 1
    crossings = [0] * (width + 1)
    for item in items:
        start, end = max(0, int(item.x0 - left)), min(width, int(item.x1 - left) + 1)
        crossings[start] += 1
        crossings[end] -= 1
    covered, total = [], 0
    for change in crossings[:width]:
        total += change
        covered.append(total)
    from_x, to_x = int(0.2 * width), int(0.8 * width)
    fewest = min(covered[from_x:to_x])
    best: tuple[float, float] | None = None
    for is_empty, run in groupby(range(from_x, to_x), key=lambda x: covered[x] <= fewest + 1):
        strip = list(run)
        if not is_empty:
            continue
        low = min(covered[x] for x in strip)
        core = [x for x in strip if covered[x] == low]
        strip_start, strip_end = left + core[0], left + core[-1] + 1
        is_wider = best is None or strip_end - strip_start > best[1] - best[0]
        if is_wider and strip_end - strip_start >= GUTTER and _are_columns(items, left, right, strip_start, strip_end):
            best = strip_start, strip_end
    return best


def _are_columns(items: Sequence[Item], left: float, right: float, start: float, end: float) -> bool:
    lefts = [item for item in items if item.x1 <= start + 1]
    rights = [item for item in items if item.x0 >= end - 1]
    crossing = len(items) - len(lefts) - len(rights)
    if min(len(lefts), len(rights)) < COLUMN_LINES or crossing > 1.5 * min(len(lefts), len(rights)):
        return False
    left_width, right_width = start - left, right - end
    if min(left_width, right_width) < COLUMN_WIDTH:
        return False
    return all(
        median(sorted(item.x1 - item.x0 for item in side)[len(side) // 4 :]) >= COLUMN_FILL * width
        for side, width in ((lefts, left_width), (rights, right_width))
    )


BOLD = re.compile(
    r"bold|black|heavy|semib|demi|[-,]bd|cmbx|cmssbx|sfbx|ecbx|bx\d|nimbusromno9l-medi|medi(?:ital)?$", re.I
)
MONO = re.compile(r"mono|courier|typewriter|cmtt|sftt|ectt|cmsltt|consol|menlo|nimbusmonl|inconsol|lmtt", re.I)


@lru_cache(maxsize=256)
def is_bold(font: str) -> bool:
    return bool(BOLD.search(font))


@lru_cache(maxsize=256)
def is_mono(font: str) -> bool:
    return bool(MONO.search(font))


def arrange_lines(
    chars: Sequence[Char], boxes: Sequence[Table | Form] = (), *, number: int = 1, columns: bool = True
) -> list[Element]:
    """List the page's lines, tables and what stands in its forms in reading order."""
    items: list[Item] = [*group_segments(chars), *boxes]
    found: list[Element] = []
    frame = 0
    for members, left, right in frames(items, columns=columns):
        members.sort(key=lambda item: item.baseline if isinstance(item, Segment) else item.top)
        for item in _rows(members):
            if isinstance(item, Form):
                found += [replace(element, frame=frame + 1 + element.frame) for element in item.elements]
                frame = found[-1].frame + 1
            elif isinstance(item, Table):
                found.append(replace(item, frame=frame))
            elif line := _line(item, number, frame, left, right):
                found.append(line)
        frame += 1
    return found


def _rows(members: Iterable[Item]) -> Iterator[list[Segment] | Table | Form]:
    row: list[Segment] = []
    for item in members:
        if not isinstance(item, Segment):
            if row:
                yield row
                row = []
            yield item
        elif row and (item.baseline - row[0].baseline <= max(1.2, 0.15 * item.size) or _is_value(item, row)):
            row.append(item)
        else:
            if row:
                yield row
            row = [item]
    if row:
        yield row


def _is_value(segment: Segment, row: Sequence[Segment]) -> bool:
    """Return whether it stands a little below a label that it belongs to."""
    label = max(row, key=lambda other: other.x1)
    return (
        label.chars[-1].text == ":"
        and label.x1 < segment.x0
        and segment.baseline - label.baseline <= 0.4 * min(label.size, segment.size)
    )


def _line(row: list[Segment], number: int, frame: int, left: float, right: float) -> Line | None:
    row.sort(key=lambda segment: segment.x0)
    parts = tuple(Part(text, seg.x0, seg.x1) for seg in row if (text := join_characters(seg.chars)))
    if not parts:
        return None
    chars = [char for segment in row for char in segment.chars]
    letters = [char for char in chars if char.text.isalnum()] or chars
    main = max(row, key=lambda segment: len(segment.chars))
    return Line(
        page=number,
        text=" ".join(part.text for part in parts),
        x0=parts[0].x0,
        x1=parts[-1].x1,
        top=min(segment.top for segment in row),
        baseline=main.baseline,
        size=main.size,
        bold=sum(is_bold(char.font) for char in letters) >= 0.9 * len(letters),
        mono=sum(is_mono(char.font) for char in letters) >= 0.9 * len(letters),
        parts=parts,
        frame=frame,
        left=left,
        right=right,
    )
