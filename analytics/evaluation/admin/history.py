"""The history of a set's runs: a table, and a chart for each measure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil, floor
from string import ascii_uppercase
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analytics.models import EvaluationRun, EvaluationSet

WIDTH, HEIGHT = 480, 220
LEFT, RIGHT, TOP, BOTTOM = 40, 36, 12, 12
#: Room for a letter at a line's end.
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
    """The style of a profile's line, in every chart of a page."""

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


def assign_styles(names: Sequence[str]) -> list[Style]:
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


def draw_chart(
    title: str, styles: Sequence[Style], values: Mapping[str, Mapping[int, float]], *, places: int
) -> Chart | None:
    """Draw `values` by name and place on the axis, from 0; None where there is none. The axis spans what there is."""
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
    """Move labels that would overlap apart: down, and up again from the bottom."""
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


SHOWN = 30
#: Measures of a history, by their names in the results.
CHARTED = {"mrr": "MRR", "recall@5": "R@5", "ndcg@10": "nDCG@10", "auroc": "AUROC"}
#: Measures of a run's page.
MEASURED = {
    "mrr": "MRR",
    "recall@1": "R@1",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "recall@25": "R@25",
    "recall@50": "R@50",
    "recall@100": "R@100",
    "map@100": "MAP@100",
    "ndcg@10": "nDCG@10",
    "ndcg@100": "nDCG@100",
    "auroc": "AUROC",
}


@dataclass(frozen=True, slots=True)
class Figure:
    """A chart, and what it shows in words."""

    name: str
    chart: Chart
    description: str


@dataclass(frozen=True, slots=True)
class History:
    """The newest runs, newest first; `finished` of them are charted."""

    runs: Sequence[tuple[EvaluationRun, list[tuple[str, float | None]], str]]
    finished: Sequence[EvaluationRun]
    styles: Sequence[Style]
    figures: Sequence[Figure]


def read_measure(run: EvaluationRun, name: str) -> float | None:
    """Return a measure of a run; None if it has not finished or nothing was judged."""
    if name == "auroc":
        found: Any = run.results.get("evidence", {}).get("auroc")
    else:
        found = run.results.get("retrieval", {}).get(name)
    return None if found is None else float(found)


def worse_in(run: EvaluationRun) -> str:
    """Name the measures that are significantly worse than in the run before; return "" if none is."""
    return ", ".join(MEASURED[name] for name in run.results.get("regression", {}).get("worse", ()))


def build_history(evaluation_set: EvaluationSet) -> History:
    runs = list(evaluation_set.runs.order_by("-pk")[:SHOWN])
    finished = [run for run in runs if run.state == EvaluationRun.State.FINISHED]
    oldest_first = finished[::-1]
    styles = assign_styles(sorted({run.profile for run in finished}))
    figures = []
    for name, label in CHARTED.items():
        values: dict[str, dict[int, float]] = {}
        for place, run in enumerate(oldest_first):
            if (value := read_measure(run, name)) is not None:
                values.setdefault(run.profile, {})[place] = value
        chart = draw_chart(label, styles, values, places=len(oldest_first))
        if chart:
            figures.append(Figure(name.replace("@", "-"), chart, _described(chart)))
    rows = [(run, [(label, read_measure(run, name)) for name, label in CHARTED.items()], worse_in(run)) for run in runs]
    return History(rows, finished, styles, figures)


def _described(chart: Chart) -> str:
    newest = "; ".join(
        f"{line.style.letter} {line.style.name}: {number_format(line.newest, 3)}" for line in chart.lines
    )
    return _("%(measure)s from the oldest run to the newest. Each profile’s newest run: %(newest)s.") % {
        "measure": chart.title,
        "newest": newest,
    }
