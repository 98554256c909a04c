"""Import of files as documents, for the command, the uploads of staff and crawls."""

import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone

from core.text import strip_nul
from knowledge.ingest.files import drop_unused, keep, stored_name
from knowledge.ingest.formats.pictures import name_pages
from knowledge.ingest.formats.reader import read_file
from knowledge.ingest.formats.registry import find_format
from knowledge.ingest.formats.types import BadFile, FileText, Format, Limits, Progress, Said
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.importer import DocumentRecord, import_records, readable_title
from knowledge.ingest.ocr.reader import is_installed
from knowledge.ingest.pictures import Recognised, note_pictures, reading_options, recognised_pages
from knowledge.ingest.titles import own_title, tell_apart
from knowledge.models import Collection, Document, PdfUpload

#: Increased when the reader improves: the same file is then read again.
READER = 5
#: An upload whose reading reports no page for so long has lost its task.
LOST = timedelta(minutes=3)
TELL_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of a file; `outcome` is created, changed or unchanged."""

    outcome: str
    document_id: int
    remarks: tuple[Said, ...] = ()


def import_file(
    path: Path,
    *,
    collection: Collection,
    name: str = "",
    url: str = "",
    kind: Format | None = None,
    refuse_photographs: bool = False,
    anew: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Import a file as one document, published at `url`, or by ourselves if none is given.

    Its format is `kind`, or what its name ends in. A file that was imported before is left as it is, but for `anew`; of
    one that changed, what staff corrected stays. The caller indexes next.
    Raises BadFile, with nothing saved, and OSError; NoText for a picture that is too small for text, or with
    `refuse_photographs` looks like a photograph.
    """
    name = strip_nul(name or path.name)
    kind = kind or find_format(name)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    kept = stored_name(digest, name, kind)
    url = url or f"{settings.PUBLIC_URL}/{quote(kept)}"
    there = collection.documents.filter(url=url).first()
    before = str(there.file) if there else ""
    is_read = before == kept and default_storage.exists(kept) and not anew
    if there and is_read and there.metadata.get("reader") == READER:
        return Imported("unchanged", there.pk)
    recognised = recognised_pages(digest)
    options = {"refuse_photographs": True} if refuse_photographs and kind.is_picture else {}
    text = _read(path, kind=kind, name=name, recognised=recognised, progress=progress, **options)
    remarks = (*text.warnings, *_pictures(text), *_namesakes(collection, name, url))
    keep(path, kept)
    record = _record(text, collection=collection, url=url, name=name, digest=digest, kept=kept)
    with transaction.atomic():
        report = import_records([(1, record)], collection=collection)
        if not report.problems:
            document = collection.documents.get(url=url)
            note_pictures(document, text, recognised, digest)
    if report.problems:
        drop_unused(kept)
        raise BadFile("{reason}", name=name, reason=report.problems[0][1])
    if before and before != kept:
        drop_unused(before)
    outcome = "created" if report.created else "changed" if report.changed else "unchanged"
    said = (remark for _line, remark in report.remarks)
    return Imported(outcome, document.pk, (*said, *remarks))


def read_again(document: Document) -> DocumentRecord:
    """Read a document's file again, with what OCR has read by now. Raises BadFile and OSError."""
    kept, name, digest = str(document.file), document.metadata["file_name"], document.metadata["sha256"]
    recognised = recognised_pages(digest)
    text = _read(Path(document.file.path), kind=find_format(kept), name=name, recognised=recognised, progress=None)
    return _record(text, collection=document.collection, url=document.url, name=name, digest=digest, kept=kept)


def _read(
    path: Path, *, kind: Format, name: str, recognised: Recognised, progress: Progress | None, **options: bool
) -> FileText:
    if kind.suffix != ".pdf" and not kind.is_picture:
        return read_file(path, kind=kind, name=name, limits=limits(), progress=progress)
    with reading_options(recognised) as further:
        return read_file(path, kind=kind, name=name, limits=limits(), progress=progress, **options, **further)


def _record(text: FileText, *, collection: Collection, url: str, name: str, digest: str, kept: str) -> DocumentRecord:
    own = (text.title or readable_title(name))[:500]
    title = tell_apart(own, text=text.markdown, names=[readable_title(name)], collection=collection, url=url)
    metadata = {"file_name": name, "sha256": digest, "pages": text.pages, "reader": READER}
    if title != own:
        metadata["own_title"] = own_title(own)
    if text.references:
        metadata["references"] = [{"text": words, "url": address} for words, address in text.references]
    return DocumentRecord(
        url=url,
        title=title,
        text=text.markdown,
        language=text.language,
        metadata=metadata,
        file=kept,
    )


def limits() -> Limits:
    return Limits(pages=settings.PDF_MAX_PAGES, file_bytes=settings.PDF_MAX_MEGABYTES * 1_000_000)


def _pictures(text: FileText) -> list[Said]:
    """Tell of pages that are pictures."""
    if not text.pictures:
        return []
    if not text.pages:
        return [Said(_("it is a picture, which is being read by OCR"))]
    left_out = _("{scanned} of {count} pages are pictures of text and were left out: {pages}")
    waiting = _("{scanned} of {count} pages are pictures of text and are being read by OCR: {pages}")
    named = name_pages(text.pictures)
    template = waiting if is_installed() else left_out
    return [Said(template, {"scanned": len(text.pictures), "count": text.pages, "pages": named})]


def _namesakes(collection: Collection, name: str, url: str) -> list[Said]:
    """Warn if a document of an older file of this name stays published."""
    others = collection.documents.published().filter(metadata__file_name=name).exclude(url=url)
    if not others.exists():
        return []
    return [Said(_("another document from a file of this name is published; archive it if this one replaces it"))]


# --- uploads ---


def import_upload(upload_id: int) -> int | None:
    """Import an uploaded file and record the result; return the document to index.

    An upload that is done, or that another task is reading, is skipped.
    """
    reading = PdfUpload.Status.READING
    now = timezone.now()
    # A time that is yet to come is of a clock that was set back.
    claimable = PdfUpload.objects.unfinished().exclude(status=reading, changed_at__range=(now - LOST, now + LOST))
    if not claimable.filter(pk=upload_id).update(status=reading, changed_at=now):
        return None
    rows = PdfUpload.objects.filter(pk=upload_id)
    upload = rows.select_related("collection", "document__collection").get()
    told = time.monotonic()

    def progress(page: int, of: int) -> None:
        nonlocal told
        if page == of or time.monotonic() - told > TELL_SECONDS:
            told = time.monotonic()
            rows.update(pages_read=page, pages=of, changed_at=timezone.now())

    document_id: int | None = None
    try:
        imported = _import(upload, progress)
    except BadFile as bad:
        status, remarks = PdfUpload.Status.FAILED, _list_remarks(bad)
    except FileNotFoundError:
        status, remarks = PdfUpload.Status.FAILED, [Said(_("the file is gone: upload it again"))]
    else:
        document_id, remarks = imported.document_id, list(imported.remarks)
        is_unchanged = imported.outcome == "unchanged"
        status = PdfUpload.Status.UNCHANGED if is_unchanged else PdfUpload.Status.IMPORTED
    rows.update(
        status=status,
        document=document_id,
        remarks=[{"template": said.template, "values": dict(said.values)} for said in remarks],
        changed_at=timezone.now(),
    )
    if upload.file:
        with suppress(OSError):  # the storage has its own copy
            default_storage.delete(str(upload.file))
    return document_id


def _import(upload: PdfUpload, progress: Progress) -> Imported:
    """Import an upload, or read its document's own file again. Raises BadFile and OSError."""
    if upload.file:
        return import_file(Path(upload.file.path), name=upload.name, collection=upload.collection, progress=progress)
    document = upload.document
    if document is None or not document.file:
        raise FileNotFoundError
    return import_file(
        Path(document.file.path),
        name=upload.name,
        collection=document.collection,
        url=document.url,
        kind=find_format(str(document.file)),
        anew=True,
        progress=progress,
    )


def _list_remarks(bad: BadFile) -> list[Said]:
    return [bad.reason, *([Said(_("page {page}"), {"page": bad.page})] if bad.page else [])]


def lost_uploads() -> list[int]:
    """List uploads that no task is reading."""
    now = timezone.now()
    lost = PdfUpload.objects.untouched_within(now - LOST, now + LOST)
    return list(lost.order_by("pk").values_list("pk", flat=True))
