"""Before and with consent: what the assistant is, and a session."""

from typing import Annotated, Any

from django.conf import settings
from django.http import HttpRequest
from ninja import Query, Router

from chat.api.auth import check_origin, client_address
from chat.api.openapi import problems
from chat.conversations import visitors
from chat.protocol.rest import AssistantInfo, SessionReply, SessionRequest
from chat.services.widget_config import widget_config
from chat.sites import rate_limits, session_tokens
from chat.sites.lookup import load_site
from core.db.prepared import in_database

router = Router()


@router.get(
    "assistant",
    response={200: AssistantInfo, **problems(403, 404, 422, 503)},
    operation_id="assistant_info",
    summary="What the assistant is and how its widget looks",
)
async def assistant_info(
    request: HttpRequest, site: Annotated[str, Query(max_length=32, description="Empty: this server's own page.")] = ""
) -> dict[str, Any]:
    """Return the assistant's public data; store nothing and make no identifier."""
    site_context = await in_database(load_site)(site)
    check_origin(request, site_context)
    config: dict[str, Any] = await in_database(widget_config)(site_context, base_url=request.build_absolute_uri("/"))
    return config


@router.post(
    "session",
    response={200: SessionReply, **problems(400, 403, 404, 413, 422, 429, 503)},
    operation_id="session_begin",
    summary="Begin or renew a session, after consent",
)
async def session_begin(request: HttpRequest, data: SessionRequest) -> SessionReply:
    """Make an identifier only here, and only when the visitor agreed. An earlier token, also one that is over, keeps
    its visitor on the same site."""
    site_context = await in_database(load_site)(data.site)
    check_origin(request, site_context)
    await rate_limits.count_session(client_address(request))
    visitor = None
    if data.token:
        try:
            earlier = session_tokens.read(data.token, max_age=settings.RETENTION_DAYS * 24 * 3600)
            visitor = await in_database(visitors.kept_visitor)(earlier, site=data.site)
        except session_tokens.InvalidToken:
            visitor = None
    visitor = visitor or await in_database(visitors.new_visitor)()
    session = session_tokens.Session(visitor, data.language, data.site)
    return SessionReply(token=session_tokens.issue(session), expires_in=settings.SESSION_TOKEN_SECONDS)
