"""Sections of the admin's first page."""

import datetime
from collections.abc import Iterable, Sequence
from typing import Any

from django import template
from django.contrib import admin
from django.contrib.admin.helpers import AdminReadonlyField
from django.contrib.admin.models import LogEntry
from django.contrib.admin.views.main import ChangeList
from django.db.models import Model
from django.http import HttpRequest
from django.utils.formats import date_format
from django.utils.text import capfirst

from analytics.inbox.colleagues import may_work
from analytics.inbox.notices import count_unread
from analytics.inbox.preferences import may_choose
from core.admin.languages import name_language
from marcelcms.accounts.audit_log import describe_change
from marcelcms.accounts.roles import name_administrators, name_teams
from marcelcms.admin_index import sections
from marcelcms.admin_index.first_steps import FirstStep
from marcelcms.admin_index.first_steps import first_steps as first_steps_of
from marcelcms.admin_index.questions import Section
from marcelcms.admin_index.sections import sections_for
from marcelcms.navigation.site import TITLES

register = template.Library()
#: The model of assistants, as `core.access.StaffScoped` names it.
ASSISTANT = "chat.Assistant"
#: Fields that hold tags of languages, such as "de", or a list of them.
LANGUAGE_FIELDS = frozenset({"language", "languages"})


def may_open(request: HttpRequest, row: Model) -> bool:
    """Return whether the row's own page opens for who reads this one."""
    if not admin.site.is_registered(type(row)):
        return False
    screen = admin.site.get_model_admin(type(row))
    return screen.has_view_permission(request, row) and screen.get_queryset(request).filter(pk=row.pk).exists()


@register.simple_tag(takes_context=True)
def open_tasks(context: Any) -> list[Section]:
    return sections_for(context["request"].user)


@register.simple_tag
def screen_title(opts: Any) -> str:
    """Return what a model's list is called, as in the navigation."""
    return str(capfirst(TITLES.get(opts.label_lower, opts.verbose_name_plural)))


@register.simple_tag(takes_context=True)
def row_title(context: Any, row: Any) -> str:
    """Return what a row's own pages call it; a screen with `row_title` knows what its reader may read of it."""
    screen: Any = admin.site.get_model_admin(type(row))
    return str(screen.row_title(context["request"], row)) if hasattr(screen, "row_title") else str(row)


@register.simple_tag(takes_context=True)
def readonly_text(context: Any, field: AdminReadonlyField) -> str:
    """Return the text of a field that cannot be edited: languages by name, days as they are written, "-" for nothing.

    A row that the reader may not open is named without a link.
    """
    name = field.field["name"]
    value = getattr(field.form.instance, name, None) if isinstance(name, str) else None
    if name in LANGUAGE_FIELDS and value:
        return ", ".join(map(name_language, [value] if isinstance(value, str) else value))
    if isinstance(value, list) and value and all(isinstance(each, datetime.date) for each in value):
        return ", ".join(map(date_format, value))
    if isinstance(value, Model) and not may_open(context["request"], value):
        return str(value)
    return field.contents() or admin.site.empty_value_display


@register.simple_tag
def describe_changes(entries: Iterable[LogEntry]) -> str:
    """Have entries of the audit log, which a page lists, say what was changed as the audit log itself does."""
    for entry in entries:
        entry.change_message = describe_change(entry)
    return ""


@register.simple_tag(takes_context=True)
def looks_after_nothing(context: Any) -> bool:
    return sections.looks_after_nothing(context["request"].user)


@register.simple_tag(takes_context=True)
def sees_no_questions(context: Any) -> bool:
    return sections.sees_no_questions(context["request"].user)


@register.simple_tag(takes_context=True)
def lacks_assistant(context: Any, changelist: ChangeList) -> bool:
    """Return whether a list has rows of assistants, and none since the reader's teams look after no assistant."""
    rows: Any = changelist.model._default_manager.get_queryset()
    return getattr(rows, "owner_model", "") == ASSISTANT and sections.sees_no_questions(context["request"].user)


@register.simple_tag(takes_context=True)
def own_teams(context: Any) -> list[str]:
    return name_teams(context["request"].user)


@register.simple_tag(takes_context=True)
def works_on_inbox(context: Any) -> bool:
    return may_work(context["request"].user)


@register.simple_tag(takes_context=True)
def gets_mails(context: Any) -> bool:
    return may_choose(context["request"].user)


@register.simple_tag(takes_context=True)
def unread_notices(context: Any) -> int:
    return count_unread(context["request"].user)


@register.simple_tag(takes_context=True)
def first_steps(context: Any) -> Sequence[FirstStep]:
    return first_steps_of(context["request"].user)


@register.simple_tag
def administrators() -> list[str]:
    return name_administrators()
