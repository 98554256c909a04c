"""The dates that staff write on the dashboard's time line."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from analytics.models import TimelineDate
from core.access import sees_everything
from core.admin.scoped import ScopedAdmin, ScopedFilter

if TYPE_CHECKING:
    TimelineModelAdmin = admin.ModelAdmin[TimelineDate]
else:
    TimelineModelAdmin = admin.ModelAdmin


@admin.register(TimelineDate)
class TimelineDateAdmin(ScopedAdmin, TimelineModelAdmin):
    list_display = ["day", "text", "assistant"]
    list_display_links = ["text"]
    list_select_related = ["assistant"]
    list_filter = [("assistant", ScopedFilter)]
    list_per_page = 50
    search_fields = ["text"]
    fields = ["day", "text", "assistant"]
    nothing_yet = _("No date yet. Add what explains the figures of a day, such as the first one of lectures.")

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide it from the navigation: the dashboard leads here."""
        return False

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Leave dates of all assistants to who looks after all of them."""
        field: Any = super().formfield_for_foreignkey(db_field, request, **kwargs)
        field.required = not sees_everything(request.user)
        return field
