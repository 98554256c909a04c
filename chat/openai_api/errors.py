"""Errors in OpenAI's form: `{"error": {"message", "type", "param", "code"}}`."""

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Any

from django.db import DatabaseError
from django.http import HttpRequest, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from redis import RedisError

from chat.errors import NotFound, Refused, TooMany
from chat.services.api_clients import InvalidKey, MissingScope
from core.problems import AWAY_SECONDS

View = Callable[..., Awaitable[HttpResponseBase]]
#: What OpenAI calls a question that its model cannot take in.
TOO_LONG = "context_length_exceeded"


class BadRequest(Exception):
    """The request makes no sense; `param` names the part of it."""

    def __init__(self, message: str, *, param: str | None = None, code: str | None = None, status: int = 400) -> None:
        super().__init__(message)
        self.message, self.param, self.code, self.status = message, param, code, status


def error_body(message: str, kind: str, *, param: str | None = None, code: str | None = None) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def error_reply(
    status: int,
    message: str,
    kind: str = "invalid_request_error",
    *,
    param: str | None = None,
    code: str | None = None,
    retry_after: int | None = None,
) -> JsonResponse:
    response = JsonResponse(error_body(message, kind, param=param, code=code), status=status)
    response["Cache-Control"] = "no-store"
    if retry_after is not None:
        response["Retry-After"] = str(retry_after)
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    # Django would log each of these; our own errors have been logged where they occurred.
    response._has_been_logged = True  # type: ignore[attr-defined]
    return response


def unknown_model(slug: str) -> JsonResponse:
    message = _("The model “%(slug)s” does not exist, or this key may not use it.") % {"slug": slug[:100]}
    return error_reply(404, message, param="model", code="model_not_found")


def unavailable() -> JsonResponse:
    message = _("The service is interrupted. Please try again in a moment.")
    return error_reply(503, message, "server_error", code="unavailable", retry_after=AWAY_SECONDS)


def answers_errors(view: View) -> Callable[..., Any]:
    """Turn what a view raises into errors of that form."""

    @wraps(view)
    async def answer(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        try:
            return await view(request, **kwargs)
        except BadRequest as error:
            return error_reply(error.status, error.message, param=error.param, code=error.code)
        except InvalidKey:
            return error_reply(401, _("This key is not valid, or no longer."), code="invalid_api_key")
        except MissingScope as error:
            message = _("This key may not do that: it lacks “%(scope)s”.") % {"scope": error}
            return error_reply(403, message, "permission_error", code="insufficient_scope")
        except TooMany as error:
            return error_reply(
                429, error.detail, "rate_limit_error", code="rate_limit_exceeded", retry_after=error.retry_after
            )
        except Refused as error:
            code = TOO_LONG if error.code == "question_too_long" else error.code
            return error_reply(400, error.detail, param="messages", code=code)
        except NotFound:
            return error_reply(404, _("This is not there any more. Please begin anew."), code="model_not_found")
        except (DatabaseError, RedisError, OSError):
            return unavailable()

    return answer
