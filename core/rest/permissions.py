"""Permissions of the staff API: those of the admin."""

from typing import Any

from rest_framework.permissions import BasePermission
from rest_framework.request import Request


def may(user: Any, permission: str) -> bool:
    """Return whether the user has the permission; as in the admin, who may change something may see it."""
    app, codename = permission.split(".")
    if user.has_perm(permission):
        return True
    return codename.startswith("view_") and bool(user.has_perm(f"{app}.change_{codename.removeprefix('view_')}"))


class IsStaff(BasePermission):
    def has_permission(self, request: Request, view: Any) -> bool:
        return bool(request.user.is_active and request.user.is_staff)


class MayDoThis(IsStaff):
    """All of the permissions that the view `needs` for what is to be done."""

    def has_permission(self, request: Request, view: Any) -> bool:
        if not super().has_permission(request, view):
            return False
        if view.action in {None, "metadata"}:  # not a method of this address, which is what is said next
            return True
        return all(may(request.user, permission) for permission in view.needs[view.action])
