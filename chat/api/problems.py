"""Errors as application/problem+json (RFC 9457); `code` is for programs, `detail` a sentence for the visitor."""

import logging

from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from ninja import NinjaAPI
from ninja.errors import AuthenticationError, HttpError, ValidationError
from redis import RedisError

from chat.errors import NotFound, Refused, TooMany
from chat.sites.lookup import ForbiddenOrigin, UnknownSite
from chat.sites.session_tokens import InvalidToken
from core.problems import AWAY_SECONDS, problem

logger = logging.getLogger(__name__)


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
