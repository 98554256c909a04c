"""What a session keeps of a login, and what ends it at once: a deactivated account, a lost role, team or permission."""

from typing import Any

from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.db.models.signals import m2m_changed, post_save
from django.dispatch import receiver
from django.http import HttpRequest

from marcelcms.accounts.open_sessions.devices import describe_device
from marcelcms.accounts.sessions import DEVICE
from marcelcms.models import StaffSession


@receiver(user_logged_in)
def note_device(request: HttpRequest, **_kwargs: Any) -> None:
    request.session[DEVICE] = describe_device(request.META.get("HTTP_USER_AGENT", ""))


@receiver(post_save, sender=User)
def end_with_account(instance: User, created: bool, raw: bool, **_kwargs: Any) -> None:
    if not created and not raw and not (instance.is_active and instance.is_staff):
        StaffSession.objects.filter(user=instance).delete()


@receiver(m2m_changed, sender=User.groups.through)
@receiver(m2m_changed, sender=User.user_permissions.through)
def end_with_right(instance: Any, action: str, reverse: bool, pk_set: set[int] | None, **_kwargs: Any) -> None:
    """End the sessions of whom something was taken from, whichever side it was taken from."""
    if action not in {"post_remove", "pre_clear"}:
        return
    if not reverse:
        StaffSession.objects.filter(user=instance).delete()
    elif action == "post_remove":
        StaffSession.objects.filter(user__in=pk_set or ()).delete()
    else:
        StaffSession.objects.filter(user__in=instance.user_set.values("pk")).delete()
