"""Files on their way to who asked for them: in pieces, and with a note where they did not arrive."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest, StreamingHttpResponse
from django.utils import timezone
from django.utils.http import content_disposition_header
from django.utils.text import slugify
from django.utils.translation import gettext as _

from analytics.reports.definition import Format
from analytics.reports.formats.writers import CONTENT_TYPES

CHUNK = 256 * 1024


class Sent:
    """Reads an open file piece by piece; `close` lets go of it and tells `broken_off` how much was sent, if not all."""

    def __init__(self, file: BinaryIO, size: int, broken_off: Callable[[int], None]) -> None:
        self._file, self._size, self._broken_off, self._sent = file, size, broken_off, 0

    def read(self) -> bytes:
        chunk = self._file.read(CHUNK)
        self._sent += len(chunk)
        return chunk

    def close(self) -> None:
        """Log a broken download; Django calls this however the answer ended."""
        if self._file.closed:
            return
        self._file.close()
        if self._sent < self._size:
            self._broken_off(self._sent)


class InThreads(Sent):
    """An ASGI server would read a plain iterator whole before it sends any of it."""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        while chunk := await asyncio.to_thread(self.read):
            yield chunk


class Plain(Sent):
    def __iter__(self) -> Iterator[bytes]:
        while chunk := self.read():
            yield chunk


def attachment(
    request: HttpRequest, file: BinaryIO, size: int, *, name: str, kind: Format, broken_off: Callable[[int], None]
) -> StreamingHttpResponse:
    sent = (InThreads if isinstance(request, ASGIRequest) else Plain)(file, size, broken_off)
    answer = StreamingHttpResponse(sent, content_type=CONTENT_TYPES[kind])
    answer.headers["Content-Length"] = str(size)
    disposition = content_disposition_header(as_attachment=True, filename=file_name(name, kind))
    answer.headers["Content-Disposition"] = disposition or "attachment"
    return answer


def file_name(name: str, kind: Format) -> str:
    """Return a name such as fees-2026-10-01.xlsx."""
    stem = slugify(name, allow_unicode=True)[:80] or _("report")
    return f"{stem}-{timezone.localdate().isoformat()}.{kind}"


def opened(path: Path) -> tuple[BinaryIO, int]:
    """Open the file; return it with its size. Raise FileNotFoundError."""
    file = path.open("rb")
    return file, path.stat().st_size
