"""Queries for the figures of a period and of the one before, on the counts alone.

A handful of queries however long the period and however many conversations: long periods read whole months. For readers
who may not see small groups the same queries also count the complement of their choice (`visibility.wider`).
"""

import datetime
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.db import connection
from django.db.models import Count, DateField, F, Max, OuterRef, Q, QuerySet, Subquery, Sum, Value, Window
from django.db.models.expressions import Combinable
from django.db.models.functions import Cast, TruncMonth, TruncWeek
from django.db.models.lookups import GreaterThanOrEqual

from analytics.dashboard.types import (
    NUMBERS,
    SENTENCES,
    Complement,
    NeverCited,
    Part,
    People,
    Point,
    Ranked,
    Spread,
    Totals,
    Written,
)
from analytics.dashboard.visibility import INSIDE, Row, View, is_now, rows_in_view, span_filter, wider
from analytics.histograms import BINS, quantile
from analytics.models import DocumentCount, FAQCount, Topic, TopicCount, UsageCount
from analytics.models.counts import HOURS, Counted
from analytics.periods import Step
from chat.models import Feedback
from chat.models.assistants import OfAssistants
from faqs.models import FAQ
from knowledge.models import Document

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
    with connection.cursor() as cursor:
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


SHOWN = 10
SHOWN_TOPICS = 5
THUMBS = ("thumbs_up", "thumbs_down")
#: What says how many people are behind a row, and behind its thumbs: only who may not see small groups needs it.
PEOPLE, PEOPLE_OF_THUMBS = ("newcomers", "busiest"), ("newcomers_up", "newcomers_down")


@dataclass(frozen=True, slots=True)
class Ranking:
    """The key and name of a ranking; `further` are columns that are summed as well, `among` the only keys to rank."""

    of: str
    names: QuerySet[Any, Any]
    thumbs: Sequence[str] = ()
    further: Sequence[str] = ()
    limit: int = SHOWN
    among: Sequence[int] | None = None


def top_documents(view: View, among: Sequence[int] | None = None) -> list[Ranked]:
    """Return the publishable documents that most answers cite: one query."""
    ranking = Ranking("document", Document.objects.values("title"), among=among)
    return rank(DocumentCount.objects.all(), view, ranking)


def top_faqs(view: View, among: Sequence[int] | None = None) -> list[Ranked]:
    """Return the publishable FAQs that influenced most answers: one query."""
    return rank(FAQCount.objects.all(), view, Ranking("faq", FAQ.objects.values("question"), THUMBS, among=among))


def top_topics(view: View, among: Sequence[int] | None = None) -> list[Ranked]:
    """Return the publishable topics that most was asked about: one query. `answers` are their questions."""
    topics = Topic.objects.filter(merged_into=None).values("name")
    ranking = Ranking("topic", topics, THUMBS, limit=SHOWN_TOPICS, among=among)
    return rank(TopicCount.objects.all(), view, ranking)


def never_cited(view: View) -> NeverCited:
    """Return published documents that no answer of the period cites, the oldest change first: one query.

    For readers who may not see small groups, documents that few people's answers cite are among them: left out,
    they would be identified.
    """
    rows = rows_in_view(DocumentCount.objects.all(), view).filter(span_filter(view.period) & Q(outside=INSIDE))
    cited = rows.order_by().values("document")
    if view.least > 1:
        cited = cited.annotate(new=Sum("newcomers"), most=Max("busiest"))
        cited = cited.filter(Q(new__gte=view.least) | Q(most__gte=view.least)).values("document")
    published = Document.objects.visible_to(view.by).of_university().published()
    never = published.exclude(pk__in=cited).order_by("updated_at", "pk")
    found = list(never.annotate(all=Window(Count("*"))).values_list("pk", "title", "all")[:SHOWN])
    return NeverCited(found[0][2] if found else 0, [(pk, title) for pk, title, _all in found])


def rank(counts: OfAssistants[Row], view: View, ranking: Ranking) -> list[Ranked]:
    """Rank rows: one query.

    Names are looked up only for rows that are shown: grouping by them too took three times as long.
    """
    now = Q(day__gte=view.period.first)
    rows = rows_in_view(counts, view).filter(span_filter(view.period) | span_filter(view.period.before))
    if ranking.among is not None:
        rows = rows.filter(**{f"{ranking.of}__in": ranking.among})
    sums: dict[str, Any] = {}
    for place in {INSIDE}.union(*wider(view).values()):
        is_there = Q(outside=place) if wider(view) else Q()
        for when, wanted in (("now", now & is_there), ("before", ~now & is_there)):
            sums[f"answers_{when}_{place}"] = Sum("answers", filter=wanted, default=0)
            if view.least > 1:
                sums[f"newcomers_{when}_{place}"] = Sum("newcomers", filter=wanted, default=0)
                sums[f"busiest_{when}_{place}"] = Max("busiest", filter=wanted, default=0)
        once = (*_thumbs(view, ranking), *ranking.further)
        sums |= {f"{name}_now_{place}": Sum(name, filter=now & is_there, default=0) for name in once}
    found = rows.order_by().values(ranking.of).annotate(**sums).filter(_may_rank(view))
    named = found.annotate(name=Subquery(ranking.names.filter(pk=OuterRef(ranking.of))[:1]))
    ordered = named.order_by(f"-answers_now_{INSIDE}", ranking.of)
    return [_ranked(each, view, ranking) for each in ordered[: ranking.limit]]


def _thumbs(view: View, ranking: Ranking) -> Sequence[str]:
    return (*ranking.thumbs, *PEOPLE_OF_THUMBS) if ranking.thumbs and view.least > 1 else ranking.thumbs


def _may_rank(view: View) -> Q:
    """Filter out rows with too few people before ranking: a short list would give them away."""
    asked = Q(**{f"answers_now_{INSIDE}__gt": 0})
    for held in ({INSIDE}, *wider(view).values()) if view.least > 1 else ():
        people = sum((F(f"newcomers_now_{place}") for place in held), Value(0))
        enough = Q(GreaterThanOrEqual(people, view.least))
        for place in held:
            enough |= Q(**{f"busiest_now_{place}__gte": view.least})
        nobody = Q(**{f"answers_now_{place}": 0 for place in held})
        asked &= enough | nobody
    return asked


def _ranked(row: Mapping[str, Any], view: View, ranking: Ranking) -> Ranked:
    def people(when: str, place: int) -> People:
        return People(*(row.get(f"{name}_{when}_{place}", 0) for name in PEOPLE))

    def complement(when: str) -> Complement:
        return {
            each: sum((people(when, place) for place in held), People())
            for each, held in wider(view).items()
            if any(row[f"answers_{when}_{place}"] for place in held)
        }

    def complement_thumbs(which: str) -> Complement:
        return {
            each: People(sum(row[f"newcomers_{which}_now_{place}"] for place in held))
            for each, held in wider(view).items()
            if ranking.thumbs and any(row[f"thumbs_{which}_now_{place}"] for place in held)
        }

    return Ranked(
        pk=row[ranking.of],
        name=row["name"],
        answers=row[f"answers_now_{INSIDE}"],
        before=row[f"answers_before_{INSIDE}"],
        people=people("now", INSIDE),
        people_before=people("before", INSIDE),
        complement=complement("now"),
        complement_before=complement("before"),
        complement_up=complement_thumbs("up"),
        complement_down=complement_thumbs("down"),
        further={name: row[f"{name}_now_{INSIDE}"] for name in ranking.further},
        further_complement={
            (name, each): sum(row[f"{name}_now_{place}"] for place in held)
            for name in ranking.further
            for each, held in wider(view).items()
        },
        **{thumb: row[f"{thumb}_now_{INSIDE}"] for thumb in _thumbs(view, ranking)},
    )
