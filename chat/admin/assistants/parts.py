"""Rows that are part of their assistant: who may change it may change them."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.http import HttpRequest

from chat.models import Assistant

if TYPE_CHECKING:
    AnyInline = admin.options.InlineModelAdmin[Any, Assistant]
else:
    AnyInline = object


class AssistantPart(AnyInline):
    """To be named before the inline's own class."""

    def _may_edit(self, request: HttpRequest) -> bool:
        return request.user.has_perm("chat.change_assistant") or request.user.has_perm("chat.add_assistant")

    def has_add_permission(self, request: HttpRequest, obj: Assistant | None = None) -> bool:
        return self._may_edit(request)

    def has_change_permission(self, request: HttpRequest, obj: Assistant | None = None) -> bool:
        return self._may_edit(request)

    def has_delete_permission(self, request: HttpRequest, obj: Assistant | None = None) -> bool:
        return self._may_edit(request)

    def has_view_permission(self, request: HttpRequest, obj: Assistant | None = None) -> bool:
        return self._may_edit(request) or request.user.has_perm("chat.view_assistant")
