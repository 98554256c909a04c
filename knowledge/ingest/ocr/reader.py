"""`read_pictures`: reads pages of a PDF by OCR in a process of its own, which hostile ones may exhaust without harm."""

import subprocess
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict
from importlib.util import find_spec
from pathlib import Path
from queue import Empty
from typing import Any

from knowledge.ingest.formats.reader import running, said_by
from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.ocr.types import OcrLimits, PageRead, ReadLine


class OcrUnavailable(RuntimeError):
    """The process that reads does not start: the installation is broken, not the picture."""


def is_installed() -> bool:
    """Return whether the extra `ocr` is there."""
    return find_spec("rapidocr") is not None


def read_pictures(
    source: Path | bytes, pages: Sequence[int], *, limits: OcrLimits | None = None
) -> Generator[PageRead, None, None]:
    """Yield the pages one by one, in this order. Raises OcrUnavailable, and OSError.

    A page that ends the process is the only one that is lost: another process reads those after it.
    """
    limits = limits or OcrLimits()
    left = list(pages)
    while left:
        for read in _read(source, left, limits):
            left.remove(read.page)
            yield read


def _read(source: Path | bytes, pages: Sequence[int], limits: OcrLimits) -> Iterator[PageRead]:
    """Yield pages until all are read, or one has ended the process."""
    settings = {"pages": list(pages), **asdict(limits)}
    with running("knowledge.ingest.ocr.sandbox", settings, source) as process:
        yield from _pages(process, pages, limits)


def _pages(process: "subprocess.Popen[bytes]", pages: Sequence[int], limits: OcrLimits) -> Iterator[PageRead]:
    said = said_by(process)
    try:
        first = said.get(timeout=limits.start_seconds)
    except Empty:
        first = None
    if first is None:
        raise OcrUnavailable("the process that reads pictures did not start")
    for page in pages:
        begun = time.monotonic()
        try:
            value = said.get(timeout=limits.page_seconds)
        except Empty:
            slow = _("reading its picture takes longer than {limit} seconds")
            yield PageRead(page, problem=Said(slow, {"limit": round(time.monotonic() - begun)}))
            return
        if value is None:
            yield PageRead(page, problem=Said(_("its picture needs more memory or time than a page should")))
            return
        yield _page(value)


def _page(value: dict[str, Any]) -> PageRead:
    if "bad" in value:
        return PageRead(value["page"], problem=Said(value["bad"], value["values"]))
    return PageRead(value["page"], tuple(ReadLine(*line) for line in value["lines"]))
