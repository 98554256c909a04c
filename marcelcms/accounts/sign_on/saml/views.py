"""The way to a SAML identity provider and back.

An answer comes as a form that the provider's page sends, so that the browser leaves the session's cookie (SameSite=Lax)
at home. The page that takes it checks all but whose request it answers, keeps what it proves for a minute under a name
that cannot be guessed, and leads on to a second page, which the browser asks for with its cookie.
"""

import secrets
from collections.abc import Mapping
from hashlib import sha256

from django.conf import settings
from django.contrib.auth import logout
from django.core.cache import cache
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_GET, require_POST

from marcelcms.accounts.sign_on.entry import (
    DIRECTORY_SESSION,
    Refused,
    let_in,
    note_login,
    refuse,
    take_login,
)

HELD_SECONDS = 60


def start(request: HttpRequest) -> HttpResponse:
    """Send the browser to the provider, and note which request has to be answered."""
    from marcelcms.accounts.sign_on.saml.service_provider import login_request

    place, request_id = login_request()
    note_login(request, request_id)
    return HttpResponseRedirect(place)


# The answer's signature and its request stand for the token of a form.
@csrf_exempt
@never_cache
@require_POST
def answer_view(request: HttpRequest) -> HttpResponse:
    """Check the provider's answer, and lead on to where the browser shows its session."""
    _need_provider()
    from marcelcms.accounts.sign_on.saml.answer import read_answer

    try:
        answer = read_answer(request.POST.get("SAMLResponse", ""))
    except Refused as error:
        return refuse(request, error)
    name = secrets.token_urlsafe(32)
    cache.set(_held(name), answer, HELD_SECONDS)
    return HttpResponseRedirect(f"{reverse('sign-on-saml-finish')}?{urlencode({'answer': name})}", status=303)


@never_cache
@require_GET
def finish_view(request: HttpRequest) -> HttpResponse:
    """Log in who was just proved, if this browser asked for it."""
    _need_provider()
    key = _held(request.GET.get("answer", ""))
    try:
        answer = cache.get(key)
        # Of two who ask at once, one deletes it.
        if answer is None or not cache.delete(key):
            raise Refused("no answer is held")
        pending = take_login(request, answer.in_response_to)
    except Refused as error:
        return refuse(request, error)
    return let_in(request, answer.person, pending, answer.directory_session)


@never_cache
@require_GET
def logout_view(request: HttpRequest) -> HttpResponse:
    """End the session here where the provider ends its own; its answer to our own wish needs nothing more."""
    _need_provider()
    if "SAMLRequest" not in request.GET:
        return redirect("admin:login")
    from marcelcms.accounts.sign_on.saml.service_provider import read_logout_request

    try:
        name_id, place = read_logout_request(request)
        here = request.session.get(DIRECTORY_SESSION, {})
        if here and here.get("name_id") != name_id:
            raise Refused("another person's session")
    except Refused as error:
        return refuse(request, error)
    if here:
        logout(request)
    return HttpResponseRedirect(place)


@require_GET
def metadata_view(_request: HttpRequest) -> HttpResponse:
    """Show what the identity provider has to know of this product."""
    _need_provider()
    from marcelcms.accounts.sign_on.saml.service_provider import metadata

    return HttpResponse(metadata(), content_type="application/samlmetadata+xml")


def end_session_url(directory_session: Mapping[str, str]) -> str:
    """Return where the browser ends the provider's session; empty where that is nowhere."""
    from marcelcms.accounts.sign_on.saml import service_provider

    return service_provider.end_session_url(directory_session)


def _need_provider() -> None:
    """Raise Http404 without one. The library is an extra, so it is imported after that."""
    if not settings.SAML_IDP:
        raise Http404


def _held(name: str) -> str:
    return f"sign-on:answer:{sha256(name.encode()).hexdigest()}"
