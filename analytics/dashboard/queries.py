"""Queries for the figures of a period and of the one before, on the counts alone.

A handful of queries however long the period and however many conversations: long periods read whole months. For readers
who may not see small groups the same queries also count the complement of their choice (`visibility.wider`).
"""

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.db import connections
from django.db.models import DateField, F, Max, Q, Sum
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, TruncMonth, TruncWeek

from analytics.dashboard.types import (
    NUMBERS,
    SENTENCES,
    Complement,
    Part,
    People,
    Point,
    Spread,
    Totals,
    Written,
)
from analytics.dashboard.visibility import INSIDE, View, is_now, rows_in_view, span_filter, wider
from analytics.histograms import BINS, quantile
from analytics.models import UsageCount
from analytics.models.counts import HOURS, Counted
from analytics.periods import Step
from chat.models import Feedback
from core.db.reading import read_alias

REASONS = Feedback.Reason.values
ARRAYS = {
    "hours": HOURS,
    "newcomers_by_hour": HOURS,
    "reasons": len(REASONS),
    "newcomers_by_reason": len(REASONS),
    "first_token": BINS,
    "total": BINS,
}
#: Arrays whose complement to the view is counted too.
WEIGHED = ("hours", "newcomers_by_hour", "reasons", "newcomers_by_reason")
#: What the period is split by, as the column that says whose a row is.
SPLITS = {"assistant": "assistant_id", "site": "site_id", "language": "language"}
MEDIAN, SLOW = 0.5, 0.95


def series(view: View) -> tuple[list[Point], Totals, Totals]:
    """Return the period step by step, its totals and those of the period before: one query."""
    period = view.period
    days = Q(span=Counted.Span.DAY, day__gte=period.before.first, day__lte=period.last)
    wanted = span_filter(period) | span_filter(period.before) if view.step == Step.MONTH else days
    sums = {"busiest_day": Max("busiest"), **{f"sum_{name}": Sum(name) for name in NUMBERS}}
    starts: dict[Step, Combinable] = {Step.DAY: F("day"), Step.WEEK: TruncWeek("day"), Step.MONTH: TruncMonth("day")}
    found: Any = (
        rows_in_view(UsageCount.objects.all(), view)
        .filter(wanted)
        .annotate(now=is_now(period), start=Cast(starts[view.step], DateField()))
        .order_by()
        .values("now", "start", "outside")
        .annotate(**sums)
    )
    places: dict[tuple[bool, datetime.date], dict[int, Totals]] = defaultdict(dict)
    for each in found:
        totals = Totals(**{name: each[f"sum_{name}"] for name in NUMBERS}, busiest=each["busiest_day"])
        places[each["now"], each["start"]][each["outside"]] = totals
    now, before = (
        {start: _with_beside(at, view) for (is_now, start), at in places.items() if is_now == which}
        for which in (True, False)
    )
    points = [Point(at, period.is_whole(at, view.step), now.get(at, Totals())) for at in period.steps(view.step)]
    return points, sum(now.values(), Totals()), sum(before.values(), Totals())


def spreads(view: View) -> tuple[Spread, Spread]:
    """Return the spread of the period and of the one before: one query."""
    rows = rows_in_view(UsageCount.objects.all(), view).filter(
        span_filter(view.period) | span_filter(view.period.before)
    )
    columns = ("now", "outside", *ARRAYS, *SPLITS.values(), *SENTENCES, "questions", "newcomers", "busiest")
    chosen, parameters = rows.annotate(now=is_now(view.period)).order_by().values(*columns).query.sql_with_params()
    is_inside = f" AND outside = {INSIDE}"
    keys = ", ".join(f"coalesce({column}::text, '')" for column in SPLITS.values())
    arrays = (
        f"SELECT '{name}', now, outside, ARRAY[place::text], sum(value), 0, 0, NULL::bigint[] FROM chosen,"
        f" unnest(chosen.{name}) WITH ORDINALITY AS element(value, place)"
        f" WHERE value > 0{'' if name in WEIGHED else is_inside} GROUP BY now, outside, place"
        for name in ARRAYS
    )
    written = ", ".join(f"sum({name})" for name in SENTENCES)
    cells = (
        f"SELECT '', now, outside, ARRAY[{keys}], sum(questions), sum(newcomers), max(busiest), ARRAY[{written}]"
        f" FROM chosen GROUP BY now, outside, {', '.join(SPLITS.values())}"
    )
    found: dict[bool, _Found] = {True: _Found(), False: _Found()}
    with connections[read_alias()].cursor() as cursor:
        cursor.execute(f"WITH chosen AS ({chosen}) {' UNION ALL '.join((*arrays, cells))}", parameters)
        for name, now, outside, key, count, newcomers, busiest, sentences in cursor.fetchall():
            if name:
                found[now].array(name, outside)[int(key[0]) - 1] = int(count)
            else:
                people = People(int(newcomers), int(busiest))
                found[now].add(outside, tuple(key), Part(int(count), people, Written(*map(int, sentences))))
    return found[True].spread(view), found[False].spread(view)


class _Found:
    """Figures of one period, in the view and its complement."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[str, int], list[int]] = {}
        self._parts: dict[str, dict[str, Part]] = {name: {} for name in SPLITS}
        self._cells: dict[tuple[str, str, str], People] = {}

    def array(self, name: str, outside: int) -> list[int]:
        return self._arrays.setdefault((name, outside), [0] * ARRAYS[name])

    def add(self, outside: int, cell: tuple[str, str, str], part: Part) -> None:
        if part.people.at_least:
            self._cells[cell] = part.people
        if outside == INSIDE:
            for parts, key in zip(self._parts.values(), cell, strict=True):
                parts[key] = parts[key] + part if key in parts else part

    def spread(self, view: View) -> Spread:
        return Spread(
            hours=self.array("hours", INSIDE),
            newcomers_by_hour=self.array("newcomers_by_hour", INSIDE),
            reasons=dict(zip(REASONS, self.array("reasons", INSIDE), strict=True)),
            newcomers_by_reason=dict(zip(REASONS, self.array("newcomers_by_reason", INSIDE), strict=True)),
            first_token=_quantiles(self.array("first_token", INSIDE)),
            total=_quantiles(self.array("total", INSIDE)),
            parts=self._parts,
            cells=self._cells,
            complement_by_hour=self._complement(view, "hours", "newcomers_by_hour"),
            complement_by_reason=dict(
                zip(REASONS, self._complement(view, "reasons", "newcomers_by_reason"), strict=True)
            ),
        )

    def _complement(self, view: View, name: str, newcomers: str) -> list[Complement]:
        """Return the people outside the view for each place of the array."""
        complement: list[dict[int, People]] = [{} for _ in range(ARRAYS[name])]
        for each, places in wider(view).items():
            for at, found in enumerate(complement):
                if any(self.array(name, place)[at] for place in places):
                    found[each] = People(sum(self.array(newcomers, place)[at] for place in places))
        return list(complement)


def _with_beside(places: Mapping[int, Totals], view: View) -> Totals:
    complement = {each: sum((places.get(at, Totals()) for at in held), Totals()) for each, held in wider(view).items()}
    return replace(
        places.get(INSIDE, Totals()),
        complement={each: found for each, found in complement.items() if not found.is_empty},
    )


def _quantiles(counts: Sequence[int]) -> tuple[float | None, float | None]:
    return quantile(counts, MEDIAN), quantile(counts, SLOW)
