"""Permissions of staff, read in one query; Django's backend asks for the user's own and for those of groups apart."""

from typing import Any

from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import Permission
from django.db.models import Q


class PermissionBackend(ModelBackend):
    """Fills the cache that Django's backend, asked after this one, reads too. Nobody logs in by it."""

    def authenticate(self, *_args: Any, **_credentials: Any) -> None:
        return None

    def get_all_permissions(self, user_obj: Any, obj: Any = None) -> set[str]:
        if user_obj.is_superuser or not user_obj.is_active or user_obj.is_anonymous or obj is not None:
            return super().get_all_permissions(user_obj, obj)
        if not hasattr(user_obj, "_perm_cache"):
            groups = user_obj.groups.order_by().values("pk")
            held = Permission.objects.filter(
                Q(pk__in=user_obj.user_permissions.order_by().values("pk")) | Q(group__in=groups)
            )
            names = held.order_by().values_list("content_type__app_label", "codename").distinct()
            user_obj._perm_cache = {f"{app}.{codename}" for app, codename in names}
        found: set[str] = user_obj._perm_cache
        return found
