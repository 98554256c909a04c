"""Import of a crawl's findings: each page becomes a document in its own transaction."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from django.db import transaction
from django.utils import timezone

from core.language import guess_language
from core.text import strip_nul
from knowledge.addresses import is_own_address
from knowledge.chunking.plain_text import make_plain
from knowledge.corrections.readings import Reading, take_reading
from knowledge.ingest.crawler.messages import FetchedFile, Page
from knowledge.ingest.file_importer import import_file
from knowledge.ingest.formats.registry import find_format
from knowledge.ingest.formats.types import Said
from knowledge.ingest.formats.types import gettext_noop as _
from knowledge.ingest.importer import readable_title
from knowledge.ingest.remarks import remark_on
from knowledge.ingest.titles import own_title, tell_apart
from knowledge.models import Course, CrawlOutcome, Document, Source, SourcePage

Kind = CrawlOutcome.Kind
RENDERED = _("it was read after its JavaScript had run")
BACK = _("it is there again, and published again")
WRITTEN_HERE = _("it is a page that staff wrote in the admin; it is changed there")
OF_A_COURSE = _("it is the page of a course here; that course's record counts")
#: In how many crawls in a row a page must be missing before its document is archived.
MISSES = 2


@dataclass(frozen=True, slots=True)
class Applied:
    """The result of a page; `kind` is None if nothing changed."""

    kind: "CrawlOutcome.Kind | None"
    document_id: int | None = None
    remarks: tuple[Said, ...] = ()


@transaction.atomic
def save_page(source: Source, page: Page) -> Applied:
    """Create or update the page's document. What staff corrected stays."""
    if is_own_address(page.url):
        return Applied(Kind.SKIPPED, remarks=(Said(WRITTEN_HERE),))
    document = source.collection.documents.select_for_update().filter(url=page.url).first()
    if document and Course.objects.filter(document=document).exists():
        return Applied(Kind.SKIPPED, remarks=(Said(OF_A_COURSE),))
    name, text = readable_title(urlsplit(page.url).path.rstrip("/").rpartition("/")[2]), strip_nul(page.markdown)
    own = (strip_nul(page.title) or name or page.url)[:500]
    names = (_heading(text, own), name, _describe_address(page.url))
    title = tell_apart(own, text=text, names=names, collection=source.collection, url=page.url)
    row = source.pages.select_for_update().filter(url=page.url).first()
    links = [{"text": words, "url": address} for words, address in page.references]
    further = {"references": links, "og": page.open_graph, "favicon": page.favicon, "modified": page.modified}
    further["own_title"] = own_title(own) if title != own else ""
    metadata = {name: strip_nul(value) for name, value in further.items() if value}

    is_new = document is None
    if document is None:
        language = page.language[:12] or guess_language(text)
        document = Document(collection=source.collection, url=page.url, language=language)
    known = (document.read_hash, document.metadata)
    metadata = {key: value for key, value in document.metadata.items() if key not in further} | metadata
    reading = take_reading(document, title=title, text=text, metadata=metadata)
    kind = Kind.NEW if is_new else Kind.CHANGED if reading is not Reading.SAME else None
    if kind and reading is not Reading.HELD:
        document.language = page.language[:12] or document.language
    is_back = _publish_again(document, row)
    if kind or is_back:
        document.save()
    elif known != (document.read_hash, document.metadata):
        # Saved with its time: otherwise a form that was opened before would overwrite it.
        said = {"read_hash": document.read_hash, "metadata": document.metadata}
        Document.objects.filter(pk=document.pk).update(**said, updated_at=timezone.now())
    _remember(source, page, document.pk, likeness=page.likeness, links=list(page.links))
    kind = kind or (Kind.CHANGED if is_back else None)
    back, rendered = Said(BACK) if is_back else None, Said(RENDERED) if kind and page.is_rendered else None
    return Applied(kind, document.pk, tuple(said for said in (remark_on(reading), back, rendered) if said))


def _heading(text: str, title: str) -> str:
    """Return a page's first heading, which tells it apart where each page of a site has the institution's name."""
    first = text.partition("\n")[0]
    heading = make_plain(first.lstrip("# ")) if first.startswith("# ") else ""
    return heading if heading.casefold() not in title.casefold() else ""


def _describe_address(url: str) -> str:
    """Return what tells a page's address from all others of its site."""
    parts = urlsplit(url)
    address: str = strip_nul(unquote("?".join(filter(None, (parts.path.strip("/"), parts.query)))))
    return address


def save_file(source: Source, file: FetchedFile, *, progress: Callable[[int, int], None]) -> Applied:
    """Create or update the file's document. Raises BadFile."""
    row = source.pages.filter(url=file.url).first()
    imported = import_file(
        Path(file.path),
        collection=source.collection,
        name=file.name,
        url=file.url,
        kind=find_format(file.path),
        refuse_photographs=True,
        progress=progress,
    )
    with transaction.atomic():
        document = Document.objects.select_for_update().get(pk=imported.document_id)
        is_back = _publish_again(document, row)
        if is_back:
            document.save()
        _remember(source, file, document.pk)
    kinds = {"created": Kind.NEW, "changed": Kind.CHANGED}
    kind = kinds.get(imported.outcome, Kind.CHANGED if is_back else None)
    return Applied(kind, document.pk, (*((Said(BACK),) if is_back else ()), *imported.remarks))


@transaction.atomic
def keep_page(source: Source, url: str) -> Applied:
    """Record a page that did not change; publish it again if a crawl had archived it."""
    row = source.pages.select_for_update().filter(url=url).first()
    document = Document.objects.select_for_update().filter(source_pages=row).first() if row else None
    if row is None or document is None:
        return Applied(None)
    is_back = _publish_again(document, row)
    if is_back:
        document.save()
    row.missing_runs, row.archived_here, row.seen_at = 0, False, timezone.now()
    row.save()
    return Applied(Kind.CHANGED, document.pk, (Said(BACK),)) if is_back else Applied(None, document.pk)


@transaction.atomic
def archive_page(row: SourcePage) -> int | None:
    """Archive its document, which is never deleted; return the id if that changed something."""
    document = Document.objects.select_for_update().filter(source_pages=row).first()
    if document is None or document.status != Document.Status.PUBLISHED:
        return None
    document.status = Document.Status.ARCHIVED
    document.save()
    row.archived_here = True
    row.save(update_fields=["archived_here"])
    return document.pk


def _publish_again(document: Document, row: SourcePage | None) -> bool:
    """Publish a document again that a crawl had archived; what staff archived stays so. The caller saves it."""
    if row is None or not row.archived_here or document.status != Document.Status.ARCHIVED:
        return False
    document.status = Document.Status.PUBLISHED
    return True


def _remember(source: Source, found: Page | FetchedFile, document_id: int, **seen: Any) -> None:
    defaults = {
        "document_id": document_id,
        "etag": found.etag if len(found.etag) <= 500 else "",
        "last_modified": found.last_modified if len(found.last_modified) <= 100 else "",
        "missing_runs": 0,
        "archived_here": False,
        "seen_at": timezone.now(),
        **seen,
    }
    SourcePage.objects.update_or_create(source=source, url=found.url, defaults=defaults)
