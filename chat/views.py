"""The chat page, and what websites embed of the widget."""

import gzip
import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from csp.constants import NONE, SELF
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

from chat.models import Site
from chat.sites.lookup import SiteContext, UnknownSite, frame_ancestors, load_site, twin_origin

SCRIPT = Path(__file__).parent / "static" / "chat" / "widget" / "v1.js"
#: So long a browser uses the script before it asks for a newer one.
SCRIPT_SECONDS = 3600
PICTURE_TYPES = {".png": "image/png", ".jpg": "image/jpeg", ".jpeg": "image/jpeg", ".webp": "image/webp"}
PICTURE_TYPES |= {".gif": "image/gif"}
MODES = ("launcher", "inline", "frame")
#: Any page may load what has these, also one that isolates itself (COEP).
FOR_ALL = {"Access-Control-Allow-Origin": "*", "Cross-Origin-Resource-Policy": "cross-origin"}


@require_safe
def chat_page(request: HttpRequest) -> HttpResponse:
    """Show the default site's widget as a page; make no identifier and store nothing."""
    return render(request, "chat/page.html", {"place": _place("")})


@require_safe
def widget_script(request: HttpRequest) -> HttpResponse:
    """Serve the built widget, for any page."""
    script = _script(SCRIPT.stat().st_mtime_ns)
    is_zipped = "gzip" in request.headers.get("Accept-Encoding", "")
    etag = f'"{script.digest}{"-gz" if is_zipped else ""}"'
    cached = f"public, max-age={SCRIPT_SECONDS}, stale-while-revalidate=86400"
    headers = {**FOR_ALL, "Cache-Control": cached, "ETag": etag}
    if request.headers.get("If-None-Match") == etag:
        response = HttpResponse(status=304, headers=headers)
    else:
        body = script.zipped if is_zipped else script.plain
        response = HttpResponse(body, content_type="text/javascript; charset=utf-8", headers=headers)
        if is_zipped:
            response["Content-Encoding"] = "gzip"
    patch_vary_headers(response, ["Accept-Encoding"])
    return response


@dataclass(frozen=True, slots=True)
class Script:
    plain: bytes
    zipped: bytes
    digest: str


@lru_cache(maxsize=1)
def _script(_modified: int) -> Script:
    plain = SCRIPT.read_bytes()
    return Script(plain, gzip.compress(plain, mtime=0), hashlib.sha256(plain).hexdigest()[:32])


@require_safe
def widget_frame(request: HttpRequest) -> HttpResponse:
    """Show the widget as a page of its own, for browsers and policies that leave no other way. Only the site's pages
    may frame it."""
    place = _place(request.GET.get("site", ""))
    language, theme = request.GET.get("lang", ""), request.GET.get("theme", "")
    context = {
        "place": place,
        "language": language if language in {"en", "de"} else "auto",
        "theme": theme if theme in {"light", "dark"} else "auto",
        "html_language": language if language in {"en", "de"} else (get_language() or "en")[:2],
    }
    response = render(request, "chat/frame.html", context)
    # Read by their middlewares, which would forbid it.
    response.xframe_options_exempt = True
    response._csp_replace = {"frame-ancestors": frame_ancestors(place.site)}  # type: ignore[attr-defined]
    return response


@require_safe
@staff_member_required
def widget_test(request: HttpRequest) -> HttpResponse:
    """Show a page as a careful university would have it: another origin than the script's, a strict policy."""
    place = _place(request.GET.get("site", ""))
    here = f"{request.scheme}://{request.get_host()}"
    script = twin_origin(here)
    mode = request.GET.get("mode", "")
    context = {
        "place": place,
        "here": here,
        "script_origin": script,
        "is_foreign": script != here,
        "is_allowed": script == here or here in place.site.allowed_origins,
        "mode": mode if mode in MODES else MODES[0],
        "modes": MODES,
    }
    response = render(request, "chat/widget_test.html", context)
    response._csp_config = _strict_policy(script)  # type: ignore[attr-defined]
    return response


def _strict_policy(origin: str) -> dict[str, list[Any]]:
    return {
        "default-src": [NONE],
        "script-src": [origin],
        "style-src": [SELF],
        "connect-src": [origin, origin.replace("http", "ws", 1)],
        "img-src": [origin],
        "frame-src": [origin],
        "base-uri": [NONE],
        "form-action": [NONE],
        "frame-ancestors": [NONE],
    }


@require_safe
def site_logo(request: HttpRequest, public_id: str) -> HttpResponse:
    site = Site.objects.filter(public_id=public_id, is_active=True).exclude(logo="").first()
    name = site.logo.name if site else None
    if site is None or name is None or not site.logo.storage.exists(name):
        raise Http404
    with site.logo.open("rb") as file:
        picture = file.read()
    kind = PICTURE_TYPES[Path(name).suffix]
    policy = {"Content-Security-Policy": "default-src 'none'; sandbox", "Cache-Control": "public, max-age=3600"}
    return HttpResponse(picture, content_type=kind, headers={**FOR_ALL, **policy})


def _place(public_id: str) -> SiteContext:
    try:
        return load_site(public_id)
    except UnknownSite as error:
        raise Http404 from error
