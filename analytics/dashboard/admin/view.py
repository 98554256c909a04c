"""The dashboard: what was asked in a period and how it was answered."""

from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from analytics.dashboard.admin.cards import build_card_groups, judged_text
from analytics.dashboard.admin.charts import PartNames, Side, build_charts, build_part_charts, pair_charts
from analytics.dashboard.admin.comparison_form import ComparisonForm, Other
from analytics.dashboard.admin.form import RANGE_NAMES, DashboardForm
from analytics.dashboard.admin.headline import build_headline
from analytics.dashboard.admin.links import Links
from analytics.dashboard.annotations import annotations
from analytics.dashboard.comparison import compare, publishable_overview
from analytics.dashboard.formatting import NOTHING, Change, change, count_text, percent, period_name, whole
from analytics.dashboard.overview import Choices, Overview, choices_for, reach
from analytics.dashboard.types import Ranked
from analytics.dashboard.visibility import VIEW_DASHBOARD, View
from analytics.dashboard.worth import read_assumptions
from analytics.periods import Range

TEMPLATE = "admin/analytics/dashboard/page.html"


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of a list: an FAQ, a document, a gap, or one of several parts; `link` leads to conversations."""

    name: str
    count: str
    change: Change | None
    link: str
    row_link: str = ""
    thumbs: tuple[str, str] | None = None


@dataclass(frozen=True, slots=True)
class WrittenListed:
    """Outcomes of the language model's sentences of one assistant, in words."""

    name: str
    held_back: str
    sentences: str
    rightly: str
    judged: str


@require_safe
def dashboard_view(request: HttpRequest) -> HttpResponse:
    """Show the dashboard; `admin.site.admin_view` wraps it. Raise PermissionDenied."""
    if not request.user.has_perm(VIEW_DASHBOARD):
        raise PermissionDenied
    choices = choices_for(request.user)
    named = {str(pk): pk for pk in choices.assistants}
    reached = reach(request.user, named.get(request.GET.get("assistant", "")))
    form = ComparisonForm(request.GET, choices=choices, reach=reached, today=timezone.localdate())
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Dashboard"),
        "form": form,
        "ranges": range_links(request, form),
        "reach": reached,
        "now": timezone.localtime(),
        "least": settings.SMALLEST_GROUP,
    }
    if form.is_valid():
        view, other = form.sides(request.user)
        context |= shown(view, other, form, choices, Links(view, reached))
    return TemplateResponse(request, TEMPLATE, context)


def range_links(request: HttpRequest, form: DashboardForm) -> list[tuple[str, str, bool]]:
    """Name, address and whether it is shown; what else is chosen stays."""
    found = []
    for name in Range:
        address = request.GET.copy()
        for field in ("from", "to", "step"):
            address.pop(field, None)
        address["range"] = name.value
        found.append((str(RANGE_NAMES[name]), f"?{address.urlencode()}", form.range == name))
    return found


def shown(view: View, other: Other | None, form: DashboardForm, choices: Choices, links: Links) -> dict[str, Any]:
    """Return what the page shows of a view, and of the one that it is compared with."""
    found = publishable_overview(
        view, with_gaps=view.by.has_perm("analytics.view_gap"), with_topics=view.by.has_perm("analytics.view_topic")
    )
    context = {
        "view": view,
        "period": period_name(view.period),
        "before": other.said if other else period_name(view.period.before),
        "other": other,
        "is_today": view.period.last == form.today,
        "was_cut": form.cleaned_data["to"] > form.today,
        "is_too_small": found is None,
        "hides_small": view.least > 1,
        "deleted_before": links.reach.kept if links.reach.kept and links.reach.kept > view.period.first else None,
        "are_deleted": links.are_deleted,
    }
    if found is None:
        return context
    if other:
        found, beside = compare(found, other.view)
        context |= compared(found, beside, other, choices, links)
    else:
        context["charts"] = build_charts(found, choices, links, annotations(view))
    assumed = read_assumptions()
    return context | {
        "found": found,
        "headline": build_headline(found, links, assumed, other.name if other else ""),
        "assumed": assumed,
        "has_prices": bool(assumed.read_price or assumed.written_price),
        "assumptions_link": reverse("admin:analytics_assumptions_changelist")
        if view.by.has_perm("analytics.view_assumptions") or view.by.has_perm("analytics.change_assumptions")
        else "",
        "is_empty": found.now.is_empty,
        "is_cut": any(not point.is_whole for point in found.points),
        "groups": build_card_groups(found, links, assumed),
        "faqs": [listed(each, links.asked(faq=each.pk), links.faq(each.pk)) for each in found.faqs],
        "documents": [listed(each, links.asked(document=each.pk), links.document(each.pk)) for each in found.documents],
        "never": [(title, links.document(pk)) for pk, title in found.never.documents],
        "topics": [listed_topic(each, links.topic(each.pk)) for each in found.topics],
        "may_see_topics": view.by.has_perm("analytics.view_topic"),
        "gaps": [(gap, links.gap(gap.pk)) for gap in found.gaps],
        "written": written_by_assistant(found, choices),
        "dates_link": dates_link(view),
        "may_see_gaps": view.by.has_perm("analytics.view_gap"),
    }


def compared(found: Overview, beside: Overview | None, other: Other, choices: Choices, links: Links) -> dict[str, Any]:
    """Return the charts of both sides, and what is to be said of the other one."""
    other_links = Links(other.view, reach(other.view.by, other.view.assistant))
    days, other_days = found.view.period.days, other.view.period.days
    parts = PartNames(other.mine, other.name, other.without)
    return {
        "pairs": pair_charts(
            Side(other.mine, found, links, annotations(found.view)),
            Side(other.name, beside, other_links, annotations(other.view)),
        ),
        "charts": build_part_charts(found, choices, links, parts),
        "other_is_too_small": beside is None,
        "other_is_empty": beside is not None and beside.now.is_empty,
        "lengths": (days, other_days) if days != other_days else None,
    }


def dates_link(view: View) -> str:
    """Return where dates of the time line are written, for who may."""
    may = view.by.has_perm("analytics.view_timelinedate") or view.by.has_perm("analytics.change_timelinedate")
    return reverse("admin:analytics_timelinedate_changelist") if may else ""


def written_by_assistant(found: Overview, choices: Choices) -> list[WrittenListed]:
    """Return what became of the language model's sentences, by assistant, the largest share held back first."""
    parts = [(choices.assistants.get(int(key or 0), ""), part) for key, part in found.spread.parts["assistant"].items()]
    written = [(name, part.written) for name, part in parts if name and part.written.sentences]
    written.sort(key=lambda each: (-(each[1].held_back_share or 0), each[0]))
    return [
        WrittenListed(
            name=name,
            held_back=percent(each.held_back_share or 0),
            sentences=whole(each.sentences),
            rightly=NOTHING if each.rightly_share is None else percent(each.rightly_share),
            judged=judged_text(each),
        )
        for name, each in written
    ]


def listed_topic(row: Ranked, row_link: str) -> Listed:
    before = "" if row.before is None else whole(row.before)
    return Listed(
        name=row.name or _("Questions that were deleted"),
        count=ngettext("%(count)s question", "%(count)s questions", row.answers) % {"count": whole(row.answers)},
        change=change(row.answers, row.before, before),
        link="",
        row_link=row_link,
    )


def listed(row: Ranked, link: str, row_link: str) -> Listed:
    before = "" if row.before is None else whole(row.before)
    return Listed(
        name=row.name,
        count=ngettext("%(count)s answer", "%(count)s answers", row.answers) % {"count": whole(row.answers)},
        change=change(row.answers, row.before, before),
        link=link,
        row_link=row_link,
        thumbs=(count_text(row.thumbs_up), count_text(row.thumbs_down)),
    )
