"""Pages of documents that are pictures of text, and what OCR has read on them."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from django.db.models import Q

from knowledge.ingest.formats.types import FileText
from knowledge.ingest.ocr.reader import is_installed
from knowledge.ingest.ocr.types import ReadLine
from knowledge.models import Document, PicturePage

State = PicturePage.State
#: What OCR has read, by page; nothing where it found nothing.
Recognised = Mapping[int, Sequence[ReadLine]]


def recognised_pages(digest: str) -> Recognised:
    """Return what was read in a file, whichever document it was read for."""
    rows = PicturePage.objects.filter(sha256=digest)
    rows = rows.filter(Q(state__in=[State.READ, State.IN_TEXT, State.EMPTY]) | ~Q(lines=[]))
    return {page: [ReadLine(*line) for line in lines] for page, lines in rows.values_list("page", "lines")}


@contextmanager
def reading_options(recognised: Recognised) -> Iterator[dict[str, Any]]:
    """Yield the options with which the reader of PDFs takes what was recognised."""
    with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
        json.dump(recognised, file)
        file.flush()
        # Without OCR a file of nothing but pictures is refused.
        yield {"recognised": file.name, "leave_pictures": is_installed() or bool(recognised)}


def note_pictures(document: Document, text: FileText, recognised: Recognised, digest: str) -> None:
    """Note which pages of the document's file are pictures, and which of them its text has already."""
    document.picture_pages.exclude(sha256=digest).delete()
    rows = [PicturePage(page=page) for page in text.pictures]
    rows += [
        PicturePage(page=page, state=State.IN_TEXT if lines else State.EMPTY, lines=lines)
        for page, lines in recognised.items()
    ]
    for row in rows:
        row.document, row.sha256 = document, digest
    PicturePage.objects.bulk_create(
        rows,
        update_conflicts=True,
        unique_fields=["document", "page"],
        update_fields=["sha256", "state", "lines", "reason", "changed_at"],
        batch_size=200,
    )
