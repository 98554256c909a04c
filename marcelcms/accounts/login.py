"""Pages for who typed a wrong password too often, or whose session ended before a button was pressed."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib import admin, messages
from django.contrib.admin.forms import AdminAuthenticationForm
from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.deprecation import MiddlewareMixin
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from marcelcms.accounts.site import sign_on_context

TOO_MANY_REQUESTS, NO_SUCH_METHOD = 429, 405


def locked_out(
    request: HttpRequest,
    response: HttpResponse | None = None,
    credentials: Mapping[str, Any] | None = None,
    *_args: Any,
    **_kwargs: Any,
) -> HttpResponse:
    """Render the login page with the time to come back; the same words whether the name exists or not."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    wait = ngettext("Please wait %d minute and try again.", "Please wait %d minutes and try again.", minutes) % minutes
    context = {
        **admin.site.each_context(request),
        **sign_on_context(request),
        "title": _("Log in"),
        "app_path": request.get_full_path(),
        "form": AdminAuthenticationForm(request),
        "locked_out": _("Too many attempts with this name. %(wait)s") % {"wait": wait},
    }
    page = TemplateResponse(request, "admin/login.html", context, status=TOO_MANY_REQUESTS)
    page["Retry-After"] = str(minutes * 60)
    return page.render()


class ButtonsMiddleware(MiddlewareMixin):
    """A button that was pressed when the session had ended leads, through the login, back to the page that it stands
    on, and not to its own address, which shows nothing."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        first = reverse("admin:index")
        if not request.path.startswith(first):
            return response
        if request.method == "GET" and response.status_code == NO_SUCH_METHOD:
            page = render(request, "405.html", status=NO_SUCH_METHOD)
            page["Allow"] = response["Allow"]
            return page
        login = reverse("admin:login")
        is_sent_away = response.status_code == 302 and urlsplit(response["Location"]).path == login
        # What a page sends by itself is nobody's button.
        if request.method != "POST" or not is_sent_away or request.headers.get("Sec-Fetch-Mode") in {"cors", "no-cors"}:
            return response
        messages.warning(request, _("You were signed out before this was sent, so nothing was done or saved."))
        return redirect_to_login(_page_before(request) or first, login)


def _page_before(request: HttpRequest) -> str:
    """Return the page with the button; empty if the browser does not send it, or it is on another site."""
    sent_from = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(sent_from, {request.get_host()}, require_https=request.is_secure()):
        return ""
    page = urlsplit(sent_from)
    if not page.path.startswith(reverse("admin:index")) or page.path == reverse("admin:login"):
        return ""
    return page._replace(scheme="", netloc="", fragment="").geturl()
