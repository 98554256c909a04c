"""Preferences of staff for the inbox, and today's substitutes."""

from typing import TYPE_CHECKING

from django.contrib.auth.models import AbstractBaseUser
from django.db.models import Q, QuerySet
from django.utils import timezone

from analytics.inbox.colleagues import may_work
from analytics.models import InboxPreferences

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Who may see the quality of answers is mailed when it drops (`analytics.quality.mails`).
VIEW_QUALITY = "analytics.view_sampledanswer"
#: How often an assignment is passed on from substitute to substitute.
HOPS = 2


def may_choose(user: "User") -> bool:
    """Return whether the member may get e-mails at all, and so choose which."""
    return may_work(user) or user.has_perm(VIEW_QUALITY)


def preferences_of(user: "User") -> InboxPreferences:
    """Return the member's preferences, or the usual ones, unsaved."""
    return InboxPreferences.objects.filter(user=user.pk).first() or InboxPreferences(user_id=user.pk)


def _away() -> QuerySet[InboxPreferences]:
    """Return the preferences of those who are away today and named a substitute who can still sign in."""
    return InboxPreferences.objects.filter(
        away_until__gte=timezone.localdate(), substitute__is_active=True, substitute__is_staff=True
    )


def is_away(user_id: int) -> bool:
    """Return whether the member said that they are away today."""
    return InboxPreferences.objects.filter(user=user_id, away_until__gte=timezone.localdate()).exists()


def stand_in_for(user_id: int) -> int | None:
    """Return who stands in for the member today; None if they are here, or nobody who is here does.

    A substitute who is away too passes on to their own, once.
    """
    substitutes = dict(_away().values_list("user_id", "substitute_id"))
    at = user_id
    for _hop in range(HOPS):
        at = substitutes.get(at, at)
    return at if at != user_id and at not in substitutes else None


def assigned_to(user: AbstractBaseUser) -> Q:
    """Return the condition of items that are the member's, or those of whom they stand in for today."""
    condition, covered = Q(assigned_to=user.pk), _away().filter(substitute=user.pk)
    for _hop in range(HOPS):
        condition |= Q(assigned_to__in=covered.values("user"))
        covered = _away().filter(substitute__in=covered.values("user"))
    return condition
