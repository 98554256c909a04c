"""Errors as application/problem+json (RFC 9457); `code` is for programs, `detail` a sentence for people."""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse

CONTENT_TYPE = "application/problem+json"
AWAY_SECONDS = 5


def problem(
    status: int, code: str, detail: str, *, retry_after: int | None = None, errors: list[dict[str, Any]] | None = None
) -> HttpResponse:
    """Build a problem response (RFC 9457); `errors` name the invalid fields, never their contents."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
    }
    if retry_after is not None:
        body["retry_after"] = retry_after
    if errors is not None:
        body["errors"] = errors
    response = HttpResponse(json.dumps(body, ensure_ascii=False), status=status, content_type=CONTENT_TYPE)
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    response["Cache-Control"] = "no-store"
    # Django would log each of these; our own errors have been logged where they occurred.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response
