"""Rows that are part of another row, in its form."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.contrib.auth import get_permission_codename
from django.http import HttpRequest

if TYPE_CHECKING:
    AnyInline = admin.options.InlineModelAdmin[Any, Any]
else:
    AnyInline = object


class PartInline(AnyInline):
    """Who may change the whole may change its parts. To be named before the inline's own class."""

    def _may(self, request: HttpRequest, *actions: str) -> bool:
        whole = self.parent_model._meta
        names = (f"{whole.app_label}.{get_permission_codename(action, whole)}" for action in actions)
        return any(map(request.user.has_perm, names))

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "change", "add")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "change", "add")

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "change", "add")

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self._may(request, "change", "add", "view")
