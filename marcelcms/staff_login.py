"""What somebody sees who typed a wrong password too often."""

from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.forms import AdminAuthenticationForm
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

TOO_MANY_REQUESTS = 429


def locked_out(
    request: HttpRequest,
    response: HttpResponse | None = None,
    credentials: Mapping[str, Any] | None = None,
    *_args: Any,
    **_kwargs: Any,
) -> HttpResponse:
    """The login page again, with when to come back; the same words whether the name exists or not."""
    minutes = int(settings.AXES_COOLOFF_TIME.total_seconds() // 60)
    wait = ngettext("Please wait %d minute and try again.", "Please wait %d minutes and try again.", minutes) % minutes
    context = {
        **admin.site.each_context(request),
        "title": _("Log in"),
        "app_path": request.get_full_path(),
        "form": AdminAuthenticationForm(request),
        "locked_out": _("Too many attempts with this name. %(wait)s") % {"wait": wait},
    }
    page = TemplateResponse(request, "admin/login.html", context, status=TOO_MANY_REQUESTS)
    page["Retry-After"] = str(minutes * 60)
    return page.render()
