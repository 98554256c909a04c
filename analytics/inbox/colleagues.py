"""Colleagues: to whom an item can be assigned."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from django.contrib.auth import get_user_model
from django.db.models import Q, QuerySet

from analytics.inbox.items import Item
from analytics.models import Gap, Review
from chat.models import Case

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Permissions to work on topics, on answers to review and on cases.
TOPICS, ANSWERS, CASES = "analytics.change_gap", "analytics.change_review", "chat.change_case"
CHANGES: Mapping[type[Item], str] = {Gap: TOPICS, Review: ANSWERS, Case: CASES}


def may_work(user: "User") -> bool:
    """Return whether the member may work on items of any kind."""
    return any(user.has_perm(permission) for permission in CHANGES.values())


def colleagues(*models: type[Item]) -> QuerySet["User"]:
    """Return the active staff who may work on items of these kinds, by name; which rows is said by their teams."""
    able = Q(is_superuser=True)
    for model in models:
        app, codename = CHANGES[model].split(".")
        for holder in ("user_permissions", "groups__permissions"):
            able |= Q(**{f"{holder}__codename": codename, f"{holder}__content_type__app_label": app})
    staff = get_user_model().objects.filter(is_active=True, is_staff=True)
    named = staff.filter(pk__in=staff.filter(able).values("pk"))
    return named.select_related("inbox_preferences").order_by("last_name", "first_name", "username")


def can_open(member: "User", items: Sequence[Item]) -> list[Item]:
    """Return those of the items that the member may work on."""
    found: set[tuple[Any, int]] = set()
    kinds: Mapping[Any, str] = CHANGES
    for model, permission in kinds.items():
        ids = [item.pk for item in items if isinstance(item, model)]
        if ids and member.has_perm(permission):
            rows = model.objects.visible_to(member).filter(pk__in=ids)
            found |= {(model, pk) for pk in rows.values_list("pk", flat=True)}
    return [item for item in items if (type(item), item.pk) in found]
