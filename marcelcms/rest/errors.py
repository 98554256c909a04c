"""Errors of the staff API as application/problem+json (RFC 9457), of the public one’s shape (`chat.api.problems`)."""

import logging
import math
from collections.abc import Iterator
from http import HTTPStatus
from typing import Any

from django.core.exceptions import NON_FIELD_ERRORS, BadRequest, PermissionDenied, SuspiciousOperation
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import IntegrityError, InterfaceError, OperationalError
from django.db.models import ProtectedError
from django.http import Http404
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from redis import RedisError
from rest_framework import exceptions
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import as_serializer_error
from rest_framework.views import APIView

from core.problems import AWAY_SECONDS, CONTENT_TYPE
from core.rest.serializers import Conflict

logger = logging.getLogger(__name__)
#: What REST framework's own errors are called here.
CODES = {
    400: "invalid",
    401: "token_required",
    403: "forbidden",
    404: "not_found",
    405: "method_not_allowed",
    406: "not_acceptable",
    413: "too_large",
    415: "unsupported_media_type",
    429: "too_many_requests",
}


def handle(error: Exception, context: dict[str, Any]) -> Response:
    """Return the reply to an exception that a view raised."""
    match error:
        case DjangoValidationError():
            return _invalid(as_serializer_error(error))
        case exceptions.ValidationError():
            return _invalid(error.detail)
        case Conflict():
            return problem(409, "conflict", str(error.detail), current=error.current, changed=error.changed)
        case exceptions.Throttled():
            wait = math.ceil(error.wait or 60)
            return problem(429, CODES[429], _("That was a lot of requests. Please wait a moment."), retry_after=wait)
        case exceptions.APIException():
            code = CODES.get(error.status_code, "bad_request")
            return problem(error.status_code, code, str(error.detail))
        case SuspiciousOperation() | BadRequest():  # such as more parameters than Django reads
            return problem(400, CODES[400], _("This request is not as it should be."))
        case Http404():
            return problem(404, CODES[404], _("Not found, or your teams are not responsible for it."))
        case PermissionDenied():
            return problem(403, CODES[403], _("You may not do this."))
        case IntegrityError() | ProtectedError():
            logger.warning("staff api conflict error=%s", type(error).__name__)
            return problem(409, "conflict", _("Something else was changed at the same moment. Look, and try again."))
        case OperationalError() | InterfaceError() | RedisError() | OSError():
            logger.error("staff api unavailable error=%s", type(error).__name__)
            detail = _("The service is interrupted. Please try again in a moment.")
            return problem(503, "unavailable", detail, retry_after=AWAY_SECONDS)
    logger.error("staff api failed", exc_info=error)
    return problem(500, "internal_server_error", _("Something went wrong. Please try again."))


def problem(status: int, code: str, detail: str, *, retry_after: int | None = None, **more: Any) -> Response:
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "code": code,
        **more,
    }
    if retry_after is not None:
        body["retry_after"] = retry_after
    response = Response(body, status=status, content_type=CONTENT_TYPE)
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Bearer"
    response["Cache-Control"] = "no-store"
    # Django would log each as its own: what is our mistake has been logged where it was made.
    response._has_been_logged = True
    return response


def _invalid(detail: Any) -> Response:
    errors = [{"field": field, "message": message} for field, message in _flat(detail)]
    return problem(400, CODES[400], _("This request is not as it should be."), errors=errors)


def _flat(detail: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Yield each message with the field that it is about, such as `sources.0.document`; empty: the whole."""
    if isinstance(detail, dict):
        for name, each in detail.items():
            own = "" if name in {NON_FIELD_ERRORS, "non_field_errors"} else str(name)
            yield from _flat(each, ".".join(part for part in (path, own) if part))
    elif isinstance(detail, list):
        for place, each in enumerate(detail):
            # A list of rows numbers its rows; a list of messages is all about one field.
            yield from _flat(each, f"{path}.{place}" if isinstance(each, dict) else path)
    else:
        yield path, str(detail)


@extend_schema(exclude=True)
class NotFoundView(APIView):
    """So that the answer is a problem here too, and not a page."""

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        raise Http404


nowhere = NotFoundView.as_view()
