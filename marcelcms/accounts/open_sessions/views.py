"""Buttons that end sessions: one's own on “My login”, a colleague's on their account's page."""

from typing import cast

from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from marcelcms.accounts.open_sessions.services import end_session, end_sessions


@require_POST
def end_own_view(request: HttpRequest) -> HttpResponse:
    """End one session of the member's, or all but this. To be wrapped in `admin.site.admin_view`."""
    user, name = cast("User", request.user), request.POST.get("session", "")
    if name:
        end_session(user=user, name=name)
    else:
        end_sessions(user=user, by=user, but=request.session.session_key)
    messages.success(request, _("You are logged out there."))
    return redirect("my-login")


@require_POST
def end_all_view(request: HttpRequest, user_id: int) -> HttpResponse:
    """End all sessions of a colleague. To be wrapped in `admin.site.admin_view`.

    Raises PermissionDenied, also for an account that may do more than the one who asks.
    """
    by, user = cast("User", request.user), get_object_or_404(User, pk=user_id)
    if not admin.site.get_model_admin(User).has_change_permission(request, user):
        raise PermissionDenied
    end_sessions(user=user, by=by, but=request.session.session_key)
    messages.success(request, _("The account is logged out everywhere."))
    return redirect("admin:auth_user_change", user.pk)
