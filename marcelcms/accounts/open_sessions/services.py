"""Ends sessions, and puts on record who did."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.auth.models import User
from django.db import transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_noop

from marcelcms.models import StaffSession

NAME_LETTERS = 16


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A session as its owner sees it; `name` stands for its key, which lets in whoever knows it."""

    name: str
    device: str
    last_used_at: datetime
    is_this: bool


def name_of(key: str) -> str:
    return salted_hmac("marcelcms.accounts.open_sessions", key).hexdigest()[:NAME_LETTERS]


def open_sessions(user: User, *, this: str | None) -> Sequence[OpenSession]:
    """Return where the user is logged in, the session with the key `this` first."""
    rows = StaffSession.objects.filter(user=user, expire_date__gt=timezone.now()).order_by("-last_used_at")
    found = [
        OpenSession(name_of(row.session_key), row.device, row.last_used_at, row.session_key == this) for row in rows
    ]
    return sorted(found, key=lambda each: not each.is_this)


@transaction.atomic
def end_session(*, user: User, name: str) -> bool:
    """End one of the user's own; return whether there was one of that name."""
    keys = StaffSession.objects.filter(user=user).values_list("session_key", flat=True)
    key = next((key for key in keys if name_of(key) == name), None)
    if key is None:
        return False
    StaffSession.objects.filter(pk=key).delete()
    _record(user, by=user)
    return True


@transaction.atomic
def end_sessions(*, user: User, by: User, but: str | None = None) -> int:
    """End all of the user's but the one with the key `but`; return how many there were."""
    ended, _rows = StaffSession.objects.filter(user=user).exclude(session_key=but or "").delete()
    if ended:
        _record(user, by=by)
    return ended


def _record(user: User, *, by: User) -> None:
    said: list[Any] = [{"changed": {"fields": [gettext_noop("sessions ended")]}}]
    LogEntry.objects.log_actions(by.pk, [user], CHANGE, said, single_object=True)
