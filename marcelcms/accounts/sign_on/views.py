"""The way to the directory and back, and the page for whom it does not let in."""

import logging
import secrets
import time
from typing import Any

from authlib.common.security import generate_token
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import login
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from marcelcms.accounts.roles import name_administrators
from marcelcms.accounts.sign_on import provider
from marcelcms.accounts.sign_on.id_token import InvalidToken, read_id_token
from marcelcms.accounts.sign_on.services import Deactivated, NameTaken, NoRights, Person, read_person, sign_in

logger = logging.getLogger(__name__)
#: Logins of this browser that are on their way, by state; how many, and for how many seconds.
PENDING, MOST_PENDING, PENDING_SECONDS = "sign_on_pending", 5, 600
#: The ID token of the login, with which the directory's session is ended.
ID_TOKEN = "sign_on_id_token"  # noqa: S105
BACKEND = "django.contrib.auth.backends.ModelBackend"
#: What a provider sends once; twice is somebody's attempt to have it read differently in two places.
ONCE = ("state", "code", "iss", "error")


class Refused(Exception):
    """What came back is no answer to a login of this browser; the text says why."""


@never_cache
@require_GET
def start_view(request: HttpRequest) -> HttpResponse:
    """Send the browser to the directory, and note what has to come back."""
    if not provider.is_configured():
        raise Http404
    state, nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32), generate_token(64)
    try:
        address = provider.authorization_url(state=state, nonce=nonce, verifier=verifier)
    except provider.ProviderUnavailable as error:
        return _unavailable(request, error)
    pending = list(request.session.get(PENDING, {}).items())[1 - MOST_PENDING :]
    login_ = {"nonce": nonce, "verifier": verifier, "next": _safe(request), "at": int(time.time())}
    request.session[PENDING] = dict([*pending, (state, login_)])
    return HttpResponseRedirect(address)


@never_cache
@require_GET
def return_view(request: HttpRequest) -> HttpResponse:
    """Log in who comes back from the directory with a code, if all of it is right."""
    if not provider.is_configured():
        raise Http404
    try:
        pending = _taken(request)
        person, id_token = _person(request.GET["code"], pending)
    except (Refused, InvalidToken, provider.CodeRefused) as error:
        logger.warning("directory login refused error=%s reason=%s", type(error).__name__, error)
        return _page(request, "failed", _("The login did not work"), status=400)
    except provider.ProviderUnavailable as error:
        return _unavailable(request, error)
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
    request.session[ID_TOKEN] = id_token
    request.session.set_expiry(settings.OIDC_SESSION_HOURS * 3600)
    return HttpResponseRedirect(pending["next"])


def _safe(request: HttpRequest) -> str:
    """Return where to go after the login: within this product, and nowhere else."""
    wanted = request.GET.get("next", "")
    is_safe = url_has_allowed_host_and_scheme(wanted, {request.get_host()}, require_https=request.is_secure())
    return wanted if is_safe else reverse("admin:index")


def _taken(request: HttpRequest) -> dict[str, Any]:
    """Return what was noted for this login, which is then forgotten. Raise Refused, ProviderUnavailable."""
    if any(len(request.GET.getlist(name)) > 1 for name in ONCE):
        raise Refused("a parameter twice")
    all_pending = request.session.get(PENDING, {})
    pending: dict[str, Any] | None = all_pending.pop(request.GET.get("state", ""), None)
    if pending is None:
        raise Refused("state")
    request.session[PENDING] = all_pending
    if time.time() - pending["at"] > PENDING_SECONDS:
        raise Refused("late")
    issuer = request.GET.get("iss")
    if issuer is None and provider.metadata().get("authorization_response_iss_parameter_supported"):
        raise Refused("no issuer")
    if issuer is not None and issuer != settings.OIDC_ISSUER:
        raise Refused("another issuer")
    if "error" in request.GET or not request.GET.get("code"):
        raise Refused("no code")
    return pending


def _person(code: str, pending: dict[str, Any]) -> tuple[Person, str]:
    """Return who the code stands for, and the ID token."""
    tokens = provider.exchange(code, verifier=pending["verifier"])
    id_token, access_token = tokens.get("id_token"), tokens.get("access_token")
    if not isinstance(id_token, str) or not isinstance(access_token, str):
        raise Refused("no ID token")
    claims = read_id_token(
        id_token,
        keys=lambda anew: provider.keys(anew=anew),
        issuer=settings.OIDC_ISSUER,
        client_id=settings.OIDC_CLIENT_ID,
        nonce=pending["nonce"],
        access_token=access_token,
        now=int(time.time()),
    )
    if settings.OIDC_GROUPS_CLAIM not in claims and (told := provider.user_info(access_token)):
        if told.get("sub") != claims["sub"]:
            raise Refused("another person's details")
        claims = {**told, **claims}
    return read_person(claims), id_token


def _unavailable(request: HttpRequest, error: provider.ProviderUnavailable) -> HttpResponse:
    logger.error("directory unavailable reason=%s", error)
    return _page(request, "unavailable", _("The directory does not answer"), status=503)


def _page(request: HttpRequest, reason: str, title: str, *, status: int) -> HttpResponse:
    context = {
        **admin.site.each_context(request),
        "title": title,
        "reason": reason,
        "administrators": name_administrators() if status == 403 else [],
        "is_signed_out": True,
    }
    return TemplateResponse(request, "admin/marcelcms/sign_on/refused.html", context, status=status)
