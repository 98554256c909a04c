"""Boxes of a page that was scanned askew, set straight; pure."""

import math
from collections.abc import Sequence

from knowledge.ingest.ocr.types import ReadLine

Point = tuple[float, float]
#: Upper left, upper right, lower right and lower left corner of a line, in pixels.
Quad = Sequence[Point]
#: Shorter boxes say little about the page's angle.
LONG = 4.0


def straighten(quads: Sequence[Quad], texts: Sequence[str], *, width: int, height: int) -> list[ReadLine]:
    """Return the lines in places that they had if the page lay straight."""
    angle = page_angle(quads)
    cos, sin = math.cos(angle), math.sin(angle)
    found = []
    for quad, text in zip(quads, texts, strict=True):
        if not text.strip():
            continue
        x = sum(corner[0] for corner in quad) / 4 - width / 2
        y = sum(corner[1] for corner in quad) / 4 - height / 2
        x, y = x * cos + y * sin + width / 2, y * cos - x * sin + height / 2
        half_width, half_height = math.dist(quad[0], quad[1]) / 2, math.dist(quad[0], quad[3]) / 2
        places = (
            (x - half_width) / width,
            (y - half_height) / height,
            (x + half_width) / width,
            (y + half_height) / height,
        )
        found.append(ReadLine(text.strip(), *(round(place, 5) for place in places)))
    return found


def page_angle(quads: Sequence[Quad]) -> float:
    """Return by how much the lines go down from left to right, in radians: the median of the long ones."""
    angles = sorted(
        math.atan2(right[1] - left[1], right[0] - left[0])
        for left, right, _lower_right, lower in quads
        if math.dist(left, right) > LONG * math.dist(left, lower)
    )
    return angles[len(angles) // 2] if angles else 0.0
