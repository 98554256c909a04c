"""How profiles did from run to run, as lines to be drawn; pure.

Letters, dashes and marks tell them apart, not colours alone.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from string import ascii_uppercase

WIDTH, HEIGHT = 480, 220
LEFT, RIGHT, TOP, BOTTOM = 40, 36, 12, 12
#: Letters at the lines' ends need so much room each.
LETTER = 13
DASHES = ("", "7 4", "2 4", "9 3 2 3")
#: Marks around 0, 0: a disc, a square, a triangle, a diamond, a cross.
MARKS = (
    "m-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0z",
    "m-3.5-3.5h7v7h-7z",
    "m0-4.5l4.5 8h-9z",
    "m0-5l5 5l-5 5l-5-5z",
    "m-1.5-4.5h3v3h3v3h-3v3h-3v-3h-3v-3h3z",
)
COLOURS = 6


@dataclass(frozen=True, slots=True)
class Style:
    """How a profile is drawn, in every chart of a page."""

    name: str
    letter: str
    dashes: str
    mark: str
    colour: int


@dataclass(frozen=True, slots=True)
class Line:
    """`path` goes through all points; `marks` is one path of all its marks; the letter stands at its end."""

    style: Style
    path: str
    marks: str
    letter_y: str
    newest: float


@dataclass(frozen=True, slots=True)
class Tick:
    y: str
    label_y: str
    value: float


@dataclass(frozen=True, slots=True)
class Chart:
    title: str
    lines: Sequence[Line]
    ticks: Sequence[Tick]


def styles_of(names: Sequence[str]) -> list[Style]:
    return [
        Style(
            name,
            ascii_uppercase[number % 26] * (1 + number // 26),
            DASHES[number % len(DASHES)],
            MARKS[number % len(MARKS)],
            number % COLOURS,
        )
        for number, name in enumerate(names)
    ]


def chart_of(
    title: str, styles: Sequence[Style], values: Mapping[str, Mapping[int, float]], *, places: int
) -> Chart | None:
    """`values` by name and place on the axis, from 0; None where there is none. The axis spans what there is."""
    found = [value for by_place in values.values() for value in by_place.values()]
    if not found:
        return None
    low, high = floor(min(found) * 10 + 1e-9), ceil(max(found) * 10 - 1e-9)
    if low == high:
        low, high = (low, high + 1) if low < 10 else (low - 1, high)
    step = 1 if high - low <= 5 else 2
    lows, highs = low / 10, high / 10

    def x(place: int) -> float:
        return LEFT + 8 + (WIDTH - LEFT - RIGHT - 16) * (place / (places - 1) if places > 1 else 0.5)

    def y(value: float) -> float:
        return TOP + (HEIGHT - TOP - BOTTOM) * (highs - value) / (highs - lows)

    drawn = {style.name: sorted(values[style.name].items()) for style in styles if values.get(style.name)}
    ends = _apart({name: y(points[-1][1]) for name, points in drawn.items()})
    lines = [
        Line(
            style,
            "M" + "L".join(f"{x(place):.1f} {y(value):.1f}" for place, value in drawn[style.name]),
            "".join(f"M{x(place):.1f} {y(value):.1f}{style.mark}" for place, value in drawn[style.name]),
            f"{ends[style.name] + 4:.1f}",
            drawn[style.name][-1][1],
        )
        for style in styles
        if style.name in drawn
    ]
    ticks = [
        Tick(f"{y(tenth / 10):.1f}", f"{y(tenth / 10) + 4:.1f}", tenth / 10) for tenth in range(low, high + 1, step)
    ]
    return Chart(title, lines, ticks)


def _apart(heights: Mapping[str, float]) -> dict[str, float]:
    """Moved down, and up again from the bottom, as far as letters need it that would stand on one another."""
    ordered = sorted(heights, key=lambda name: heights[name])
    found: dict[str, float] = {}
    lowest = float("-inf")
    for name in ordered:
        lowest = found[name] = max(heights[name], lowest + LETTER)
    limit = float(HEIGHT - BOTTOM)
    for name in reversed(ordered):
        limit = found[name] = min(found[name], limit)
        limit -= LETTER
    return found
