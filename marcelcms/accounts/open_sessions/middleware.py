"""Notes when a session is used, and ends one that a changed setting no longer lets in."""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.deprecation import MiddlewareMixin

from marcelcms.accounts.sign_on.entry import DIRECTORY_SESSION
from marcelcms.accounts.sign_on.local import is_break_glass
from marcelcms.models import StaffSession

#: A session in use all day is written to the database once in that time.
NOTED_EVERY = timedelta(minutes=10)


class OpenSessionsMiddleware(MiddlewareMixin):
    def process_request(self, request: HttpRequest) -> None:
        """End what a password began before passwords were turned off."""
        if settings.LOCAL_LOGIN or not request.path.startswith(("/admin/", "/api/staff/")):
            return
        if (
            request.user.is_authenticated
            and DIRECTORY_SESSION not in request.session
            and not is_break_glass(request.user)
        ):
            logout(request)

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        session: Any = getattr(request, "session", None)
        last = getattr(session, "last_used_at", None)
        now = timezone.now()
        if last and session.session_key and last < now - NOTED_EVERY:
            StaffSession.objects.filter(pk=session.session_key).update(last_used_at=now)
        return response
