"""Boxes of pages that were scanned askew."""

import math

import pytest

from knowledge.ingest.ocr.skew import Quad, page_angle, straighten


def turned(x: float, y: float, width: float, height: float, angle: float) -> Quad:
    """Return a box of a page of 1000 × 1000 pixels, which is turned about its middle."""
    cos, sin = math.cos(angle), math.sin(angle)
    corners = ((x, y), (x + width, y), (x + width, y + height), (x, y + height))
    middle = [(a - 500, b - 500) for a, b in corners]
    return [(a * cos - b * sin + 500, a * sin + b * cos + 500) for a, b in middle]


@pytest.mark.parametrize("degrees", [-3.0, 0.0, 1.5])
def test_lines_of_a_page_that_lies_askew_stand_where_they_were_printed(degrees: float) -> None:
    angle = math.radians(degrees)
    quads = [turned(100, 100, 800, 20, angle), turned(100, 140, 700, 20, angle), turned(100, 900, 15, 20, angle)]
    assert page_angle(quads) == pytest.approx(angle)
    first, second, last = straighten(quads, ["eins", "zwei", "3"], width=1000, height=1000)
    assert first == ("eins", *(pytest.approx(place, abs=1e-4) for place in (0.1, 0.1, 0.9, 0.12)))
    assert second.top == pytest.approx(0.14, abs=1e-4)
    assert (last.text, last.x0) == ("3", pytest.approx(0.1, abs=1e-4))


def test_a_page_without_long_lines_counts_as_straight() -> None:
    assert page_angle([]) == 0
    assert page_angle([turned(0, 0, 20, 20, 0.3)]) == 0
    assert straighten([turned(0, 0, 20, 20, 0)], [" "], width=100, height=100) == []
