"""The one door for who comes back from the directory, by any protocol, and the pages of who stays out."""

import logging
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.contrib import admin
from django.contrib.auth import login
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _

from marcelcms.accounts.roles import name_administrators
from marcelcms.accounts.sign_on.services import Deactivated, NameTaken, NoRights, Person, sign_in

logger = logging.getLogger(__name__)
#: Logins of this browser that are on their way, by what has to come back; how many, and for how many seconds.
PENDING, MOST_PENDING, PENDING_SECONDS = "sign_on_pending", 5, 600
#: Of the directory's session, that with which it is ended.
DIRECTORY_SESSION = "sign_on_session"
BACKEND = "django.contrib.auth.backends.ModelBackend"


class Refused(Exception):
    """What came back is no answer to a login of this browser; the text says why, without a word of what came."""


def note_login(request: HttpRequest, state: str, **kept: Any) -> None:
    """Note in the session that this browser is sent to the directory, and what has to come back."""
    pending = list(request.session.get(PENDING, {}).items())[1 - MOST_PENDING :]
    noted = {**kept, "next": _safe(request), "at": int(time.time())}
    request.session[PENDING] = dict([*pending, (state, noted)])


def take_login(request: HttpRequest, state: str) -> dict[str, Any]:
    """Return what was noted for this login, which is then forgotten. Raise Refused."""
    all_pending = request.session.get(PENDING, {})
    pending: dict[str, Any] | None = all_pending.pop(state, None)
    if pending is None:
        raise Refused("state")
    request.session[PENDING] = all_pending
    if time.time() - pending["at"] > PENDING_SECONDS:
        raise Refused("late")
    return pending


def let_in(
    request: HttpRequest, person: Person, pending: Mapping[str, Any], directory_session: Mapping[str, str]
) -> HttpResponse:
    """Log in whom the directory proved, with the rights of today's groups, or say why not."""
    try:
        user = sign_in(person)
    except NoRights:
        return _page(request, "no_rights", _("You have no role in MarcelCMS"), status=403)
    except NameTaken:
        return _page(request, "name_taken", _("Your account is not linked yet"), status=403)
    except Deactivated:
        return _page(request, "deactivated", _("Your account is deactivated"), status=403)
    login(request, user, backend=BACKEND)
    request.session.pop(PENDING, None)
    request.session[DIRECTORY_SESSION] = dict(directory_session)
    request.session.set_expiry(settings.SIGN_ON_SESSION_HOURS * 3600)
    return HttpResponseRedirect(pending["next"])


def refuse(request: HttpRequest, error: Exception) -> HttpResponse:
    """Answer what proves nothing; the reason stands in the log alone."""
    logger.warning("directory login refused error=%s reason=%s", type(error).__name__, str(error))
    return _page(request, "failed", _("The login did not work"), status=400)


def say_unavailable(request: HttpRequest, error: Exception) -> HttpResponse:
    logger.error("directory unavailable reason=%s", str(error))
    return _page(request, "unavailable", _("The directory does not answer"), status=503)


def _safe(request: HttpRequest) -> str:
    """Return where to go after the login: within this product, and nowhere else."""
    wanted = request.GET.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_safe else reverse("admin:index")


def _page(request: HttpRequest, reason: str, title: str, *, status: int) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": title,
        "reason": reason,
        "administrators": name_administrators() if status == 403 else [],
        "is_signed_out": True,
    }
    return TemplateResponse(request, "admin/marcelcms/sign_on/refused.html", context, status=status)
