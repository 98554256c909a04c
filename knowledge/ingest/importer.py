"""Import of records as documents, which every import shares."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.db import transaction
from django.utils.translation import gettext as _

from core.language import tag_in
from core.text import strip_nul
from knowledge.addresses import is_own_address
from knowledge.chunking.plain_text import make_plain
from knowledge.corrections.readings import Reading, take_reading
from knowledge.ingest.formats.registry import FORMATS
from knowledge.ingest.formats.types import Said
from knowledge.ingest.html import HtmlPage, UnreadablePage, read_html
from knowledge.ingest.remarks import remark_on
from knowledge.models import Collection, Course, Document

TEXT_KEYS = ("text", "content", "html")
KNOWN = {"id", "_id", "url", "title", "language", "metadata", "og", "favicon", *TEXT_KEYS}
#: Tags that other tools leave in plain text where a line or a part ended.
BREAKS = re.compile(r"[ \t]*<\s*/?\s*(?:br|hr|p|sep)\s*/?\s*>[ \t]*", re.IGNORECASE)
#: Of files' names.
ENDING = re.compile(rf"\.(?:html?|txt|md|{'|'.join(suffix[1:] for suffix in FORMATS)})$", re.IGNORECASE)
H1 = re.compile(r"^#\s+(.+?)\s*#*\s*$", re.MULTILINE)


class BadRecord(ValueError):
    """A record that cannot be imported; the message says why."""


@dataclass(frozen=True, slots=True)
class DocumentRecord:
    url: str
    title: str
    text: str
    external_id: str = ""
    language: str = "en"
    metadata: Mapping[str, Any] = field(default_factory=dict)
    file: str = ""  # its name in the storage, for a document that is one of our own files


def document_record(raw: object) -> DocumentRecord:
    """Check `{"id"?, "url", "title"?, "text" | "content" | "html", "metadata"?, "language"?}`.

    Marcel's `{url, content, og, favicon}` is the same with the title in Open Graph's `title`. Raises BadRecord.
    """
    if not isinstance(raw, dict):
        raise BadRecord(f'it is {_kind(raw)}, not an object such as {{"url": …, "text": …}}')
    url = checked_url(_text(raw, "url"))
    text = next((_text(raw, key) for key in TEXT_KEYS if raw.get(key)), "")
    page = None
    if raw.get("html") and not raw.get("text") and not raw.get("content"):
        page = _page(text, url)
        text = page.markdown
    else:
        text = BREAKS.sub("\n\n", text.replace("\x00", "")).strip()
    if not text:
        raise BadRecord('it has no text: fill "text" or "content" (Markdown), or "html"')

    graph, metadata = raw.get("og") or {}, raw.get("metadata") or {}
    if not isinstance(graph, dict) or not isinstance(metadata, dict):
        raise BadRecord('"metadata" and "og" must be objects')
    title = _text(raw, "title").strip() or str(graph.get("title") or graph.get("og:title") or "").strip()
    own, said = (page.title, page.language) if page else ("", "")
    title = title or make_plain(_first_heading(text)) or own
    title = title or urlsplit(url).path.rstrip("/").rpartition("/")[2] or url
    extra = {key: value for key, value in raw.items() if key not in KNOWN}
    if page and page.references:
        extra["references"] = [{"text": link.text, "url": link.url} for link in page.references]
    pictures = {key: raw[key] for key in ("og", "favicon") if raw.get(key)}
    return DocumentRecord(
        url=url,
        title=readable_title(title)[:500],
        text=text,
        external_id=str(raw.get("id") or raw.get("_id") or "")[:500],
        language=tag_in(_text(raw, "language")) or tag_in(str(metadata.get("language") or "")) or said or "en",
        metadata={**extra, **pictures, **metadata},
    )


def checked_url(text: str, *, key: str = "url") -> str:
    """Check the address of a web page; raises BadRecord, naming `key`."""
    url = text.strip()
    if not url:
        raise BadRecord(_("“%(column)s” is missing") % {"column": key})
    try:
        parts = urlsplit(url)
    except ValueError as error:
        said = _("“%(column)s” cannot be read: %(problem)s")
        raise BadRecord(said % {"column": key, "problem": error}) from error
    if parts.scheme not in {"http", "https"} or not parts.netloc:
        said = _("“%(column)s” is %(value)s; %(needed)s")
        needed = _("it must begin with http:// or https://")
        raise BadRecord(said % {"column": key, "value": repr(url[:100]), "needed": needed})
    if len(url) > 2000:
        said = _("“%(column)s” has %(count)d characters; %(most)d are allowed")
        raise BadRecord(said % {"column": key, "count": len(url), "most": 2000})
    return url


def _page(html: str, url: str) -> HtmlPage:
    try:
        return read_html(html.encode("utf-8", "replace"), url=url, content_type="text/html; charset=utf-8")
    except UnreadablePage as error:
        raise BadRecord(f'"html" has no text to import: {error}') from error


def readable_title(title: str) -> str:
    """Turn a file's name into a title: `Student%20Handbook_2023.pdf` becomes `Student Handbook 2023`."""
    if "%" in title or " " not in title:
        title = unquote(title).replace("_", " ").replace("\x00", "")
    return ENDING.sub("", title.strip()) or title


def _first_heading(text: str) -> str:
    found = H1.search(text)
    return found.group(1) if found else ""


def _text(raw: Mapping[str, Any], key: str) -> str:
    value = raw.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise BadRecord(f'"{key}" is {_kind(value)}, not a text')
    return value


def _kind(value: object) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")


BATCH = 200
#: A longer line is a mistake, not a page.
MAX_LINE_BYTES = 50_000_000


@dataclass(slots=True)
class ImportReport:
    """The result of an import; `problems` are (line, reason), `remarks` on what was not simply taken over too."""

    created: int = 0
    changed: int = 0
    unchanged: int = 0
    problems: list[tuple[int, str]] = field(default_factory=list)
    remarks: list[tuple[int, Said]] = field(default_factory=list)


def collection_for(slug: str) -> Collection:
    """Get the collection of that name, created if it is missing."""
    name = slug.replace("-", " ").replace("_", " ").capitalize()
    return Collection.objects.get_or_create(slug=slug, defaults={"name": name})[0]


def read_jsonl(path: Path) -> Iterator[tuple[int, DocumentRecord | BadRecord]]:
    """Yield (line number, record or what is wrong with it); empty lines are skipped. Raises OSError."""
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.strip():
                continue
            try:
                if len(line) > MAX_LINE_BYTES:
                    raise BadRecord(f"the line has {len(line):,} bytes; {MAX_LINE_BYTES:,} are allowed")
                yield number, document_record(strip_nul(json.loads(line.decode("utf-8-sig"))))
            except UnicodeDecodeError as error:
                yield number, BadRecord(f"it is not UTF-8 (byte {error.start})")
            except json.JSONDecodeError as error:
                yield number, BadRecord(f"it is not JSON ({error.msg} at column {error.colno})")
            except RecursionError:
                yield number, BadRecord("its JSON is nested too deeply")
            except BadRecord as problem:
                yield number, problem


def import_records(
    records: Iterable[tuple[int, DocumentRecord | BadRecord]], *, collection: Collection
) -> ImportReport:
    """Create or update one document for each URL; valid records are saved even if others are not.

    A document that staff archived stays archived, what they corrected stays, and a course's document is left to its
    record. The caller indexes next.
    """
    report = ImportReport()
    batch: dict[str, DocumentRecord] = {}
    first_line: dict[str, int] = {}
    for number, record in records:
        if isinstance(record, BadRecord):
            report.problems.append((number, str(record)))
        elif record.url in first_line:
            report.problems.append((number, f"the same url as line {first_line[record.url]}; the first one counts"))
        else:
            first_line[record.url] = number
            batch[record.url] = record
            if len(batch) == BATCH:
                _save(batch, first_line, collection, report)
                batch.clear()
    _save(batch, first_line, collection, report)
    return report


@transaction.atomic
def _save(
    batch: dict[str, DocumentRecord], numbers: dict[str, int], collection: Collection, report: ImportReport
) -> None:
    there = {document.url: document for document in collection.documents.filter(url__in=batch).select_for_update()}
    courses = {course.document_id: course for course in Course.objects.filter(document__in=there.values())}
    for url, record in batch.items():
        document = there.get(url)
        if is_own_address(url):
            report.problems.append((numbers[url], f"{url} is a page that staff wrote here: change it in the admin"))
            continue
        if document and document.pk in courses:
            reason = f"{url} is the page of the course {courses[document.pk]}; change that course's record instead"
            report.problems.append((numbers[url], reason))
            continue
        is_new = document is None
        document = document or Document(collection=collection, url=url)
        before = document.read_hash
        reading, is_changed = _take(document, record)
        if remark := remark_on(reading):
            report.remarks.append((numbers[url], remark))
        if is_new:
            document.save()
            report.created += 1
        elif is_changed:
            document.save()
            report.changed += 1
        else:
            report.unchanged += 1
            if document.read_hash != before:
                Document.objects.filter(pk=document.pk).update(read_hash=document.read_hash)


def _take(document: Document, record: DocumentRecord) -> tuple[Reading, bool]:
    """Set what the record says; return also whether that changed anything but how it was read."""
    metadata = document.metadata
    reading = take_reading(document, title=record.title, text=record.text, metadata=dict(record.metadata))
    is_changed = reading is not Reading.SAME or document.metadata != metadata
    for name, value in (("external_id", record.external_id), ("language", record.language), ("file", record.file)):
        is_changed = is_changed or getattr(document, name) != value
        setattr(document, name, value)
    return reading, is_changed
