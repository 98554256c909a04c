"""The questions of a topic by week, through the year that ends with a view's period."""

import datetime
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from django.db.models import DateField, Max, Q, Sum
from django.db.models.functions import Cast, TruncWeek

from analytics.dashboard.suppression import OWN, Sides, suppressed_cells
from analytics.dashboard.types import People
from analytics.dashboard.visibility import INSIDE, View, rows_in_view, wider
from analytics.models import Topic, TopicCount
from analytics.models.counts import Counted
from analytics.periods import Period, Step, step_start

WEEKS = 52


@dataclass(frozen=True, slots=True)
class Week:
    """The week from `monday` on; `questions` is None if it is suppressed."""

    monday: datetime.date
    questions: int | None


def weeks_of(topic: Topic, view: View) -> list[Week]:
    """Return the last 52 weeks, the one in which the view's period ends included: one query.

    Weeks of few people are suppressed, and the next smallest, so that the sum of all does not tell them.
    """
    last = step_start(view.period.last, Step.WEEK)
    year = Period(last - datetime.timedelta(weeks=WEEKS - 1), last + datetime.timedelta(days=6))
    asked: dict[datetime.date, int] = {}
    sides: dict[datetime.date, dict[int, People]] = defaultdict(dict)
    for row in _rows(topic, replace(view, period=year)):
        sides[row["monday"]][row["outside"]] = People(row["new"], row["most"])
        if row["outside"] == INSIDE:
            asked[row["monday"]] = row["questions"]
    few: set[datetime.date] = set()
    if view.least > 1:
        few = suppressed_cells({monday: _sides(sides[monday], view) for monday in asked}, least=view.least)
    mondays = (year.first + datetime.timedelta(weeks=week) for week in range(WEEKS))
    return [Week(monday, None if monday in few else asked.get(monday, 0)) for monday in mondays]


def _rows(topic: Topic, view: View) -> Any:
    days = Q(span=Counted.Span.DAY, day__gte=view.period.first, day__lte=view.period.last)
    rows = rows_in_view(TopicCount.objects.filter(topic=topic), view).filter(days)
    by_week = rows.annotate(monday=Cast(TruncWeek("day"), DateField())).order_by().values("monday", "outside")
    return by_week.annotate(questions=Sum("answers"), new=Sum("newcomers"), most=Max("busiest"))


def _sides(places: Mapping[int, People], view: View) -> Sides:
    """Return who is behind a week in the view, and in what each wider view holds besides."""
    beside = {
        each: sum((places[place] for place in held if place in places), People())
        for each, held in wider(view).items()
        if any(place in places for place in held)
    }
    return {OWN: places[INSIDE], **beside}
