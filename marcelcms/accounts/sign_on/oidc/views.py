"""The way to an OpenID Connect provider and back."""

import secrets
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from marcelcms.accounts.sign_on.entry import Refused, let_in, note_login, refuse, say_unavailable, take_login
from marcelcms.accounts.sign_on.oidc import provider
from marcelcms.accounts.sign_on.oidc.id_token import InvalidToken, read_id_token
from marcelcms.accounts.sign_on.services import Person, clean_person

#: What a provider sends once; twice is somebody's attempt to have it read differently in two places.
ONCE = ("state", "code", "iss", "error")


def start(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider, and note what has to come back."""
    state, nonce, verifier = secrets.token_urlsafe(32), secrets.token_urlsafe(32), secrets.token_urlsafe(48)
    try:
        address = provider.authorization_url(state=state, nonce=nonce, verifier=verifier)
    except provider.ProviderUnavailable as error:
        return say_unavailable(request, error)
    note_login(request, state, nonce=nonce, verifier=verifier)
    return HttpResponseRedirect(address)


@never_cache
@require_GET
def return_view(request: HttpRequest) -> HttpResponse:
    """Log in who comes back with a code, if all of it is right."""
    if not settings.OIDC_ISSUER:
        raise Http404
    try:
        pending = _taken(request)
        person, id_token = _person(request.GET["code"], pending)
    except (Refused, InvalidToken, provider.CodeRefused) as error:
        return refuse(request, error)
    except provider.ProviderUnavailable as error:
        return say_unavailable(request, error)
    return let_in(request, person, pending, {"id_token": id_token})


def end_session_url(directory_session: Mapping[str, str]) -> str:
    """Return where the browser ends the provider's session; empty where that is nowhere."""
    try:
        return provider.end_session_url(directory_session["id_token"])
    except provider.ProviderUnavailable:
        return ""


def _taken(request: HttpRequest) -> dict[str, Any]:
    """Return what was noted for this login. Raise Refused, ProviderUnavailable."""
    if any(len(request.GET.getlist(name)) > 1 for name in ONCE):
        raise Refused("a parameter twice")
    pending = take_login(request, request.GET.get("state", ""))
    issuer = request.GET.get("iss")
    if issuer is None and provider.metadata().get("authorization_response_iss_parameter_supported"):
        raise Refused("no issuer")
    if issuer is not None and issuer != settings.OIDC_ISSUER:
        raise Refused("another issuer")
    if "error" in request.GET or not request.GET.get("code"):
        raise Refused("no code")
    return pending


def _person(code: str, pending: Mapping[str, Any]) -> tuple[Person, str]:
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
    return _read_person(claims), id_token


def _read_person(claims: Mapping[str, Any]) -> Person:
    sent = claims.get(settings.OIDC_GROUPS_CLAIM)
    return clean_person(
        issuer=claims["iss"],
        subject=claims["sub"],
        email=claims.get("email"),
        is_email_verified=claims.get("email_verified") is True,
        username=claims.get("preferred_username"),
        first_name=claims.get("given_name"),
        last_name=claims.get("family_name"),
        groups=[sent] if isinstance(sent, str) else sent,
    )
