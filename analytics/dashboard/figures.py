"""What was asked in a period and how it was answered, beside the period before it; read from the counts alone.

A handful of queries however long the period and however many conversations: long periods read whole months.
"""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import connection
from django.db.models import (
    BooleanField,
    Case,
    Count,
    DateField,
    F,
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
from analytics.histograms import BINS, quantile
from analytics.models import DocumentCount, FAQCount, UsageCount
from analytics.models.counts import HOURS, Counted
from chat.models import Feedback
from chat.querysets import OfAssistants
from faqs.models import FAQ
from knowledge.models import Document
from knowledge.staff_scope import Staff, sees_everything

#: Figures that are added up as they are.
NUMBERS = (
    *("visitors", "conversations", "messages", "questions", "answered", "abstained", "failed", "stopped", "asked_back"),
    *("thumbs_up", "thumbs_down", "ratings", "stars", "prompt_tokens", "answer_tokens"),
)
ARRAYS = {"hours": HOURS, "reasons": len(Feedback.Reason.values), "first_token": BINS, "total": BINS}
#: What the period is split by, as the column that says whose a row is.
SPLITS = {"assistant": "assistant_id", "site": "site_id", "language": "language"}
SHOWN = 10
MEDIAN, SLOW = 0.5, 0.95
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


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over some days; visitors are counted once a day."""

    visitors: int = 0
    conversations: int = 0
    messages: int = 0
    questions: int = 0
    answered: int = 0
    abstained: int = 0
    failed: int = 0
    stopped: int = 0
    asked_back: int = 0
    thumbs_up: int = 0
    thumbs_down: int = 0
    ratings: int = 0
    stars: int = 0
    prompt_tokens: int = 0
    answer_tokens: int = 0

    @property
    def rating(self) -> float | None:
        """Stars on average, from 1 to 5."""
        return self.stars / self.ratings if self.ratings else None

    @property
    def questions_a_conversation(self) -> float | None:
        return self.questions / self.conversations if self.conversations else None

    @property
    def abstained_share(self) -> float | None:
        """Of the questions that came to an end, from 0 to 1."""
        ended = self.answered + self.abstained + self.failed + self.stopped + self.asked_back
        return self.abstained / ended if ended else None

    @property
    def liked_share(self) -> float | None:
        """Of the thumbs, from 0 to 1."""
        thumbs = self.thumbs_up + self.thumbs_down
        return self.thumbs_up / thumbs if thumbs else None

    def __add__(self, other: "Totals") -> "Totals":
        return Totals(**{name: getattr(self, name) + getattr(other, name) for name in NUMBERS})


@dataclass(frozen=True, slots=True)
class Part:
    """What one assistant, site or language had of the period; visitors are counted once a day."""

    questions: int
    visitors: int


@dataclass(frozen=True, slots=True)
class Spread:
    """Counts by hour of the day, by reason of a bad rating, and the median and 95th percentile of times in ms.

    `parts` are by assistant, site and language, and by its id or code; nobody's has the key "". A count is None where
    too few people are behind it (`small_groups`).
    """

    hours: Sequence[int | None]
    reasons: Mapping[str, int | None]
    first_token: tuple[float | None, float | None]
    total: tuple[float | None, float | None]
    parts: Mapping[str, Mapping[str, Part]]


@dataclass(frozen=True, slots=True)
class Point:
    """A day, week or month; `is_whole` where the period holds all of it. `totals` are None where too few people are
    behind them (`small_groups`)."""

    start: datetime.date
    is_whole: bool
    totals: Totals | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """An FAQ or a document with how many answers it was behind, and how many before.

    What is None has too few people behind it (`small_groups`).
    """

    pk: int
    name: str
    answers: int
    before: int | None
    visitors: int
    visitors_before: int
    thumbs_up: int | None = 0
    thumbs_down: int | None = 0


@dataclass(frozen=True, slots=True)
class NeverCited:
    count: int
    documents: Sequence[tuple[int, str]]


def series(view: View) -> tuple[list[Point], Totals, Totals]:
    """The period step by step, its totals and those of the period before: one query."""
    period = view.period
    days = Q(span=Counted.Span.DAY, day__gte=period.before.first, day__lte=period.last)
    wanted = _spans(period) | _spans(period.before) if view.step == Step.MONTH else days
    sums = {f"sum_{name}": Sum(name) for name in NUMBERS}
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
        totals = Totals(**{name: each[f"sum_{name}"] for name in NUMBERS})
        if each["now"]:
            now[each["start"]] = totals
        else:
            before += totals
    points = [Point(at, period.is_whole(at, view.step), now.get(at, Totals())) for at in period.steps(view.step)]
    return points, sum(now.values(), Totals()), before


def spreads(view: View) -> tuple[Spread, Spread]:
    """Of the period and of the one before: one query."""
    rows = _rows(UsageCount.objects.all(), view).filter(_spans(view.period) | _spans(view.period.before))
    columns = ("now", *ARRAYS, *SPLITS.values(), "questions", "visitors")
    chosen, parameters = rows.annotate(now=_is_now(view.period)).order_by().values(*columns).query.sql_with_params()
    arrays = (
        f"SELECT '{name}', now, place::text, sum(value), 0 FROM chosen, unnest(chosen.{name})"
        " WITH ORDINALITY AS element(value, place) WHERE value > 0 GROUP BY now, place"
        for name in ARRAYS
    )
    parts = (
        f"SELECT '{name}', now, coalesce({column}::text, ''), sum(questions), sum(visitors) FROM chosen"
        f" GROUP BY now, {column}"
        for name, column in SPLITS.items()
    )
    counts = {(name, now): [0] * length for name, length in ARRAYS.items() for now in (True, False)}
    split: dict[tuple[str, bool], dict[str, Part]] = {(name, now): {} for name in SPLITS for now in (True, False)}
    with connection.cursor() as cursor:
        cursor.execute(f"WITH chosen AS ({chosen}) {' UNION ALL '.join((*arrays, *parts))}", parameters)
        for name, now, key, count, visitors in cursor.fetchall():
            if name in SPLITS:
                split[name, now][key] = Part(int(count), int(visitors))
            else:
                counts[name, now][int(key) - 1] = int(count)
    now, before = (
        Spread(
            hours=counts["hours", which],
            reasons=dict(zip(Feedback.Reason.values, counts["reasons", which], strict=True)),
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
    return _ranked(FAQCount.objects.all(), view, "faq", FAQ.objects.values("question"), ("thumbs_up", "thumbs_down"))


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
        "who_now": Sum("visitors", filter=now, default=0),
        "who_before": Sum("visitors", filter=~now, default=0),
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
            visitors=each["who_now"],
            visitors_before=each["who_before"],
            **{thumb: each[f"{thumb}_now"] for thumb in thumbs},
        )
        for each in shown
    ]


def _quantiles(counts: Sequence[int]) -> tuple[float | None, float | None]:
    return quantile(counts, MEDIAN), quantile(counts, SLOW)
