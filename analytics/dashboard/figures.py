"""What was asked in a period and how it was answered, beside the period before it; read from the counts alone.

A handful of queries however long the period and however many conversations: long periods read whole months.
"""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import connection
from django.db.models import (
    BooleanField,
    Case,
    Count,
    DateField,
    F,
    Max,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Sum,
    Value,
    When,
    Window,
)
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, TruncMonth, TruncWeek

from analytics.dashboard.periods import Period, Step
from analytics.dashboard.values import NUMBERS, NeverCited, Part, People, Point, Ranked, Spread, Totals
from analytics.histograms import BINS, quantile
from analytics.models import DocumentCount, FAQCount, UsageCount
from analytics.models.counts import HOURS, Counted
from chat.models import Feedback
from chat.querysets import OfAssistants
from faqs.models import FAQ
from knowledge.models import Document
from knowledge.staff_scope import Staff, sees_everything

REASONS = Feedback.Reason.values
ARRAYS = {
    "hours": HOURS,
    "newcomers_by_hour": HOURS,
    "reasons": len(REASONS),
    "newcomers_by_reason": len(REASONS),
    "first_token": BINS,
    "total": BINS,
}
#: What the period is split by, as the column that says whose a row is.
SPLITS = {"assistant": "assistant_id", "site": "site_id", "language": "language"}
SHOWN = 10
MEDIAN, SLOW = 0.5, 0.95
THUMBS = ("thumbs_up", "thumbs_down", "newcomers_up", "newcomers_down")
Row = TypeVar("Row", bound=Counted)


@dataclass(frozen=True, slots=True)
class View:
    """What is looked at: the rows that this member of staff may see, of one assistant, site and language or of all."""

    period: Period
    step: Step
    by: Staff
    assistant: int | None = None
    site: int | None = None
    language: str = ""


def series(view: View) -> tuple[list[Point], Totals, Totals]:
    """The period step by step, its totals and those of the period before: one query."""
    period = view.period
    days = Q(span=Counted.Span.DAY, day__gte=period.before.first, day__lte=period.last)
    wanted = _spans(period) | _spans(period.before) if view.step == Step.MONTH else days
    sums = {"busiest_day": Max("busiest"), **{f"sum_{name}": Sum(name) for name in NUMBERS}}
    starts: dict[Step, Combinable] = {Step.DAY: F("day"), Step.WEEK: TruncWeek("day"), Step.MONTH: TruncMonth("day")}
    found: Any = (
        _rows(UsageCount.objects.all(), view)
        .filter(wanted)
        .annotate(now=_is_now(period), start=Cast(starts[view.step], DateField()))
        .order_by()
        .values("now", "start")
        .annotate(**sums)
    )
    now: dict[datetime.date, Totals] = {}
    before = Totals()
    for each in found:
        totals = Totals(**{name: each[f"sum_{name}"] for name in NUMBERS}, busiest=each["busiest_day"])
        if each["now"]:
            now[each["start"]] = totals
        else:
            before += totals
    points = [Point(at, period.is_whole(at, view.step), now.get(at, Totals())) for at in period.steps(view.step)]
    return points, sum(now.values(), Totals()), before


def spreads(view: View) -> tuple[Spread, Spread]:
    """Of the period and of the one before: one query."""
    rows = _rows(UsageCount.objects.all(), view).filter(_spans(view.period) | _spans(view.period.before))
    columns = ("now", *ARRAYS, *SPLITS.values(), "questions", "newcomers", "busiest")
    chosen, parameters = rows.annotate(now=_is_now(view.period)).order_by().values(*columns).query.sql_with_params()
    arrays = (
        f"SELECT '{name}', now, place::text, sum(value), 0, 0 FROM chosen, unnest(chosen.{name})"
        " WITH ORDINALITY AS element(value, place) WHERE value > 0 GROUP BY now, place"
        for name in ARRAYS
    )
    parts = (
        f"SELECT '{name}', now, coalesce({column}::text, ''), sum(questions), sum(newcomers), max(busiest)"
        f" FROM chosen GROUP BY now, {column}"
        for name, column in SPLITS.items()
    )
    counts = {(name, now): [0] * length for name, length in ARRAYS.items() for now in (True, False)}
    split: dict[tuple[str, bool], dict[str, Part]] = {(name, now): {} for name in SPLITS for now in (True, False)}
    with connection.cursor() as cursor:
        cursor.execute(f"WITH chosen AS ({chosen}) {' UNION ALL '.join((*arrays, *parts))}", parameters)
        for name, now, key, count, newcomers, busiest in cursor.fetchall():
            if name in SPLITS:
                split[name, now][key] = Part(int(count), People(int(newcomers), int(busiest)))
            else:
                counts[name, now][int(key) - 1] = int(count)
    now, before = (
        Spread(
            hours=counts["hours", which],
            newcomers_by_hour=counts["newcomers_by_hour", which],
            reasons=dict(zip(REASONS, counts["reasons", which], strict=True)),
            newcomers_by_reason=dict(zip(REASONS, counts["newcomers_by_reason", which], strict=True)),
            first_token=_quantiles(counts["first_token", which]),
            total=_quantiles(counts["total", which]),
            parts={name: split[name, which] for name in SPLITS},
        )
        for which in (True, False)
    )
    return now, before


def top_documents(view: View) -> list[Ranked]:
    """Those that most answers cite: one query."""
    return _ranked(DocumentCount.objects.all(), view, "document", Document.objects.values("title"), ())


def top_faqs(view: View) -> list[Ranked]:
    """Those that steer most answers: one query."""
    return _ranked(FAQCount.objects.all(), view, "faq", FAQ.objects.values("question"), THUMBS)


def never_cited(view: View) -> NeverCited:
    """Published documents that no answer of the period cites, the oldest change first: one query."""
    cited = _rows(DocumentCount.objects.all(), view).filter(_spans(view.period))
    published = Document.objects.for_staff(view.by).of_university().published()
    never = published.exclude(pk__in=cited.values("document")).order_by("updated_at", "pk")
    found = list(never.annotate(all=Window(Count("*"))).values_list("pk", "title", "all")[:SHOWN])
    return NeverCited(found[0][2] if found else 0, [(pk, title) for pk, title, _all in found])


def _rows(counts: OfAssistants[Row], view: View) -> OfAssistants[Row]:
    """Also of deleted assistants, for those who see everything."""
    rows = counts if sees_everything(view.by) else counts.for_staff(view.by)
    if view.assistant is not None:
        rows = rows.filter(assistant=view.assistant)
    if view.site is not None:
        rows = rows.filter(site=view.site)
    return rows.filter(language=view.language) if view.language else rows


def _spans(period: Period) -> Q:
    """Its whole months, and the days before and after them."""
    days = Q(span=Counted.Span.DAY, day__gte=period.first, day__lte=period.last)
    months = period.months
    if months is None:
        return days
    whole = Q(day__gte=months.first, day__lte=months.last)
    return (days & ~whole) | (Q(span=Counted.Span.MONTH) & whole)


def _is_now(period: Period) -> Case:
    return Case(When(day__gte=period.first, then=Value(True)), default=Value(False), output_field=BooleanField())


def _ranked(
    counts: OfAssistants[Row], view: View, of: str, names: QuerySet[Any, Any], thumbs: Sequence[str]
) -> list[Ranked]:
    """Names are looked up for those alone that are shown: grouping by them too took three times as long."""
    now = Q(day__gte=view.period.first)
    rows = _rows(counts, view).filter(_spans(view.period) | _spans(view.period.before))
    sums = {
        "answers_now": Sum("answers", filter=now, default=0),
        "answers_before": Sum("answers", filter=~now, default=0),
        "newcomers_now": Sum("newcomers", filter=now, default=0),
        "newcomers_before": Sum("newcomers", filter=~now, default=0),
        "busiest_now": Max("busiest", filter=now, default=0),
        "busiest_before": Max("busiest", filter=~now, default=0),
        **{f"{each}_now": Sum(each, filter=now, default=0) for each in thumbs},
    }
    found = rows.order_by().values(of).annotate(**sums).filter(answers_now__gt=0)
    shown = found.annotate(name=Subquery(names.filter(pk=OuterRef(of))[:1])).order_by("-answers_now", of)[:SHOWN]
    return [
        Ranked(
            pk=each[of],
            name=each["name"],
            answers=each["answers_now"],
            before=each["answers_before"],
            people=People(each["newcomers_now"], each["busiest_now"]),
            people_before=People(each["newcomers_before"], each["busiest_before"]),
            **{thumb: each[f"{thumb}_now"] for thumb in thumbs},
        )
        for each in shown
    ]


def _quantiles(counts: Sequence[int]) -> tuple[float | None, float | None]:
    return quantile(counts, MEDIAN), quantile(counts, SLOW)
