"""Figures of questions that students left with offices: how many, how soon replied to and closed, whether it helped."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import connections
from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet, Sum, Value

from analytics.counts.cases import FIRST_S, WAITS
from analytics.dashboard.visibility import View, is_now, span_filter
from analytics.histograms import BINS, quantile
from analytics.models import CaseCount
from chat.models import Office
from core.access import sees_everything
from core.db.reading import read_alias

MEDIAN = 0.5
COUNTS = ("opened", "said", "helped")
#: Of a period (now, and the one before) and whether it is in the view.
Sums = Mapping[tuple[bool, bool], Mapping[str, int]]


@dataclass(frozen=True, slots=True)
class CaseFigures:
    """Figures of the cases that were opened in a period; `count` is None if they are suppressed.

    `first_reply` and `closed` are medians of the cases that were replied to and closed, to within 5 %; `helped` is the
    share of the students who said so, of those who said anything.
    """

    count: int | None = 0
    first_reply: timedelta | None = None
    closed: timedelta | None = None
    helped: float | None = None


def case_figures(view: View) -> tuple[CaseFigures, CaseFigures]:
    """Return the figures of a view's period and of the one before: two queries on the counts.

    Fewer than the smallest group are suppressed, and so is what leaves fewer of all that the reader could choose.
    """
    chosen = Q()
    if view.assistant is not None:
        chosen &= Q(assistant=view.assistant)
    if view.site is not None:
        chosen &= Q(site=view.site)
    if view.language:
        chosen &= Q(language=view.language)
    rows = _visible(view).filter(span_filter(view.period) | span_filter(view.period.before))
    rows = rows.annotate(now=is_now(view.period)).order_by()
    mine = ExpressionWrapper(chosen, BooleanField()) if chosen else Value(value=True)
    totals = {f"sum_{name}": Sum(name) for name in COUNTS}
    found: Any = rows.annotate(mine=mine).values("now", "mine").annotate(**totals)
    sums = {(each["now"], each["mine"]): {name: each[f"sum_{name}"] for name in COUNTS} for each in found}
    waits = _waits(rows.filter(chosen))
    return _figures(sums, waits, view.least, now=True), _figures(sums, waits, view.least, now=False)


def _visible(view: View) -> "QuerySet[CaseCount]":
    """Filter the counts of assistants and offices that a member of staff works on, as `Case.objects.visible_to`."""
    if sees_everything(view.by):
        return CaseCount.objects.all()
    offices = Office.objects.filter(Q(teams=None) | Q(teams__in=view.by.groups.all()))
    return CaseCount.objects.visible_to(view.by).filter(Q(office=None) | Q(office__in=offices.values("pk")))


def _waits(rows: "QuerySet[Any]") -> Mapping[tuple[str, bool], list[int]]:
    """Return how many waited so long, by bin."""
    found = {(name, now): [0] * BINS for name in WAITS for now in (True, False)}
    chosen, parameters = rows.values("now", *WAITS).query.sql_with_params()
    with connections[read_alias()].cursor() as cursor:
        cursor.execute(
            f"WITH chosen AS ({chosen}) SELECT 'until_reply', now, place, sum(value)"
            " FROM chosen, unnest(until_reply) WITH ORDINALITY AS element(value, place) WHERE value > 0 GROUP BY 2, 3"
            " UNION ALL SELECT 'until_closed', now, place, sum(value)"
            " FROM chosen, unnest(until_closed) WITH ORDINALITY AS element(value, place) WHERE value > 0 GROUP BY 2, 3",
            parameters,
        )
        for name, now, place, count in cursor.fetchall():
            found[name, now][place - 1] = int(count)
    return found


def _figures(sums: Sums, waits: Mapping[tuple[str, bool], list[int]], least: int, *, now: bool) -> CaseFigures:
    own = sums.get((now, True), dict.fromkeys(COUNTS, 0))
    others = sums.get((now, False), {}).get("opened", 0)
    if 0 < own["opened"] < least or 0 < others < least:
        return CaseFigures(None)
    return CaseFigures(
        count=own["opened"],
        first_reply=_median(waits["until_reply", now]),
        closed=_median(waits["until_closed", now]),
        helped=own["helped"] / own["said"] if own["said"] >= least else None,
    )


def _median(counts: list[int]) -> timedelta | None:
    seconds = quantile(counts, MEDIAN, FIRST_S)
    return None if seconds is None else timedelta(seconds=seconds)
