"""The overview of a period: all figures and lists that the dashboard shows."""

import datetime
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db.models import Subquery

from analytics.dashboard.cases import CaseFigures, case_figures
from analytics.dashboard.queries import series, spreads
from analytics.dashboard.rankings import SHOWN, never_cited, top_documents, top_faqs, top_topics
from analytics.dashboard.types import NeverCited, Point, Ranked, Spread, Totals
from analytics.dashboard.visibility import View
from analytics.models import ChangedDay, FrozenCounts, Gap, UsageCount
from analytics.models.counts import Counted
from chat.models import Assistant
from core.access import Staff
from core.db.reading import read_recent

#: Gaps that nobody has dealt with.
TO_DO = (Gap.State.OPEN, Gap.State.IN_WORK)


@dataclass(frozen=True, slots=True)
class Overview:
    """The figures of a view; `now` and `before` are the sums of the period and of the one before, None if suppressed.

    Gaps are those of today. The number of suppressed rows is not shown: it would reveal that somebody asked.
    """

    view: View
    points: Sequence[Point]
    now: Totals
    before: Totals | None
    spread: Spread
    spread_before: Spread | None
    faqs: Sequence[Ranked]
    documents: Sequence[Ranked]
    never: NeverCited
    topics: Sequence[Ranked]
    gaps: Sequence[Gap]
    cases: CaseFigures
    cases_before: CaseFigures


@dataclass(frozen=True, slots=True)
class Reach:
    """The days with figures and conversations.

    `changed` is the first day that is not counted again yet, None where all is; conversations without a message since
    `kept` are deleted, None where none was yet.
    """

    first_day: datetime.date | None
    changed: datetime.date | None
    kept: datetime.date | None


def overview(view: View, *, with_gaps: bool, with_topics: bool = False) -> Overview:
    """Read an overview in six queries, one for gaps and one for topics.

    Figures may be some seconds old (`core.db.reading`), gaps are as staff left them.
    """
    found = read_recent(
        lambda: _read(
            view,
            faqs=top_faqs(view),
            documents=top_documents(view),
            never=never_cited(view),
            topics=top_topics(view) if with_topics else [],
        )
    )
    return replace(found, gaps=top_gaps(view)) if with_gaps else found


def overview_beside(view: View, found: Overview) -> Overview:
    """Read what is compared with an overview: its lists hold what is in those of `found` alone."""
    return read_recent(
        lambda: _read(
            view,
            faqs=top_faqs(view, [row.pk for row in found.faqs]),
            documents=top_documents(view, [row.pk for row in found.documents]),
            never=NeverCited(0, []),
            topics=top_topics(view, [row.pk for row in found.topics]) if found.topics else [],
        )
    )


def _read(
    view: View,
    *,
    faqs: list[Ranked],
    documents: list[Ranked],
    never: NeverCited,
    topics: list[Ranked],
) -> Overview:
    points, now, before = series(view)
    spread, spread_before = spreads(view)
    cases, cases_before = case_figures(view)
    return Overview(
        view=view,
        points=points,
        now=now,
        before=before,
        spread=spread,
        spread_before=spread_before,
        faqs=faqs,
        documents=documents,
        never=never,
        topics=topics,
        gaps=(),
        cases=cases,
        cases_before=cases_before,
    )


def top_gaps(view: View) -> list[Gap]:
    """Return the open gaps of highest priority that the reader may see: one query."""
    gaps = Gap.objects.visible_to(view.by).filter(merged_into=None, state__in=TO_DO, visitors__gte=view.least)
    if view.assistant is not None:
        gaps = gaps.filter(assistant=view.assistant)
    if view.language:
        gaps = gaps.filter(language=view.language)
    return list(gaps.only("name", "visitors", "this_week", "week_before", "state")[:SHOWN])


def reach(by: Staff, assistant: int | None) -> Reach:
    """Return what is counted for one assistant, or for all that this member of staff works on: one query."""
    days = UsageCount.objects.visible_to(by).filter(span=Counted.Span.DAY)
    own = Assistant.objects.visible_to(by)
    if assistant is not None:
        days, own = days.filter(assistant=assistant), own.filter(pk=assistant)
    frozen = FrozenCounts.objects.filter(assistant__in=own.values("pk")).order_by("before")
    found = (
        days.annotate(
            changed=Subquery(ChangedDay.objects.order_by("day").values("day")[:1]),
            kept=Subquery(frozen.values("before")[:1]),
        )
        .order_by("day")
        .values_list("day", "changed", "kept")
        .first()
    )
    return Reach(*found) if found else Reach(None, None, None)


@dataclass(frozen=True, slots=True)
class Choices:
    """The choices of the filters: assistants by id, and sites by id as (name, assistant)."""

    assistants: Mapping[int, str]
    sites: Mapping[int, tuple[str, int]]


def choices_for(by: Staff) -> Choices:
    """Return what this member of staff can choose from: one query."""
    rows = Assistant.objects.visible_to(by).order_by("name", "pk", "sites__name", "sites__pk")
    assistants: dict[int, str] = {}
    sites: dict[int, tuple[str, int]] = {}
    for assistant, name, site, site_name in rows.values_list("pk", "name", "sites__pk", "sites__name"):
        assistants[assistant] = name
        if site is not None:
            sites[site] = (site_name, assistant)
    return Choices(assistants, sites)
