"""The step between a right password and a session."""

import time
from typing import cast

from django.contrib.auth import login
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse

from marcelcms.accounts.second_factor.services import has_factor, needs_factor

#: Who typed a right password in this browser and still owes a code; for how many seconds that holds.
PENDING, PENDING_SECONDS = "second_factor_pending", 600
BACKEND = "django.contrib.auth.backends.ModelBackend"


def enter(request: HttpRequest, user: User, wanted: str) -> HttpResponse:
    """Log in who typed a right password, or ask for the code, or have an app set up where a role needs it."""
    if not has_factor(user) and not needs_factor(user):
        login(request, user, backend=BACKEND)
        return HttpResponseRedirect(wanted)
    request.session.cycle_key()
    request.session[PENDING] = {
        "user": user.pk,
        "hash": user.get_session_auth_hash(),
        "next": wanted,
        "at": int(time.time()),
    }
    return HttpResponseRedirect(reverse("second-factor" if has_factor(user) else "second-factor-setup"))


def pending_user(request: HttpRequest) -> User | None:
    """Return who still owes a code; nobody after ten minutes, a changed password or a deactivation."""
    pending = request.session.get(PENDING)
    if not pending or time.time() - pending["at"] > PENDING_SECONDS:
        return None
    user = User.objects.filter(pk=pending["user"], is_active=True, is_staff=True).first()
    return user if user and user.get_session_auth_hash() == pending["hash"] else None


def complete(request: HttpRequest, user: User) -> str:
    """Log in who gave the code; return where they wanted to go."""
    wanted = cast("str", request.session.pop(PENDING)["next"])
    login(request, user, backend=BACKEND)
    return wanted
