"""Figures of questions that students left with offices: how many, how soon replied to and closed, whether it helped."""

from dataclasses import dataclass
from datetime import datetime, time, timedelta
from typing import Any

from django.db.models import Aggregate, Count, DurationField, F, Q, Value
from django.db.models.functions import Mod
from django.utils import timezone

from analytics.dashboard.visibility import View
from analytics.periods import Period
from chat.models import Case

NOW, BEFORE = "now", "before"
#: Cases of a period from which its medians are taken at most; of more, every second, third ... one.
MEDIAN_OF = 10_000


class Median(Aggregate):
    """The median of durations, by linear interpolation."""

    function = "PERCENTILE_CONT"
    template = "%(function)s(0.5) WITHIN GROUP (ORDER BY %(expressions)s)"
    output_field = DurationField()


@dataclass(frozen=True, slots=True)
class CaseFigures:
    """Figures of the cases that were opened in a period; `count` is None if they are suppressed.

    `first_reply` and `closed` are medians of the cases that were replied to and closed; `helped` is the share of the
    students who said so, of those who said anything.
    """

    count: int | None = 0
    first_reply: timedelta | None = None
    closed: timedelta | None = None
    helped: float | None = None


def case_figures(view: View) -> tuple[CaseFigures, CaseFigures]:
    """Return the figures of a view's period and of the one before: two queries.

    Fewer than the smallest group are suppressed, and so is what leaves fewer of all that the reader could choose. Cases
    of people in need are not counted, for they are in no figures.
    """
    cases = Case.objects.visible_to(view.by).filter(merged_into=None).exclude(reason=Case.Reason.HELP)
    chosen = Q()
    if view.assistant is not None:
        chosen &= Q(assistant=view.assistant)
    if view.site is not None:
        chosen &= Q(conversation__site=view.site)
    if view.language:
        chosen &= Q(language=view.language)
    periods = {NOW: _within(view.period), BEFORE: _within(view.period.before)}
    recent = cases.filter(opened_at__gte=_midnight(view.period.before)).order_by()
    found = recent.aggregate(
        **{column: value for name, within in periods.items() for column, value in _counts(name, within, chosen).items()}
    )
    step = max(found[f"{name}_count"] for name in periods) // MEDIAN_OF + 1
    waits = {"until_reply": F("first_reply_at") - F("opened_at"), "until_closed": F("closed_at") - F("opened_at")}
    drawn = recent.annotate(drawn=Mod("pk", Value(step))).filter(drawn=0) if step > 1 else recent
    found |= drawn.annotate(**waits).aggregate(
        **{
            column: value
            for name, within in periods.items()
            for column, value in _medians(name, within & chosen).items()
        }
    )
    return _figures(found, NOW, view.least), _figures(found, BEFORE, view.least)


def _within(period: Period) -> Q:
    begins = _midnight(period)
    return Q(opened_at__gte=begins, opened_at__lt=begins + timedelta(days=period.days))


def _counts(name: str, within: Q, chosen: Q) -> dict[str, Any]:
    mine = within & chosen
    return {
        f"{name}_all": Count("pk", filter=within),
        f"{name}_count": Count("pk", filter=mine),
        f"{name}_said": Count("pk", filter=mine & Q(helped__isnull=False)),
        f"{name}_helped": Count("pk", filter=mine & Q(helped=True)),
    }


def _medians(name: str, mine: Q) -> dict[str, Any]:
    return {
        f"{name}_first_reply": Median("until_reply", filter=mine & Q(first_reply_at__isnull=False)),
        f"{name}_closed": Median("until_closed", filter=mine & Q(closed_at__isnull=False)),
    }


def _figures(found: dict[str, Any], name: str, least: int) -> CaseFigures:
    count, others = found[f"{name}_count"], found[f"{name}_all"] - found[f"{name}_count"]
    if 0 < count < least or 0 < others < least:
        return CaseFigures(None)
    said = found[f"{name}_said"]
    return CaseFigures(
        count=count,
        first_reply=found[f"{name}_first_reply"],
        closed=found[f"{name}_closed"],
        helped=found[f"{name}_helped"] / said if said >= least else None,
    )


def _midnight(period: Period) -> datetime:
    return timezone.make_aware(datetime.combine(period.first, time.min))
