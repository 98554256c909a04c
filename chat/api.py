"""The public HTTP API: sessions."""

from typing import Literal

from django.conf import settings
from django.http import HttpRequest
from ninja import Field, NinjaAPI, Schema

from chat import services, tokens

api = NinjaAPI(title="MarcelCMS", version="1", docs_url=None)


class SessionRequest(Schema):
    consent: Literal[True] = Field(description="The visitor agreed to what the consent notice says.")
    language: Literal["en", "de"] = "en"
    token: str | None = Field(None, max_length=1000, description="An earlier token: its visitor is kept.")


class SessionResponse(Schema):
    token: str
    expires_in: int = Field(description="Seconds.")


@api.post("session", response=SessionResponse, summary="Begin or renew a session, after consent")
def create_session(request: HttpRequest, data: SessionRequest) -> SessionResponse:
    """Makes an identifier only here, and only when the visitor agreed."""
    visitor = None
    if data.token:
        try:
            earlier = tokens.read(data.token, max_age=settings.RETENTION_DAYS * 24 * 3600).visitor
            visitor = earlier if services.visitor_exists(earlier) else None
        except tokens.InvalidToken:
            visitor = None
    session = tokens.Session(visitor or services.new_visitor(), data.language)
    return SessionResponse(token=tokens.issue(session), expires_in=settings.SESSION_TOKEN_SECONDS)
