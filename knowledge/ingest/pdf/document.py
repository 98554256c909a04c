"""A PDF's pages into one text."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import BinaryIO

from core.language import LOOKED_AT, guess_language
from knowledge.ingest.formats.pictures import remark_on_pages
from knowledge.ingest.formats.types import Progress, Write
from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.pdf.blocks import compose_blocks
from knowledge.ingest.pdf.extract import open_pdf, read_bookmarks, read_pages, stated_title
from knowledge.ingest.pdf.headers_footers import without_running
from knowledge.ingest.pdf.headings.candidates import bare, body_style
from knowledge.ingest.pdf.headings.detection import find_headings, find_title, split_run_in
from knowledge.ingest.pdf.markdown import Writer
from knowledge.ingest.pdf.pages import Pages
from knowledge.ingest.pdf.pictures import find_unread
from knowledge.ingest.pdf.toc import without_contents
from knowledge.ingest.pdf.types import LETTERS, BadPdf, Bookmark, Element, Limits, PdfText, Table
from knowledge.ingest.pdf.types import gettext_noop as _
from knowledge.ingest.pdf.words import comparable, vocabulary

#: With more letters than this share unmapped, what can be read is not the text.
UNMAPPED = 0.3


def read_document(
    file: BinaryIO,
    *,
    limits: Limits,
    write: Write,
    progress: Progress | None = None,
    use_bookmarks: bool = True,
    recognised: Mapping[int, Sequence[ReadLine]] | None = None,
    leave_pictures: bool = False,
) -> PdfText:
    """Read a PDF in this process, without limits of memory and time, and write its Markdown; raises BadPdf.

    `recognised` is what OCR has read, by page. With `leave_pictures`, pages that are pictures are left to be read
    later, even if all of them are.
    """
    opened = open_pdf(file, limits)
    count = len(opened.numbers)
    if progress:
        progress(0, count)
    pages = Pages()
    for page in read_pages(opened, limits, recognised):
        pages.append(page)
        if progress:
            progress(page.number, count)
    bookmarks = read_bookmarks(opened) if use_bookmarks else []
    return write_text(pages, write, bookmarks=bookmarks, title=stated_title(opened), leave_pictures=leave_pictures)


def write_text(
    pages: Pages,
    write: Write,
    *,
    bookmarks: Sequence[Bookmark] = (),
    title: str = "",
    leave_pictures: bool = False,
    marks_pages: bool = True,
) -> PdfText:
    """Write the text of extracted pages, with a mark where each begins; changes their elements. Raises BadPdf."""
    pictures = tuple(page.number for page in pages if page.is_picture)
    may_be_empty = leave_pictures and any(page.is_picture or page.is_recognised for page in pages)
    _check_legible(pages, pictures, may_be_empty=may_be_empty)
    stated, title = title, title or find_title(pages.elements(), body_style(pages.lines()))
    places: dict[str, set[int]] = {}
    for bookmark in bookmarks:
        for name in (bookmark.title, bare(bookmark.title)):
            places.setdefault(comparable(name), set()).add(bookmark.page)
    without_running(pages, places)
    entries = without_contents(pages)
    split_run_in(pages, bookmarks)
    if not pages.elements() and not may_be_empty:
        raise BadPdf(_("there is no text in it besides headers, footers and a table of contents"))
    headings = find_headings(pages, bookmarks=bookmarks, entries=entries, title=stated)
    lines = pages.lines()
    known = vocabulary(line.text for line in lines)
    for piece in Writer(known, marks_pages=marks_pages).markdown(compose_blocks(pages, headings)):
        write(piece)
    warnings = tuple(remark_on_pages(find_unread(pages), of=len(pages)))
    language = _language((line.text for line in lines) if lines else _cells(pages.elements()))
    return PdfText(title=title, language=language, pages=len(pages), pictures=pictures, warnings=warnings)


def _cells(elements: Iterable[Element]) -> Iterator[str]:
    tables = (element for element in elements if isinstance(element, Table))
    return (cell for table in tables for row in (table.header, *table.rows) for cell in row if cell)


def _language(texts: Iterable[str]) -> str:
    """Guess the language by the beginning of the text."""
    beginning: list[str] = []
    letters = 0
    for text in texts:
        beginning.append(text)
        letters += len(text)
        if letters >= LOOKED_AT:
            break
    return guess_language(" ".join(beginning))


def _check_legible(pages: Pages, pictures: Sequence[int], *, may_be_empty: bool) -> None:
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
