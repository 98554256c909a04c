"""Characters into lines, and lines into reading order, with columns read one after the other; pure."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from statistics import median

from knowledge.ingest.pdf.values import Char, Element, Line, Part, Table

#: Gaps, in the size of the letters: between words, and between parts of a line that may belong to two columns.
WORD_GAP, PART_GAP = 0.16, 0.9
#: A column is at least this wide, and its lines fill this share of it.
COLUMN_WIDTH, COLUMN_FILL = 90.0, 0.55
COLUMN_LINES = 5
GUTTER = 6.0

BOLD = re.compile(r"bold|black|heavy|semib|demi|[-,]bd|cmbx|cmssbx|sfbx|ecbx|bx\d|nimbusromno9l-medi|medi(?:ital)?$", re.I)
MONO = re.compile(r"mono|courier|typewriter|cmtt|sftt|ectt|cmsltt|consol|menlo|nimbusmonl|inconsol|lmtt", re.I)
#: Accents that old TeX fonts print as letters of their own, over the letter they belong to.
ACCENTS = {"¨": "\u0308", "´": "\u0301", "`": "\u0300", "ˆ": "\u0302", "˜": "\u0303", "¸": "\u0327", "˚": "\u030a", "ˇ": "\u030c"}
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


def lines_of(chars: Sequence[Char], tables: Sequence[Table] = (), *, number: int = 1) -> list[Element]:
    """The page's lines and tables in reading order."""
    segments: list[Segment | Table] = [*_raised_joined(_segments(chars)), *tables]
    found: list[Element] = []
    for frame, (members, left, right) in enumerate(_frames(segments)):
        members.sort(key=lambda item: item.top if isinstance(item, Table) else item.baseline)
        for item in _rows(members):
            if isinstance(item, Table):
                found.append(replace(item, frame=frame))
            elif line := _line(item, number, frame, left, right):
                found.append(line)
    return found


# --- characters into segments ---


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
        for char in row:
            if char.text.isspace():
                continue
            if part and char.x0 - end > PART_GAP * max(char.size, part[-1].size):
                found.append(Segment.of(part))
                part = []
            if part and _is_double(char, part):
                continue
            part.append(char)
            end = max(end, char.x1) if len(part) > 1 else char.x1
        if part:
            found.append(Segment.of(part))
    return found


def _is_double(char: Char, before: Sequence[Char]) -> bool:
    """Letters printed twice, a little apart, to look bold."""
    return any(
        other.text == char.text and abs(other.x0 - char.x0) < 0.12 * char.size and other.x1 - char.x0 > 0.5 * (char.x1 - char.x0)
        for other in before[-2:]
    )


def _raised_joined(segments: list[Segment]) -> list[Segment]:
    """Superscripts and subscripts put into the line they hang on."""
    if not segments:
        return []
    common = Counter(segment.size for segment in segments).most_common(1)[0][0]
    hosts = [segment for segment in segments if segment.size > 0.8 * common]
    small = [segment for segment in segments if segment.size <= 0.8 * common]
    if not small or not hosts:
        return segments
    extra: dict[int, list[Char]] = {}
    rest = []
    for segment in small:
        height = segment.bottom - segment.top
        for index, host in enumerate(hosts):
            overlap = min(segment.bottom, host.bottom) - max(segment.top, host.top)
            near = host.x0 - 0.3 * host.size < segment.x0 < host.x1 + 0.5 * host.size
            if near and overlap > 0.4 * height and segment.size <= 0.85 * host.size and len(segment.chars) <= 12:
                raised = host.baseline - segment.baseline > 0.15 * host.size
                chars = [
                    char._replace(text=char.text.translate(SUPERSCRIPTS)) if raised else char for char in segment.chars
                ]
                extra.setdefault(index, []).extend(chars)
                break
        else:
            rest.append(segment)
    joined = []
    for index, host in enumerate(hosts):
        if index in extra:
            chars = sorted((*host.chars, *extra[index]), key=lambda char: char.x0)
            joined.append(replace(host, chars=tuple(chars), x1=max(host.x1, *(char.x1 for char in extra[index]))))
        else:
            joined.append(host)
    return joined + rest


# --- columns ---


def _frames(items: list[Segment | Table]) -> Iterator[tuple[list[Segment | Table], float, float]]:
    """(what stands in a column, its left and right edge), columns in reading order."""
    if not items:
        return
    yield from _split(items, min(item.x0 for item in items), max(item.x1 for item in items), 0)


def _split(
    items: list[Segment | Table], left: float, right: float, depth: int
) -> Iterator[tuple[list[Segment | Table], float, float]]:
    gutter = _gutter(items, left, right) if depth < 3 else None
    if gutter is None:
        yield items, left, right
        return
    start, end = gutter
    crossing = sorted((item for item in items if item.x0 < start and item.x1 > end), key=_top)
    bands: list[tuple[list[Segment | Table], list[Segment | Table]]] = [([], []) for _ in range(len(crossing) + 1)]
    tops = [_top(item) for item in crossing]
    for item in items:
        if item.x0 < start and item.x1 > end:
            continue
        band = sum(top < _top(item) for top in tops)
        bands[band][0 if (item.x0 + item.x1) / 2 < (start + end) / 2 else 1].append(item)
    wide: list[Segment | Table] = []
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


def _beside(lefts: Sequence[Segment | Table], rights: Sequence[Segment | Table]) -> bool:
    """Whether they are a line or two with a gap, not columns."""
    return len(lefts) <= 2 and len(rights) <= 2 and max(map(_top, (*lefts, *rights))) - min(map(_top, (*lefts, *rights))) < 20


def _top(item: Segment | Table) -> float:
    return item.top


def _gutter(items: Sequence[Segment | Table], left: float, right: float) -> tuple[float, float] | None:
    """The empty strip between two columns of prose, if there are two."""
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
        start, end = left + core[0], left + core[-1] + 1
        if end - start >= GUTTER and _are_columns(items, left, right, start, end):
            if best is None or end - start > best[1] - best[0]:
                best = start, end
    return best


def _are_columns(
    items: Sequence[Segment | Table], left: float, right: float, start: float, end: float
) -> bool:
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


# --- segments into lines ---


def _rows(members: Iterable[Segment | Table]) -> Iterator[list[Segment] | Table]:
    row: list[Segment] = []
    for item in members:
        if isinstance(item, Table):
            if row:
                yield row
                row = []
            yield item
        elif row and item.baseline - row[0].baseline <= max(1.2, 0.15 * item.size):
            row.append(item)
        else:
            if row:
                yield row
            row = [item]
    if row:
        yield row


def _line(row: list[Segment], number: int, frame: int, left: float, right: float) -> Line | None:
    row.sort(key=lambda segment: segment.x0)
    parts = tuple(Part(text, seg.x0, seg.x1) for seg in row if (text := text_of(seg.chars)))
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
        bold=sum(bool(BOLD.search(char.font)) for char in letters) >= 0.9 * len(letters),
        mono=sum(bool(MONO.search(char.font)) for char in letters) >= 0.9 * len(letters),
        parts=parts,
        frame=frame,
        left=left,
        right=right,
    )


def text_of(chars: Sequence[Char]) -> str:
    """Characters from left to right as words."""
    found: list[str] = []
    end: float | None = None
    pending = ""
    for char in chars:
        text = LIGATURES.get(char.text, char.text)
        if end is not None and char.x0 - end > WORD_GAP * char.size and not pending:
            found.append(" ")
        if text in ACCENTS and len(chars) > 1:
            pending, end = text, char.x1 if end is None else max(end, char.x0)
            continue
        if pending:
            text = text + ACCENTS[pending] if text.isalpha() else pending + text
            pending = ""
        found.append(text)
        end = char.x1
    found.append(pending)
    text = unicodedata.normalize("NFC", "".join(found).replace("\x00", "").replace("\u00a0", " "))
    return " ".join(text.split())
