"""Around the public API: which pages may read its replies, and that all its errors are problems."""

from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.deprecation import MiddlewareMixin
from django.utils.translation import gettext as _

from chat.api import problems
from chat.api.auth import origin_of_request
from chat.sites.lookup import is_allowed_somewhere
from core import problems as core_problems

PREFIX = "/api/v1/"
#: The longest question takes a tenth of it.
MOST_BYTES = 64 * 1024
ALLOWED = {
    "Access-Control-Allow-Methods": "GET, POST, PUT, PATCH, DELETE",
    "Access-Control-Allow-Headers": "Authorization, Content-Type, Accept, Accept-Language, Last-Event-ID",
    "Access-Control-Max-Age": "7200",
}
EXPOSED = "Retry-After, Content-Disposition"


class PublicAPIMiddleware(MiddlewareMixin):
    """A page may read a reply where the site that it is about may stand there, or, as long as no site is known, where
    any site may. Cookies are never taken into account."""

    def process_request(self, request: HttpRequest) -> HttpResponse | None:
        if not request.path_info.startswith(PREFIX):
            return None
        if request.method == "OPTIONS" and "Access-Control-Request-Method" in request.headers:
            return HttpResponse(status=204) if _may_read(request) else problems.forbidden_origin()
        if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
            return core_problems.problem(413, "too_large", _("This message is too long."))
        return None

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not request.path_info.startswith(PREFIX):
            return response
        if response.status_code >= 400 and response["Content-Type"] != core_problems.CONTENT_TYPE:
            response = _as_problem(response)
        patch_vary_headers(response, ["Origin"])
        if (origin := origin_of_request(request)) and response.status_code != 403 and _may_read(request):
            response["Access-Control-Allow-Origin"] = origin
            response["Access-Control-Expose-Headers"] = EXPOSED
            if request.method == "OPTIONS":
                for name, value in ALLOWED.items():
                    response[name] = value
        return response


def _may_read(request: HttpRequest) -> bool:
    if not hasattr(request, "is_allowed_origin"):
        origin = origin_of_request(request)
        allowed = origin is None or is_allowed_somewhere(origin, host=request.get_host())
        request.is_allowed_origin = allowed  # type: ignore[attr-defined]
    return bool(request.is_allowed_origin)  # type: ignore[attr-defined]


def _as_problem(response: HttpResponseBase) -> HttpResponse:
    """Return Django's own reply: no such address, method not allowed, a mistake of ours."""
    if response.status_code == HTTPStatus.NOT_FOUND:
        return problems.not_found()
    status = HTTPStatus(response.status_code)
    detail = _("Something went wrong. Please try again.") if status >= 500 else _("This request could not be read.")
    made = core_problems.problem(status, status.name.lower(), detail)
    if response.has_header("Allow"):
        made["Allow"] = response["Allow"]
    return made
