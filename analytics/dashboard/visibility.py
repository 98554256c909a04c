"""Views of the counts: which rows a member of staff sees, and which are outside their view."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import BooleanField, Case, IntegerField, Q, Subquery, Value, When
from django.db.models.expressions import Combinable
from django.utils import timezone

from analytics.models.counts import Counted
from analytics.periods import Period, Step
from chat.models import Site
from chat.models.assistants import OfAssistants
from core.access import Staff, sees_everything

VIEW_DASHBOARD = "analytics.view_dashboard"
SEE_SMALL_GROUPS = "analytics.see_small_groups"
#: Where a row is: in the view, or at another site of its assistant, or of another assistant; added to it where the
#: language is another one.
INSIDE, OTHER_SITE, OTHER_ASSISTANT, OTHER_LANGUAGE = 0, 1, 2, 3
Row = TypeVar("Row", bound=Counted)


@dataclass(frozen=True, slots=True)
class View:
    """The rows of the counts that this member of staff may see, of one assistant, site and language or of all."""

    period: Period
    step: Step
    by: Staff
    assistant: int | None = None
    site: int | None = None
    language: str = ""

    @property
    def least(self) -> int:
        """Return how many people at least a figure must be about."""
        return 1 if self.by.has_perm(SEE_SMALL_GROUPS) else settings.SMALLEST_GROUP


def wider(view: View) -> Mapping[int, frozenset[int]]:
    """Return the wider views that a reader could subtract this one from, by a number.

    Each has the places of the rows that it holds besides. There are none for staff who see small groups.
    """
    if view.least <= 1:
        return {}
    has_site, has_place = view.site is not None, view.site is not None or view.assistant is not None
    places = [INSIDE, *([OTHER_SITE] if has_site else []), *([OTHER_ASSISTANT] if has_place else [])]
    languages = [INSIDE, *([OTHER_LANGUAGE] if view.language else [])]
    return {
        place + language: frozenset(
            nearer + spoken for nearer in places if nearer <= place for spoken in languages if spoken <= language
        )
        - {INSIDE}
        for place in places
        for language in languages
        if place + language
    }


def rows_in_view(counts: OfAssistants[Row], view: View) -> OfAssistants[Row]:
    """Return the counts of a view; `outside` says where a row is.

    Staff who see everything get deleted assistants too. For staff who may not see small groups, rows outside the
    view are among them.
    """
    rows: Any = counts if sees_everything(view.by) else counts.visible_to(view.by)
    found: OfAssistants[Row]
    if wider(view):
        found = rows.annotate(outside=_place(view) + _language(view))
        return found
    if view.assistant is not None:
        rows = rows.filter(assistant=view.assistant)
    if view.site is not None:
        rows = rows.filter(site=view.site)
    if view.language:
        rows = rows.filter(language=view.language)
    found = rows.annotate(outside=Value(INSIDE))
    return found


def _place(view: View) -> Combinable:
    own = Q() if view.assistant is None else Q(assistant=view.assistant)
    if view.site is None:
        return _first_match((own, INSIDE), other=OTHER_ASSISTANT)
    of_assistant = own or Q(assistant=Subquery(Site.objects.filter(pk=view.site).values("assistant")))
    return _first_match((own & Q(site=view.site), INSIDE), (of_assistant, OTHER_SITE), other=OTHER_ASSISTANT)


def _language(view: View) -> Combinable:
    return _first_match((Q(language=view.language) if view.language else Q(), INSIDE), other=OTHER_LANGUAGE)


def _first_match(*cases: tuple[Q, int], other: int) -> Combinable:
    """Return the place of the first case that applies; an empty condition always does."""
    if not cases[0][0]:
        return Value(cases[0][1])
    whens = [When(applies, then=Value(place)) for applies, place in cases]
    return Case(*whens, default=Value(other), output_field=IntegerField())


def span_filter(period: Period) -> Q:
    """Filter for the period's whole months, and the days before and after them.

    The sum of the current month is that of its days so far, so that it is read too where the period goes up to today.
    """
    days = Q(span=Counted.Span.DAY, day__gte=period.first, day__lte=period.last)
    months = period.months(timezone.localdate())
    if months is None:
        return days
    whole = Q(day__gte=months.first, day__lte=months.last)
    return (days & ~whole) | (Q(span=Counted.Span.MONTH) & whole)


def is_now(period: Period) -> Case:
    return Case(When(day__gte=period.first, then=Value(True)), default=Value(False), output_field=BooleanField())
