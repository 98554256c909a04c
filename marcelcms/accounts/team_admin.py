"""Pages about teams and roles: what a team looks after, and what a role may do."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from marcelcms.accounts.permissions import NamesPermissions
from marcelcms.accounts.roles import ROLE_TEXTS, WHOLE_UNIVERSITY, role_title
from marcelcms.accounts.teams import DUTIES, assistants_field, check_name, collections_field, describe_duties

if TYPE_CHECKING:
    TeamModelForm = forms.ModelForm[Group]
else:
    TeamModelForm = forms.ModelForm


class TeamForm(TeamModelForm):
    """Names a team and says what it looks after."""

    assistants = assistants_field()
    collections = collections_field()

    class Meta:
        model = Group
        fields = ("name", "permissions")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk:
            self.initial = {**self.initial, **{duty: getattr(self.instance, duty).all() for duty in DUTIES}}

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        if "name" in self.changed_data:
            check_name(name)
        return name

    def _save_m2m(self) -> None:
        super()._save_m2m()  # type: ignore[misc]
        for duty in DUTIES:
            getattr(self.instance, duty).set(self.cleaned_data[duty])


admin.site.unregister(Group)


@admin.register(Group)
class TeamAdmin(NamesPermissions, GroupAdmin):
    """Teams with what they look after; a role has its permissions instead."""

    permissions_field = "permissions"

    list_display = ["title", "kind", "duties", "members"]
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[Group]:
        groups: QuerySet[Group] = super().get_queryset(request).prefetch_related(*DUTIES)
        return groups.annotate(member_count=Count("user", distinct=True))

    def get_form(self, request: HttpRequest, obj: Group | None = None, change: bool = False, **kwargs: Any) -> Any:
        if obj is None or not _is_role(obj):
            kwargs["form"] = TeamForm
        return super().get_form(request, obj, change=change, **kwargs)

    def all_fieldsets(self, request: HttpRequest, obj: Group | None) -> Any:
        if obj and _is_role(obj):
            return [(None, {"fields": ["name", "permissions"]})]
        further = {
            "classes": ["collapse"],
            "description": _("A team needs none: what its members may do is said by their roles."),
            "fields": ["permissions"],
        }
        return [(None, {"fields": ["name", *DUTIES]}), (_("Further permissions"), further)]

    def get_readonly_fields(self, request: HttpRequest, obj: Group | None = None) -> Any:
        """Fix the name of a role: its texts and its permissions hang on it."""
        return ["name"] if obj and _is_role(obj) else []

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        return super().changelist_view(request, {"title": gettext("Teams and roles"), **(extra_context or {})})

    def add_view(self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None) -> Any:
        return super().add_view(request, form_url, {"title": gettext("Add a team"), **(extra_context or {})})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        group = self.get_object(request, object_id)
        if group and self.has_change_permission(request, group):
            title = gettext("Change role") if _is_role(group) else gettext("Change team")
            extra_context = {"title": title, **(extra_context or {})}
        return super().change_view(request, object_id, form_url, extra_context)

    def delete_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        group = self.get_object(request, object_id)
        kind = self.kind(group) if group else ""
        return super().delete_view(request, object_id, {"object_name": kind, **(extra_context or {})})

    @admin.display(description=_("name"), ordering="name")
    def title(self, group: Group) -> str:
        return role_title(group.name)

    def row_title(self, request: HttpRequest, group: Group) -> str:
        return role_title(group.name)

    @admin.display(description=_("kind"))
    def kind(self, group: Group) -> str:
        return gettext("role") if _is_role(group) else gettext("team")

    @admin.display(description=_("looks after"))
    def duties(self, group: Group) -> str:
        return "" if _is_role(group) else describe_duties(group)

    @admin.display(description=_("members"))
    def members(self, group: Group) -> int:
        return int(group.member_count)  # type: ignore[attr-defined]


def _is_role(group: Group) -> bool:
    return group.name in ROLE_TEXTS or group.name == WHOLE_UNIVERSITY
