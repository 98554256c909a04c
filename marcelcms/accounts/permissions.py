"""Permissions by names that staff understand, where accounts, teams and roles are edited; Django's own are English."""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth.models import Permission
from django.db.models import Model
from django.forms.models import ModelChoiceIterator
from django.http import HttpRequest
from django.utils.functional import Promise
from django.utils.html import format_html_join
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from marcelcms.navigation.site import TITLES

if TYPE_CHECKING:
    PermissionChoices = forms.ModelMultipleChoiceField[Permission]
    PermissionIterator = ModelChoiceIterator[Permission]
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    PermissionChoices, PermissionIterator = forms.ModelMultipleChoiceField, ModelChoiceIterator
    AnyModelAdmin = admin.ModelAdmin

#: What Django makes a permission for, of each model.
ACTIONS: Mapping[str, Promise] = {
    "view": pgettext_lazy("permission", "view"),
    "add": pgettext_lazy("permission", "add"),
    "change": pgettext_lazy("permission", "change"),
    "delete": pgettext_lazy("permission", "delete"),
}


def describe_permission(permission: Permission) -> str:
    """Return what is allowed: “Documents: change”, or the text of a permission that a model names itself."""
    model = permission.content_type.model_class()
    if model is None:
        return permission.name  # of an app that was removed
    texts = dict(model._meta.permissions)
    if permission.codename in texts:
        return str(texts[permission.codename])
    action, _rest, _name = permission.codename.partition("_")
    return f"{_title(model)}: {ACTIONS[action]}" if action in ACTIONS else permission.name


def _title(model: type[Model]) -> str:
    return capfirst(str(TITLES.get(model._meta.label_lower, model._meta.verbose_name_plural)))


class _ByName(PermissionIterator):
    """Sorts by what is shown."""

    def __iter__(self) -> Iterator[Any]:
        yield from sorted(super().__iter__(), key=lambda choice: str(choice[1]).casefold())


class NamedPermissions(PermissionChoices):
    iterator = _ByName

    def label_from_instance(self, permission: Permission) -> str:
        return describe_permission(permission)


class NamesPermissions(AnyModelAdmin):
    """Shows the permissions of an account or a group by these names, to choose from or only to read."""

    permissions_field: str

    def formfield_for_manytomany(self, db_field: Any, request: Any = None, **kwargs: Any) -> Any:
        if db_field.name == self.permissions_field:
            kwargs["form_class"] = NamedPermissions
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        """Show the names where the permissions may only be read."""
        fieldsets = self.all_fieldsets(request, obj)
        may_change = obj is None or self.has_change_permission(request, obj)
        if may_change and self.permissions_field not in self.get_readonly_fields(request, obj):
            return fieldsets
        names = {self.permissions_field: "permission_names"}
        return [
            (title, options | {"fields": [names.get(field, field) for field in options["fields"]]})
            for title, options in fieldsets
        ]

    def all_fieldsets(self, request: HttpRequest, obj: Any) -> Any:
        return super().get_fieldsets(request, obj)

    @admin.display(description=_("permissions"))
    def permission_names(self, holder: Any) -> str:
        held = getattr(holder, self.permissions_field).select_related("content_type")
        names = sorted(map(describe_permission, held), key=str.casefold)
        return format_html_join("", "<div>{}</div>", ((name,) for name in names)) or "-"
