"""OCR of the pages that wait for it: read one by one, then put into their documents' texts."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from django.db import transaction

from knowledge.corrections.readings import Reading, take_reading
from knowledge.ingest.file_importer import read_again
from knowledge.ingest.formats.types import BadFile, Said
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.ocr.reader import read_pictures
from knowledge.ingest.pictures import recognised_pages
from knowledge.models import Document, PicturePage

State = PicturePage.State
GONE = _("the file is gone: upload it again")


def read_waiting(*, seconds: float) -> Iterator[int]:
    """Read pages that wait, and yield each document whose text was completed; stop when `seconds` are over.

    What was read is kept page by page: the next run goes on with the next page. Raises OcrUnavailable.
    """
    until = time.monotonic() + seconds
    unfinished = PicturePage.objects.unfinished().order_by("document_id").values_list("document_id", flat=True)
    for document in Document.objects.filter(pk__in=list(unfinished.distinct())).order_by("pk").defer("text"):
        if not _read(document, until):
            return
        if complete_text(document.pk):
            yield document.pk
        if time.monotonic() > until:
            return


def _read(document: Document, until: float) -> bool:
    """Read the pages of one document that wait; return whether none is left."""
    waiting = {row.page: row for row in document.picture_pages.filter(state=State.WAITING)}
    if not waiting:
        return True
    for page, lines in recognised_pages(next(iter(waiting.values())).sha256).items():
        if page in waiting:
            _save(waiting.pop(page), state=State.READ, lines=lines)
    if not waiting:
        return True
    try:
        with document.file.open("rb"):  # is it there?
            path = Path(document.file.path)
    except OSError:
        for row in waiting.values():
            _leave_out(row, Said(GONE))
        return True
    reading = read_pictures(path, list(waiting))
    try:
        for read in reading:
            row = waiting.pop(read.page)
            if read.problem:
                _leave_out(row, read.problem)
            else:
                _save(row, state=State.READ, lines=read.lines)
            if waiting and time.monotonic() > until:
                return False
    finally:
        reading.close()
    return True


def _leave_out(row: PicturePage, said: Said) -> None:
    _save(row, state=State.LEFT_OUT, reason={"template": said.template, "values": dict(said.values)})


def _save(row: PicturePage, **values: Any) -> None:
    for name, value in values.items():
        setattr(row, name, value)
    # A row that is gone stays so: the document was deleted, or has another file by now.
    PicturePage.objects.filter(pk=row.pk, sha256=row.sha256).update(**values)


def complete_text(document_id: int) -> bool:
    """Put what was read into the document's text, page by page; return whether that changed it.

    To a correction of staff's it is a new reading of the file like any other.
    """
    document = Document.objects.filter(pk=document_id).first()
    read = PicturePage.objects.filter(document=document_id, state=State.READ)
    if document is None or not read.exists():
        return False
    digest = document.metadata.get("sha256", "")
    try:
        record = read_again(document)
    except (BadFile, OSError) as error:
        said = error.reason if isinstance(error, BadFile) else Said(GONE)
        for row in read:
            _leave_out(row, said)
        return False
    with transaction.atomic():
        now = Document.objects.select_for_update().get(pk=document_id)
        if now.metadata.get("sha256", "") != digest:
            return False  # another file by now, whose pages are noted
        before = now.content_hash
        metadata = {**now.metadata, **record.metadata}
        if take_reading(now, title=record.title, text=record.text, metadata=metadata) is not Reading.HELD:
            now.language = record.language
        now.save()
        read.filter(lines=[]).update(state=State.EMPTY)
        read.update(state=State.IN_TEXT)
    return now.content_hash != before
