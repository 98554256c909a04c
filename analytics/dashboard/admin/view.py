"""The dashboard: what was asked in a period and how it was answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

from analytics.dashboard.admin.cards import groups_of
from analytics.dashboard.admin.charts import charts_of
from analytics.dashboard.admin.form import RANGE_NAMES, DashboardForm, site_names
from analytics.dashboard.admin.links import Links
from analytics.dashboard.formatting import Change, change, period_name, told, whole
from analytics.dashboard.overview import Choices, Overview, choices_for, overview, reach
from analytics.dashboard.suppression import without_small_groups
from analytics.dashboard.types import Part, Ranked
from analytics.dashboard.visibility import View
from analytics.models import Gap
from analytics.periods import Range
from chat.models.assistants import Language

VIEW_DASHBOARD = "analytics.view_dashboard"
TEMPLATE = "admin/analytics/dashboard/page.html"


@dataclass(frozen=True, slots=True)
class Listed:
    """A row of a list: an FAQ, a document, a gap, or one of several parts; `link` leads to conversations."""

    name: str
    count: str
    change: Change | None
    link: str
    row_link: str = ""
    share: int = 0
    thumbs: tuple[str, str] | None = None
    gap: Gap | None = None


@require_safe
def dashboard_view(request: HttpRequest) -> HttpResponse:
    """To be wrapped in `admin.site.admin_view`; raises PermissionDenied."""
    if not request.user.has_perm(VIEW_DASHBOARD):
        raise PermissionDenied
    choices = choices_for(request.user)
    named = {str(pk): pk for pk in choices.assistants}
    reached = reach(request.user, named.get(request.GET.get("assistant", "")))
    form = DashboardForm(request.GET, choices=choices, reach=reached, today=timezone.localdate())
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("Dashboard"),
        "form": form,
        "ranges": ranges_of(request, form),
        "reach": reached,
        "now": timezone.localtime(),
        "least": settings.SMALLEST_GROUP,
    }
    if form.is_valid():
        context |= shown(form.view(request.user), form, choices, Links(form.view(request.user), reached))
    return TemplateResponse(request, TEMPLATE, context)


def ranges_of(request: HttpRequest, form: DashboardForm) -> list[tuple[str, str, bool]]:
    """Name, address and whether it is shown; what else is chosen stays."""
    found = []
    for name in Range:
        address = request.GET.copy()
        for field in ("from", "to", "step"):
            address.pop(field, None)
        address["range"] = name.value
        found.append((str(RANGE_NAMES[name]), f"?{address.urlencode()}", form.range == name))
    return found


def shown(view: View, form: DashboardForm, choices: Choices, links: Links) -> dict[str, Any]:
    """What the page tells of a view."""
    found: Overview | None = overview(view, with_gaps=view.by.has_perm("analytics.view_gap"))
    if found and view.least > 1:
        found = without_small_groups(found, least=view.least)
    context = {
        "view": view,
        "period": period_name(view.period),
        "before": period_name(view.period.before),
        "is_today": view.period.last == form.today,
        "was_cut": form.cleaned_data["to"] > form.today,
        "is_too_small": found is None,
        "hides_small": view.least > 1,
        "deleted_before": links.reach.kept if links.reach.kept and links.reach.kept > view.period.first else None,
        "are_deleted": links.are_deleted,
    }
    if found is None:
        return context
    return context | {
        "found": found,
        "is_empty": found.now.is_empty,
        "is_cut": any(not point.is_whole for point in found.points),
        "groups": groups_of(found, links),
        "charts": charts_of(found, view, links),
        "faqs": [listed(each, links.asked(faq=each.pk), links.faq(each.pk)) for each in found.faqs],
        "documents": [listed(each, links.asked(document=each.pk), links.document(each.pk)) for each in found.documents],
        "never": [(title, links.document(pk)) for pk, title in found.never.documents],
        "gaps": [(gap, links.gap(gap.pk)) for gap in found.gaps],
        "may_see_gaps": view.by.has_perm("analytics.view_gap"),
        "parts": parts_of(found, view, choices, links),
    }


def listed(row: Ranked, link: str, row_link: str) -> Listed:
    before = "" if row.before is None else whole(row.before)
    return Listed(
        name=row.name,
        count=ngettext("%(count)s answer", "%(count)s answers", row.answers) % {"count": whole(row.answers)},
        change=change(row.answers, row.before, before),
        link=link,
        row_link=row_link,
        thumbs=(told(row.thumbs_up), told(row.thumbs_down)),
    )


def parts_of(found: Overview, view: View, choices: Choices, links: Links) -> list[tuple[str, Sequence[Listed]]]:
    """By assistant, site and language, as far as the view holds more than one of them."""
    assistants = {str(pk): name for pk, name in choices.assistants.items()}
    sites = {str(pk): name for pk, name in site_names(choices, of_one=view.assistant is not None).items()}
    languages = {str(code): str(label) for code, label in Language.choices}
    wanted: Sequence[tuple[str, str, Mapping[str, str], str]] = [
        (_("Assistants"), "assistant", assistants, "assistant__id__exact"),
        (_("Sites"), "site", sites, "site"),
        (_("Languages"), "language", languages, "language"),
    ]
    tables: list[tuple[str, Sequence[Listed]]] = []
    for title, name, names, parameter in wanted:
        now = found.spread.parts[name]
        earlier = found.spread_before.parts[name] if found.spread_before else {}
        if getattr(view, name) or not now:
            continue
        rows = [
            _part(
                names.get(key) or (_("deleted") if key else _("none")),
                part,
                earlier.get(key),
                found.now.questions,
                links.asked(**{parameter: key}) if key in names else "",
            )
            for key, part in sorted(now.items(), key=lambda item: -item[1].questions)
        ]
        tables.append((title, rows))
    return tables


def _part(name: str, part: Part, before: Part | None, questions: int, link: str) -> Listed:
    share = part.questions / questions if questions else 0.0
    return Listed(
        name=name,
        count=ngettext("%(count)s question", "%(count)s questions", part.questions) % {"count": whole(part.questions)},
        change=change(part.questions, before.questions if before else None, whole(before.questions) if before else ""),
        link=link,
        share=round(share * 100),
    )
