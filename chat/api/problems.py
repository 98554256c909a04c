"""Errors as application/problem+json (RFC 9457); `code` is for programs, `detail` a sentence for the visitor."""

import json
import logging
from http import HTTPStatus
from typing import Any

from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from redis import RedisError

from chat.guard import Refused
from chat.limits import TooMany
from chat.services import NotFound
from chat.sites import ForbiddenOrigin, UnknownSite
from chat.tokens import InvalidToken

logger = logging.getLogger(__name__)

CONTENT_TYPE = "application/problem+json"
AWAY_SECONDS = 5


def problem(
    status: int, code: str, detail: str, *, retry_after: int | None = None, errors: list[dict[str, Any]] | None = None
) -> HttpResponse:
    """`errors` name the fields that are wrong, never what was in them."""
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
    # Django would log each as its own: what is our mistake has been logged where it was made.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def not_found() -> HttpResponse:
    return problem(404, "not_found", _("This is not there any more. Please begin anew."))


def forbidden_origin() -> HttpResponse:
    return problem(403, "forbidden_origin", _("The assistant is not available on this page."))


def add_handlers(api: NinjaAPI) -> None:
    """Every error that an operation may raise, and what is said about it."""

    @api.exception_handler(Refused)
    def refused(_request: HttpRequest, error: Refused) -> HttpResponse:
        return problem(409 if error.code == "busy" else 422, error.code, error.detail)

    @api.exception_handler(TooMany)
    def too_many(_request: HttpRequest, error: TooMany) -> HttpResponse:
        return problem(429, error.code, error.detail, retry_after=error.retry_after)

    @api.exception_handler(NotFound)
    @api.exception_handler(Http404)
    def missing(_request: HttpRequest, _error: Exception) -> HttpResponse:
        return not_found()

    @api.exception_handler(UnknownSite)
    def unknown_site(_request: HttpRequest, _error: UnknownSite) -> HttpResponse:
        return problem(404, "unknown_site", _("The assistant is not available on this page."))

    @api.exception_handler(ForbiddenOrigin)
    def forbidden(_request: HttpRequest, _error: ForbiddenOrigin) -> HttpResponse:
        return forbidden_origin()

    @api.exception_handler(InvalidToken)
    def invalid_token(_request: HttpRequest, error: InvalidToken) -> HttpResponse:
        return problem(401, error.code, _("Your session has ended. Please start it again."))

    @api.exception_handler(AuthenticationError)
    def no_token(_request: HttpRequest, _error: AuthenticationError) -> HttpResponse:
        return problem(401, "session_required", _("Your session has ended. Please start it again."))

    @api.exception_handler(ValidationError)
    def invalid(_request: HttpRequest, error: ValidationError) -> HttpResponse:
        # Not its `ctx` and `input`: they hold what was sent.
        errors = [{"field": ".".join(map(str, each["loc"])), "message": each["msg"]} for each in error.errors]
        return problem(422, "invalid", _("This request is not as it should be."), errors=errors)

    @api.exception_handler(HttpError)
    def http_error(_request: HttpRequest, error: HttpError) -> HttpResponse:
        return problem(error.status_code, "bad_request", _("This request could not be read."))

    @api.exception_handler(DatabaseError)
    @api.exception_handler(RedisError)
    @api.exception_handler(OSError)
    def away(_request: HttpRequest, error: Exception) -> HttpResponse:
        logger.error("api unavailable error=%s", type(error).__name__)
        detail = _("The service is interrupted. Please try again in a moment.")
        return problem(503, "unavailable", detail, retry_after=AWAY_SECONDS)
