"""A PDF's pages into one text."""

from collections.abc import Callable, Mapping, Sequence
from typing import BinaryIO

from core.language import guess_language
from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.pdf.blocks import Composer
from knowledge.ingest.pdf.extract import open_pdf, read_bookmarks, read_pages, stated_title
from knowledge.ingest.pdf.headers_footers import without_running
from knowledge.ingest.pdf.headings.candidates import bare, body_style
from knowledge.ingest.pdf.headings.detection import find_headings, find_title, with_run_in_split
from knowledge.ingest.pdf.markdown import Writer
from knowledge.ingest.pdf.toc import without_contents
from knowledge.ingest.pdf.types import LETTERS, BadPdf, Bookmark, Limits, Line, Page, PdfText
from knowledge.ingest.pdf.types import gettext_noop as _
from knowledge.ingest.pdf.words import comparable, vocabulary

#: With more letters than this share unmapped, what can be read is not the text.
UNMAPPED = 0.3


def read_document(
    file: BinaryIO,
    *,
    limits: Limits,
    progress: Callable[[int, int], None] | None = None,
    use_bookmarks: bool = True,
    recognised: Mapping[int, Sequence[ReadLine]] | None = None,
    leave_pictures: bool = False,
) -> PdfText:
    """Read a PDF in this process, without limits of memory and time; raises BadPdf.

    `recognised` is what OCR has read, by page. With `leave_pictures`, pages that are pictures are left to be read
    later, even if all of them are.
    """
    pdf = open_pdf(file, limits)
    count = len(pdf.pages)
    if progress:
        progress(0, count)
    pages: list[Page] = []
    for page in read_pages(pdf, limits, recognised):
        pages.append(page)
        if progress:
            progress(page.number, count)
    bookmarks = read_bookmarks(pdf) if use_bookmarks else []
    return assemble_text(pages, bookmarks=bookmarks, title=stated_title(pdf), leave_pictures=leave_pictures)


def assemble_text(
    pages: Sequence[Page], *, bookmarks: Sequence[Bookmark] = (), title: str = "", leave_pictures: bool = False
) -> PdfText:
    """Assemble the text of extracted pages; changes their elements. Raises BadPdf."""
    pictures = tuple(page.number for page in pages if page.is_picture)
    may_be_empty = leave_pictures and any(page.is_picture or page.is_recognised for page in pages)
    _check_legible(pages, pictures, may_be_empty=may_be_empty)
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
    if not markdown.strip() and not may_be_empty:
        raise BadPdf(_("there is no text in it besides headers, footers and a table of contents"))
    return PdfText(
        title=title,
        language=guess_language(" ".join(lines)),
        markdown=markdown,
        pages=len(pages),
        pictures=pictures,
    )


def _check_legible(pages: Sequence[Page], pictures: Sequence[int], *, may_be_empty: bool) -> None:
    """Raise BadPdf if the whole file has no text."""
    letters = sum(page.characters for page in pages)
    unmapped = sum(page.unmapped for page in pages)
    if unmapped > UNMAPPED * (letters + unmapped):
        raise BadPdf(_("its fonts do not say which letters they show: recognise its text first"))
    if may_be_empty:
        return
    if pictures and (letters < LETTERS or (len(pictures) >= 0.9 * len(pages) and letters < LETTERS * len(pages))):
        raise BadPdf(
            _("it was scanned: {scanned} of {count} pages are pictures without a text layer; recognise its text first"),
            scanned=len(pictures),
            count=len(pages),
        )
    if not letters:
        raise BadPdf(_("there is no text in it"))
