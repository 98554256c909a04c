"""The search over everything: screens, and the rows of each that the member may open and that have the words typed."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from urllib.parse import urlencode

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from marcelcms.navigation.other_rows import Rows, find_contradictions, find_screens, find_topics_named
from marcelcms.navigation.site import PAGES, SECTIONS

#: Rows shown of each screen, and characters that may be searched.
SHOWN, LONGEST = 5, 200
#: Screens and settings shown.
NAMED = 10
#: What the audit log says is searched in its own screen.
NOT_SEARCHED = frozenset({"admin.logentry", "django_celery_beat.periodictask"})
#: The work that the inbox lists, each kind with the search of its own screen.
INBOX = ("analytics.gap", "chat.case", "analytics.review")
#: Pages that are no list of the admin, by name.
FINDERS: Mapping[str, Callable[[HttpRequest, str, int], Rows]] = {
    "topics": find_topics_named,
    "contradictions": find_contradictions,
}


@dataclass(frozen=True, slots=True)
class Found:
    """Rows of one screen as (title, address); `more` is the address of all of them, if there are more."""

    title: str
    rows: Sequence[tuple[str, str]]
    more: str


def find_everywhere(request: HttpRequest, text: str) -> Iterator[Found]:
    """Search the names of screens, then each screen that the member may open, in the order of the navigation."""
    if named := find_screens(request, text):
        yield Found(_("Screens and settings"), named[:NAMED], "")
    screens = {model._meta.label_lower: (model, screen) for model, screen in admin.site._registry.items()}
    order = [*INBOX, *(name for _title, names in SECTIONS.values() for name in names)]
    for name in order:
        if (finder := FINDERS.get(name)) and (rows := finder(request, text, SHOWN + 1)):
            more = reverse(name) if len(rows) > SHOWN else ""
            yield Found(str(PAGES[name][0]), rows[:SHOWN], more)
        if name not in screens or name in NOT_SEARCHED:
            continue
        model, screen = screens[name]
        if screen.search_fields and screen.has_view_or_change_permission(request):
            found = _find(request, model, screen, text)
            if found.rows:
                yield found


def _find(request: HttpRequest, model: type[Any], screen: Any, text: str) -> Found:
    """Find rows; a screen with `row_title` names them, since a row does not know what the member may read of it."""
    rows, may_repeat = screen.get_search_results(request, screen.get_queryset(request), text)
    rows = rows.distinct() if may_repeat else rows
    place = f"admin:{model._meta.app_label}_{model._meta.model_name}"
    first = list(rows[: SHOWN + 1])
    name = partial(screen.row_title, request) if hasattr(screen, "row_title") else _title
    shown = [(name(row), reverse(f"{place}_change", args=[row.pk])) for row in first[:SHOWN]]
    more = f"{reverse(f'{place}_changelist')}?{urlencode({'q': text})}" if len(first) > SHOWN else ""
    return Found(capfirst(model._meta.verbose_name_plural), shown, more)


def _title(row: Any) -> str:
    """Return what staff know the row by: `str` is only a number where the audit log must not hold a student's words."""
    return str(getattr(row, "title", "") or getattr(row, "text", "") or row)


@require_safe
def search_view(request: HttpRequest) -> HttpResponse:
    """Show what is found; to be wrapped in `admin.site.admin_view`."""
    text = request.GET.get("q", "").replace("\0", "").strip()[:LONGEST]
    context = {
        **admin.site.each_context(request),
        "title": _("Search"),
        "text": text,
        "found": list(find_everywhere(request, text)) if text else [],
    }
    return TemplateResponse(request, "admin/marcelcms/search/page.html", context)
