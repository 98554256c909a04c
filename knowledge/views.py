"""Views of the files and pages that citations open."""

import asyncio
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from django.core.files.storage import default_storage
from django.core.handlers.asgi import ASGIRequest
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone, translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from core.language import format_day
from knowledge.chunking.plain_text import make_plain
from knowledge.indexing.flags import public_text
from knowledge.ingest.formats.registry import FORMATS
from knowledge.models import Document
from knowledge.rendering import is_safe_link, list_references, render_markdown

CHUNK = 256 * 1024
#: A browser may show a page that was withdrawn for no longer than this.
PAGE_SECONDS = 60
#: Much more than anybody writes by hand; rendering takes a second for so many.
MOST_PAGE_CHARACTERS = 500_000
BIGGEST_ID = 2**63 - 1
RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "same-origin",
    "X-Robots-Tag": "noindex",
    "Accept-Ranges": "bytes",
    "Cache-Control": "no-cache",
}


@require_safe
def document_file(request: HttpRequest, digest: str, name: str, ending: str) -> HttpResponseBase:
    """Serve the file of a published document, whole or the range that a viewer asks for."""
    kept, kind = f"documents/{digest}/{name}.{ending}", FORMATS.get(f".{ending}")
    if not kind or not Document.objects.published().filter(file=kept).exists() or not default_storage.exists(kept):
        raise Http404
    etag = f'"{digest}"'
    if request.headers.get("If-None-Match") == etag:
        return HttpResponse(status=304, headers={**HEADERS, "ETag": etag})
    path = Path(default_storage.path(kept))
    size = path.stat().st_size
    asked = _range(request.headers.get("Range", ""), size)
    if asked is None:
        return HttpResponse(status=416, headers={**HEADERS, "Content-Range": f"bytes */{size}"})
    start, end = asked
    is_part = (start, end) != (0, size)
    shown = "inline" if kind.is_shown else "attachment"
    headers = {**HEADERS, "Content-Disposition": shown, "ETag": etag, "Content-Length": str(end - start)}
    if is_part:
        headers["Content-Range"] = f"bytes {start}-{end - 1}/{size}"
    status = 206 if is_part else 200
    if request.method == "HEAD":
        return HttpResponse(status=status, content_type=kind.media_types[0], headers=headers)
    # An ASGI server would read a plain iterator whole before it sends any of it.
    chunks = _sent_async(path, start, end) if isinstance(request, ASGIRequest) else _sent(path, start, end)
    return StreamingHttpResponse(chunks, status=status, content_type=kind.media_types[0], headers=headers)


@require_safe
def document_page(request: HttpRequest, document_id: int) -> HttpResponse:
    """Show a document that staff wrote here while it is published and valid; lead to the address that it got since.

    What is withheld until staff have checked it is left out.
    """
    if document_id > BIGGEST_ID:
        raise Http404
    documents = Document.objects.published().valid_on(timezone.localdate()).of_university()
    document = get_object_or_404(documents.select_related("collection"), pk=document_id)
    main = document.language.split("-")[0].lower()
    if not document.has_own_page:
        if not is_safe_link(document.url):
            raise Http404
        return mark_as_page(redirect(document.url), document.language)
    text = public_text(document)
    if not text.strip():
        raise Http404
    with translation.override(said_in := main if main in {"de", "en"} else "en"):
        day = timezone.localdate(document.altered_at or document.created_at)
        signed = {"collection": document.collection, "day": format_day(day, said_in)}
        context = {
            "title": document.title,
            "language": document.language,
            "said_in": said_in,
            "signature": _("%(collection)s, last changed on %(day)s") % signed,
            "valid_until": format_day(document.valid_until, said_in) if document.valid_until else "",
            "html": render_markdown(
                _without_title(document.title, text), list_references(document.metadata), most=MOST_PAGE_CHARACTERS
            ),
        }
        response = render(request, "knowledge/public_page.html", context)
    return mark_as_page(response, document.language)


def mark_as_page(response: HttpResponse, language: str) -> HttpResponse:
    """Set the headers of a text that staff wrote and may withdraw.

    One that may end tomorrow must not stay in a search engine; the university's own pages are found there.
    """
    response["X-Robots-Tag"] = "noindex"
    response["Content-Language"] = language
    response["Cache-Control"] = f"public, max-age={PAGE_SECONDS}"
    return response


def _without_title(title: str, text: str) -> str:
    """Return the text without a first heading that repeats the title, which stands above it."""
    first, _newline, rest = text.lstrip().partition("\n")
    return rest if first.startswith("# ") and make_plain(first[2:]) == title.strip() else text


def _range(asked: str, size: int) -> tuple[int, int] | None:
    """Return [start, end) of the one requested range; everything if it is none, None if it is outside."""
    match = RANGE.fullmatch(asked.strip())
    if not match or not (match[1] or match[2]):
        return 0, size
    if not match[1]:
        start, end = max(0, size - int(match[2])), size
    else:
        start, end = int(match[1]), min(size, int(match[2]) + 1) if match[2] else size
    return (start, end) if start < end else None


def _sent(path: Path, start: int, end: int) -> Iterator[bytes]:
    with path.open("rb") as file:
        file.seek(start)
        while start < end and (chunk := file.read(min(CHUNK, end - start))):
            start += len(chunk)
            yield chunk


async def _sent_async(path: Path, start: int, end: int) -> AsyncIterator[bytes]:
    chunks = _sent(path, start, end)
    while chunk := await asyncio.to_thread(next, chunks, b""):
        yield chunk
