"""Lines that OCR has read as characters of the page, for the same reading order as printed ones; pure."""

from collections.abc import Sequence
from statistics import median

from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.pdf.types import Char

#: Not bold, not monospaced: a picture does not say what its letters are called.
FONT = "OCR"
#: A box is higher than the letters' size by this much.
BOX = 1.15
#: Heights of boxes differ by their letters: within these bounds they are of one size.
SAME_SIZE = (0.65, 1.35)
#: Share of a line's height that two boxes of one row have in common.
SAME_ROW = 0.5


def place_lines(lines: Sequence[ReadLine], *, width: float, height: float, beside: Sequence[Char]) -> list[ReadLine]:
    """Place the lines on a page, in points, but those that stand where the page itself has text (`beside`)."""
    boxes = [
        ReadLine(line.text, line.x0 * width, line.top * height, line.x1 * width, line.bottom * height)
        for line in lines
        if line.text.strip()
    ]
    return [box for box in boxes if not any(_is_on(char, box) for char in beside)]


def characters_read(boxes: Sequence[ReadLine]) -> list[Char]:
    """Return the characters of lines that were placed."""
    if not boxes:
        return []
    usual = median(box.bottom - box.top for box in boxes)
    found: list[Char] = []
    for row in group_rows(boxes):
        baseline = median(box.bottom for box in row) - 0.2 * usual
        for box in row:
            share = (box.bottom - box.top) / usual
            size = round((usual if SAME_SIZE[0] <= share <= SAME_SIZE[1] else box.bottom - box.top) / BOX, 1)
            found += _letters(box, baseline, size)
    return found


def _is_on(char: Char, box: ReadLine) -> bool:
    x, y = (char.x0 + char.x1) / 2, (char.top + char.bottom) / 2
    return box.x0 <= x <= box.x1 and box.top <= y <= box.bottom


def group_rows(boxes: Sequence[ReadLine]) -> list[list[ReadLine]]:
    """Group boxes that stand beside each other; the page's columns are told apart later."""
    rows: list[list[ReadLine]] = []
    for box in sorted(boxes, key=lambda box: box.top + box.bottom):
        if rows and _shared(box, rows[-1][-1]) >= SAME_ROW and not any(_is_over(box, other) for other in rows[-1]):
            rows[-1].append(box)
        else:
            rows.append([box])
    return rows


def _is_over(box: ReadLine, other: ReadLine) -> bool:
    """Return whether one stands over the other: then they are two lines, whatever stands beside both."""
    return box.x0 < other.x1 and other.x0 < box.x1


def _shared(box: ReadLine, other: ReadLine) -> float:
    """Return how much of the lower one's height both have in common."""
    common = min(box.bottom, other.bottom) - max(box.top, other.top)
    return common / max(0.1, min(box.bottom - box.top, other.bottom - other.top))


def _letters(box: ReadLine, baseline: float, size: float) -> list[Char]:
    """Place the letters evenly over the box."""
    step = (box.x1 - box.x0) / len(box.text)
    return [
        Char(letter, box.x0 + index * step, box.x0 + (index + 1) * step, baseline - 0.8 * size, baseline + 0.2 * size,
             baseline, size, FONT)
        for index, letter in enumerate(box.text)
    ]  # fmt: skip
