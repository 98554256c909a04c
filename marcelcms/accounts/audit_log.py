"""The page of the audit log: who changed what, in the names of the screens."""

import json
from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.http import HttpRequest
from django.urls import NoReverseMatch
from django.utils import translation
from django.utils.html import format_html
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    LogEntryModelAdmin = admin.ModelAdmin[LogEntry]
else:
    LogEntryModelAdmin = admin.ModelAdmin


def describe_change(entry: LogEntry) -> str:
    """Return what an entry says was changed; fields of its row are called as on their form."""
    model = entry.content_type.model_class() if entry.content_type else None
    try:
        parts = json.loads(entry.change_message)
    except ValueError:
        return entry.get_change_message()
    for part in parts if model and isinstance(parts, list) else ():
        changed = part.get("changed", {})
        if "name" not in changed and "fields" in changed:
            changed["fields"] = [_field_title(model, name) for name in changed["fields"]]
    return LogEntry(change_message=json.dumps(parts)).get_change_message()


def _field_title(model: Any, name: str) -> str:
    """Return what a field is called on screens; entries have its name, or its English title from the form."""
    fields = [field for field in model._meta.get_fields() if hasattr(field, "verbose_name")]
    with translation.override("en"):
        titles = {capfirst(str(field.verbose_name)): field for field in fields}
    found = {field.name: field for field in fields}.get(name) or titles.get(name)
    return str(found.verbose_name) if found else name


class ActionFilter(admin.ChoicesFieldListFilter):
    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = _("action")


class KindFilter(admin.RelatedOnlyFieldListFilter):
    """Names what was changed without its app, which staff do not know."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.title = _("kind")

    def field_choices(self, field: Any, request: HttpRequest, model_admin: Any) -> Any:
        used = [pk for pk, _name in super().field_choices(field, request, model_admin)]
        names = ((pk, ContentType.objects.get_for_id(int(pk)).name) for pk in used)
        return sorted(names, key=lambda choice: choice[1].casefold())


@admin.register(LogEntry)
class AuditLogAdmin(LogEntryModelAdmin):
    """The audit log: read, never changed; the database refuses it too."""

    list_display = ["action_time", "user", "what", "kind", "row", "message"]
    list_display_links = None
    list_filter = ["action_time", ("action_flag", ActionFilter), ("content_type", KindFilter)]
    list_select_related = ["user", "content_type"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["user__username", "object_repr"]
    search_help_text = _("Searches names of staff and of what they changed.")
    ordering = ["-action_time", "-pk"]
    actions = None
    nothing_yet = _("Nobody changed anything yet. Whatever staff add, change, delete or take away is kept here.")

    class Media:
        css = {"all": ["knowledge/screens.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: LogEntry | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: LogEntry | None = None) -> bool:
        return False

    @admin.display(description=_("action"), ordering="action_flag")
    def what(self, entry: LogEntry) -> str:
        return entry.get_action_flag_display()

    @admin.display(description=_("kind"), ordering="content_type")
    def kind(self, entry: LogEntry) -> str:
        return entry.content_type.name if entry.content_type else ""

    @admin.display(description=_("of"), ordering="object_repr")
    def row(self, entry: LogEntry) -> str:
        try:
            url = entry.get_admin_url()
        except NoReverseMatch:
            url = None
        return format_html('<a href="{}">{}</a>', url, entry.object_repr) if url else entry.object_repr

    @admin.display(description=_("what changed"))
    def message(self, entry: LogEntry) -> str:
        return describe_change(entry)
