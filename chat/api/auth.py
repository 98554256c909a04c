"""Finds who calls, from where, and if they may: the beginning of every operation of the public API."""

from typing import cast

from django.http import HttpRequest
from django.utils import translation
from ninja.security import HttpBearer

from chat.conversations import visitors
from chat.sites import rate_limits, session_tokens
from chat.sites.lookup import ForbiddenOrigin, SiteContext
from chat.sites.session_tokens import LANGUAGES, Session
from core.db.prepared import in_database


def origin_of_request(request: HttpRequest) -> str | None:
    """Return the origin of the page that asks; None without one, as from programs and this server's own pages."""
    return request.headers.get("Origin")


def check_origin(request: HttpRequest, site_context: SiteContext) -> None:
    """Raise ForbiddenOrigin if the page may not ask."""
    allowed = site_context.allows(origin_of_request(request), host=request.get_host())
    request.is_allowed_origin = allowed  # type: ignore[attr-defined]
    if not allowed:
        raise ForbiddenOrigin


def client_address(request: HttpRequest) -> str:
    """Return the caller's network address; for counting, never to be stored."""
    forwarded = request.headers.get("X-Forwarded-For")
    return rate_limits.trusted_address(request.META.get("REMOTE_ADDR", ""), [forwarded] if forwarded else [])


class SessionToken(HttpBearer):
    """A visitor's session, as `request.auth`; raises InvalidToken, UnknownSite, ForbiddenOrigin."""

    async def authenticate(self, request: HttpRequest, token: str) -> Session:
        session = session_tokens.read(token)
        site_context = await in_database(visitors.session_site)(session)
        check_origin(request, site_context)
        return session


def current_session(request: HttpRequest) -> Session:
    """Return the visitor of a request, with the language that they want now: the request's, else the session's."""
    session = cast("Session", request.auth)  # type: ignore[attr-defined]
    wanted = (translation.get_language() or "")[:2]
    if "Accept-Language" in request.headers and wanted in LANGUAGES:
        return Session(session.visitor, wanted, session.site)
    return session
