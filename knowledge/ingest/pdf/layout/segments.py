"""A page's characters on one line without a wide gap, and the words that they make; pure."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median

from knowledge.ingest.pdf.types import Char

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
