"""Who the staff are, and what they did."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.admin import UserAdmin
from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.http import HttpRequest
from django.urls import NoReverseMatch
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django_celery_beat.admin import PeriodicTaskAdmin
from django_celery_beat.models import PeriodicTask

from marcelcms import token_admin  # noqa: F401 (registers its screen)

if TYPE_CHECKING:
    StaffUserAdmin = UserAdmin[User]
    LogEntryModelAdmin = admin.ModelAdmin[LogEntry]
    TaskModelAdmin = admin.ModelAdmin[PeriodicTask]
else:
    StaffUserAdmin, LogEntryModelAdmin, TaskModelAdmin = UserAdmin, admin.ModelAdmin, PeriodicTaskAdmin

admin.site.unregister([User, PeriodicTask])


@admin.register(User)
class StaffAdmin(StaffUserAdmin):
    """Nobody makes themselves, or somebody else, more than they are."""

    list_display = ["username", "first_name", "last_name", "email", "is_active", "last_login", "belongs_to"]
    list_filter = ["is_active", "groups"]
    readonly_fields = ["last_login", "date_joined"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[User]:
        return super().get_queryset(request).prefetch_related("groups")

    @admin.display(description=_("roles and teams"))
    def belongs_to(self, user: User) -> str:
        return ", ".join(group.name for group in user.groups.all())

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return fields if request.user.is_superuser else [*fields, "is_superuser", "user_permissions"]

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and outranks(obj, request.user))

    def has_delete_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        """Whose deeds are on record stays on record: such an account is deactivated instead."""
        if obj and (outranks(obj, request.user) or LogEntry.objects.filter(user=obj).exists()):
            return False
        return super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> Any:
        """Several at once would pass over who has a record."""
        return {name: action for name, action in super().get_actions(request).items() if name != "delete_selected"}


@admin.register(PeriodicTask)
class ScheduleAdmin(TaskModelAdmin):
    """Puts on record who switches tasks on and off or starts them, which django-celery-beat does not."""

    def get_actions(self, request: HttpRequest) -> Any:
        actions: dict[str, tuple[Callable[..., Any], str, Any]] = super().get_actions(request)  # type: ignore[assignment]
        return {
            name: (action if name == "delete_selected" else recorded(action, said), name, said)
            for name, (action, _name, said) in actions.items()
        }


def recorded(action: Callable[..., Any], said: Any) -> Callable[..., Any]:
    def act(model_admin: Any, request: HttpRequest, queryset: QuerySet[Any]) -> Any:
        rows = list(queryset)
        done = action(model_admin, request, queryset)
        LogEntry.objects.log_actions(cast("int", request.user.pk), cast("Any", rows), CHANGE, str(said))
        return done

    return act


def outranks(user: User, other: Any) -> bool:
    return user.is_superuser and not other.is_superuser


@admin.register(LogEntry)
class AuditLogAdmin(LogEntryModelAdmin):
    """What staff did: read, never changed; the database refuses it too."""

    list_display = ["action_time", "user", "what", "content_type", "row", "message"]
    list_display_links = None
    list_filter = ["action_time", "action_flag", ("content_type", admin.RelatedOnlyFieldListFilter)]
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

    @admin.display(description=_("of"), ordering="object_repr")
    def row(self, entry: LogEntry) -> str:
        try:
            url = entry.get_admin_url()
        except NoReverseMatch:
            url = None
        return format_html('<a href="{}">{}</a>', url, entry.object_repr) if url else entry.object_repr

    @admin.display(description=_("what changed"))
    def message(self, entry: LogEntry) -> str:
        return entry.get_change_message()
