"""A PDF's pages into one text."""

from collections.abc import Callable, Sequence
from typing import BinaryIO

from core.language import guess_language
from knowledge.ingest.pdf.blocks import Composer
from knowledge.ingest.pdf.extract import open_pdf, read_bookmarks, read_pages, stated_title
from knowledge.ingest.pdf.headers_footers import without_running
from knowledge.ingest.pdf.headings.candidates import bare, body_style
from knowledge.ingest.pdf.headings.detection import find_headings, find_title, with_run_in_split
from knowledge.ingest.pdf.markdown import Writer
from knowledge.ingest.pdf.toc import without_contents
from knowledge.ingest.pdf.types import BadPdf, Bookmark, Limits, Line, Page, PdfText, Said
from knowledge.ingest.pdf.types import gettext_noop as _
from knowledge.ingest.pdf.words import comparable, vocabulary

#: Fewer letters a page than this are a stamp or a page number on a picture.
LETTERS = 20
#: With more letters than this share unmapped, what can be read is not the text.
UNMAPPED = 0.3
NAMED_PAGES = 12


def read_document(
    file: BinaryIO,
    *,
    limits: Limits,
    progress: Callable[[int, int], None] | None = None,
    use_bookmarks: bool = True,
) -> PdfText:
    """Read a PDF in this process, without limits of memory and time; raises BadPdf."""
    pdf = open_pdf(file, limits)
    count = len(pdf.pages)
    if progress:
        progress(0, count)
    pages: list[Page] = []
    for page in read_pages(pdf, limits):
        pages.append(page)
        if progress:
            progress(page.number, count)
    bookmarks = read_bookmarks(pdf) if use_bookmarks else []
    return assemble_text(pages, bookmarks=bookmarks, title=stated_title(pdf))


def assemble_text(pages: Sequence[Page], *, bookmarks: Sequence[Bookmark] = (), title: str = "") -> PdfText:
    """Assemble the text of extracted pages; changes their elements. Raises BadPdf."""
    warnings = _legible(pages)
    first = [element for page in pages for element in page.elements]
    stated, title = title, title or find_title(first, body_style(first))
    places: dict[str, set[int]] = {}
    for bookmark in bookmarks:
        for name in (bookmark.title, bare(bookmark.title)):
            places.setdefault(comparable(name), set()).add(bookmark.page)
    without_running(pages, places)
    entries = without_contents(pages)
    flow = with_run_in_split([element for page in pages for element in page.elements], bookmarks)
    headings = find_headings(flow, bookmarks=bookmarks, entries=entries, title=stated)
    lines = [element.text for element in flow if isinstance(element, Line)]
    blocks = Composer(flow, headings, body_style(flow)[0]).blocks()
    markdown = Writer(vocabulary(lines)).markdown(blocks)
    if not markdown.strip():
        raise BadPdf(_("there is no text in it besides headers, footers and a table of contents"))
    return PdfText(
        title=title,
        language=guess_language(" ".join(lines)),
        markdown=markdown,
        pages=len(pages),
        warnings=tuple(warnings),
    )


def _legible(pages: Sequence[Page]) -> list[Said]:
    """Return remarks about pages without text; raises BadPdf if the whole file has none."""
    letters = sum(page.characters for page in pages)
    unmapped = sum(page.unmapped for page in pages)
    if unmapped > UNMAPPED * (letters + unmapped):
        raise BadPdf(_("its fonts do not say which letters they show: recognise its text first"))
    pictures = [page.number for page in pages if page.has_pictures and page.characters < LETTERS]
    if pictures and (letters < LETTERS or (len(pictures) >= 0.9 * len(pages) and letters < LETTERS * len(pages))):
        raise BadPdf(
            _("it was scanned: {scanned} of {count} pages are pictures without a text layer; recognise its text first"),
            scanned=len(pictures),
            count=len(pages),
        )
    if not letters:
        raise BadPdf(_("there is no text in it"))
    if not pictures:
        return []
    named = ", ".join(map(str, pictures[:NAMED_PAGES])) + (" …" if len(pictures) > NAMED_PAGES else "")
    return [
        Said(
            _("{scanned} of {count} pages are pictures without text: {pages}"),
            {"scanned": len(pictures), "count": len(pages), "pages": named},
        )
    ]
