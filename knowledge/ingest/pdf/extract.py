"""Extraction with pdfplumber: pages with their characters and rules, the outline, the title."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, BinaryIO

from pdfminer.layout import LTChar, LTComponent, LTContainer, LTCurve, LTImage, LTRect
from pdfminer.pdfdocument import PDFEncryptionError, PDFNoOutlines, PDFPasswordIncorrect
from pdfminer.pdfpage import PDFPage
from pdfminer.pdftypes import PDFObjRef, PDFStream, resolve1
from pdfminer.psparser import PSKeyword, PSLiteral
from pdfminer.utils import decode_text
from pdfplumber.page import Page as PlumberPage
from pdfplumber.pdf import PDF
from pdfplumber.utils.exceptions import PdfminerException

from knowledge.ingest.ocr.types import ReadLine
from knowledge.ingest.pdf.content import check_content, page_layout
from knowledge.ingest.pdf.layout.lines import arrange_lines
from knowledge.ingest.pdf.layout.recognised import characters_read, place_lines
from knowledge.ingest.pdf.pictures import clip_picture, measure_pictures
from knowledge.ingest.pdf.tables.finder import find_tables
from knowledge.ingest.pdf.tables.recognised import read_columns
from knowledge.ingest.pdf.tables.unruled import aligned
from knowledge.ingest.pdf.types import BadPdf, Bookmark, Char, Limits, Page, Rule
from knowledge.ingest.pdf.types import gettext_noop as _

UNMAPPED = re.compile(r"\(cid:\d+\)")
#: Bullets of symbol fonts, which have no place in Unicode, and of standard ones, which pdfminer does not map.
BULLETS = dict.fromkeys([*"\uf0b7\uf0a7\uf0d8\uf0fc\uf076\uf02d\uf0be", "(cid:127)"], "•")
TAIL = 4096
#: How many packs of objects stay parsed: those of a page's fonts and of its neighbours are asked for again at once.
PACKS = 8
#: A rectangle that is not wider than this is a line.
THIN = 3.0
#: How much of a page must stand on its side to be read that way rather than taken for a stamp in the margin.
TURNED_SHARE = 0.2
SENSIBLE_TITLE = re.compile(r"^(?!microsoft |untitled|unbenannt|dokument\d|document\d).{3,300}$", re.IGNORECASE)
FILE_NAME = re.compile(r"\.(docx?|odt|tex|dvi|pdf|indd|rtf|pptx?|xml|html?)\s*$", re.IGNORECASE)


def check_file(file: BinaryIO, limits: Limits) -> None:
    """Check the first and last bytes of a file; raises BadPdf."""
    head = file.read(1024)
    size = file.seek(0, 2)
    if not size:
        raise BadPdf(_("the file is empty"))
    if b"%PDF-" not in head:
        raise BadPdf(_("it is not a PDF: it does not begin with %PDF-"))
    if size > limits.file_bytes:
        raise BadPdf(_("it has {count} bytes; {limit} are allowed"), count=size, limit=limits.file_bytes)
    file.seek(max(0, size - TAIL))
    tail = file.read()
    file.seek(0)
    if b"%%EOF" not in tail and b"startxref" not in tail:
        raise BadPdf(_("it is cut off: after {count} bytes it ends without the end of a PDF"), count=size)


@dataclass(frozen=True, slots=True)
class Opened:
    """A PDF, and its pages' numbers by the ids that pdfminer gives them."""

    pdf: PDF
    numbers: Mapping[object, int]


def open_pdf(file: BinaryIO, limits: Limits) -> Opened:
    """Open a PDF, with the empty password if it needs one; raises BadPdf."""
    check_file(file, limits)
    try:
        pdf = PDF.open(file)  # type: ignore[arg-type]
    except PdfminerException as error:
        raise _refusal(error.args[0] if error.args else error) from error
    count = resolve1((resolve1(pdf.doc.catalog.get("Pages")) or {}).get("Count"))
    if isinstance(count, int) and count > limits.pages:
        raise BadPdf(_("it has {count} pages; {limit} are allowed"), count=count, limit=limits.pages)
    numbers = {page.pageid: number for number, page in enumerate(_pages(pdf), start=1)}
    found = len(numbers)
    if found > limits.pages:
        raise BadPdf(_("it has {count} pages; {limit} are allowed"), count=found, limit=limits.pages)
    if not found:
        raise BadPdf(_("it is damaged: it has no pages that can be read"))
    if isinstance(count, int) and count > found:
        raise BadPdf(
            _("it is damaged: of {count} pages only {found} can be found"), page=found + 1, count=count, found=found
        )
    return Opened(pdf, numbers)


def _refusal(error: object) -> BadPdf:
    if isinstance(error, PDFPasswordIncorrect):
        return BadPdf(_("it is encrypted and opens with a password only: save it without one"))
    if isinstance(error, PDFEncryptionError):
        return BadPdf(_("it is encrypted in a way that cannot be opened: save it without encryption"))
    if isinstance(error, MemoryError):
        raise error
    return BadPdf(_("it is damaged and cannot be opened ({kind})"), kind=type(error).__name__)


def read_pages(
    opened: Opened, limits: Limits, recognised: Mapping[int, Sequence[ReadLine]] | None = None
) -> Iterator[Page]:
    """Yield the pages one by one; raises BadPdf. `recognised` is what OCR has read, by page."""
    for number, page in enumerate(_pages(opened.pdf), start=1):
        try:
            yield _page(PlumberPage(opened.pdf, page, number), number, limits, (recognised or {}).get(number))
        except (BadPdf, MemoryError):
            raise
        except RecursionError as error:
            raise BadPdf(_("it is nested too deeply"), page=number) from error
        except PdfminerException as error:
            if error.args and isinstance(error.args[0], MemoryError | RecursionError):
                raise error.args[0] from error
            raise BadPdf(_("it is damaged and cannot be read ({kind})"), page=number, kind=_kind(error)) from error
        except Exception as error:  # pdfminer raises whatever a damaged page leads it to
            raise BadPdf(_("it is damaged and cannot be read ({kind})"), page=number, kind=_kind(error)) from error


def _pages(pdf: PDF) -> Iterator[PDFPage]:
    """Yield the pages one by one: pdfplumber's list holds them all, with their content as it lies in the file."""
    for page in PDFPage.create_pages(pdf.doc):
        yield page
        _forget(pdf, page)


def _kind(error: BaseException) -> str:
    inner = error.args[0] if isinstance(error, PdfminerException) and error.args else error
    return type(inner).__name__


def _forget(pdf: PDF, page: PDFPage) -> None:
    """Drop the page, and what pdfminer keeps of every page it has seen: decoded streams, and objects out of them."""
    page.contents = []
    parsed = pdf.doc._parsed_objs
    while len(parsed) > PACKS:
        del parsed[next(iter(parsed))]
    for key, (value, _generation) in list(pdf.doc._cached_objs.items()):
        if isinstance(value, PDFStream) or key == page.pageid:
            del pdf.doc._cached_objs[key]


def _page(page: PlumberPage, number: int, limits: Limits, read: Sequence[ReadLine] | None) -> Page:
    check_content(page, number)
    raw: list[LTChar] = []
    rules: list[Rule] = []
    pictures: list[LTImage] = []
    left, above = float(page.mediabox[0]), float(page.height + page.mediabox[1])
    for thing in _things(page_layout(page)):
        if isinstance(thing, LTChar):
            raw.append(thing)
        elif isinstance(thing, LTCurve):
            rules += _rules(thing, left, above)
        elif isinstance(thing, LTImage):
            pictures.append(thing)
    if len(raw) > limits.page_characters:
        raise BadPdf(
            _("it has {count} characters; {limit} are allowed"),
            page=number,
            count=len(raw),
            limit=limits.page_characters,
        )
    width, height = float(page.width), float(page.height)
    chars, unmapped = _upright(raw, width, height, left, above)
    found = Page(number, width, height, unmapped=unmapped, is_recognised=read is not None)
    measure_pictures(found, [clip_picture(picture, width, height, left, above) for picture in pictures], chars)
    _compose(found, chars, rules, read or ())
    return found


def page_read(read: Sequence[ReadLine] | None, *, width: float, height: float) -> Page:
    """Return the page that is one picture, with what OCR has read on it; None if that is still to come."""
    found = Page(1, width, height, pictures=1.0, is_recognised=read is not None)
    _compose(found, [], [], read or ())
    return found


def _compose(page: Page, chars: list[Char], rules: Sequence[Rule], read: Sequence[ReadLine]) -> None:
    placed = place_lines(read, width=page.width, height=page.height, beside=chars)
    tables, lines = read_columns(placed, number=page.number)
    page.characters = sum(not char.text.isspace() for char in [*chars, *characters_read(placed)])
    boxes, rest = find_tables([*chars, *characters_read(lines)], rules, number=page.number)
    page.elements = aligned(arrange_lines(rest, [*boxes, *tables], number=page.number))


def _things(container: LTContainer[Any]) -> Iterator[LTComponent]:
    """Yield what is drawn on a page, and in the forms that it shows."""
    for thing in container:
        if isinstance(thing, LTContainer):
            yield from _things(thing)
        else:
            yield thing


def _rules(curve: LTCurve, left: float, above: float) -> Iterator[Rule]:
    """Yield the straight lines of a drawn path; a thin rectangle is one line."""
    if isinstance(curve, LTRect):
        x0, x1, top, bottom = curve.x0 + left, curve.x1 + left, above - curve.y1, above - curve.y0
        if min(x1 - x0, bottom - top) <= THIN:
            yield Rule(x0, x1, top, bottom)
        else:
            yield from (Rule(x0, x1, top, top), Rule(x0, x1, bottom, bottom))
            yield from (Rule(x0, x0, top, bottom), Rule(x1, x1, top, bottom))
        return
    for (x0, y0), (x1, y1) in pairwise(curve.pts):
        if (x0 == x1) != (y0 == y1):
            yield Rule(min(x0, x1) + left, max(x0, x1) + left, above - max(y0, y1), above - min(y0, y1))


def _upright(raw: list[LTChar], width: float, height: float, left: float, above: float) -> tuple[list[Char], int]:
    """Return the page's characters, turned if most of them stand on their side, and how many have no known letter."""
    ways: dict[str, list[Char]] = {"up": [], "left": [], "right": []}
    unmapped = 0
    for char in raw:
        text = char.get_text()
        text = BULLETS.get(text, text)
        if len(text) > 1 and UNMAPPED.fullmatch(text):
            unmapped += 1
            continue
        start, end = _ends(char)
        x0, x1, top, bottom = start + left, end + left, above - char.y1, above - char.y0
        if x1 < 0 or x0 > width or bottom < 0 or top > height:
            continue
        font = char.fontname if isinstance(char.fontname, str) else bytes(char.fontname).decode("latin-1")
        if char.upright:
            ways["up"].append(Char(text, x0, x1, top, bottom, above - char.matrix[5], char.size, font))
        elif char.matrix[1] > 0:
            turned = Char(text, height - bottom, height - top, x0, x1, x1, x1 - x0, font)
            ways["left"].append(turned)
        else:
            turned = Char(text, top, bottom, width - x1, width - x0, width - x0, x1 - x0, font)
            ways["right"].append(turned)
    main = max(ways, key=lambda way: len(ways[way]))
    if main == "up" or len(ways[main]) < TURNED_SHARE * len(raw):
        main = "up"
    return ways[main], unmapped


def _ends(char: LTChar) -> tuple[float, float]:
    """Return where a letter begins and ends on its baseline: the box of one that is slanted reaches over the next."""
    _a, b, c, d, _e, f = char.matrix
    if b or not c or not d:
        return char.x0, char.x1
    low, high = sorted((c / d * (char.y0 - f), c / d * (char.y1 - f)))
    return char.x0 - low, char.x1 - high


def read_bookmarks(opened: Opened) -> list[Bookmark]:
    """Read the outline, if it can be read; entries without a page are left out."""
    pdf = opened.pdf
    found: list[Bookmark] = []
    try:
        for level, title, dest, action, _se in pdf.doc.get_outlines():
            page = opened.numbers.get(_target(pdf, dest, action))
            if page and str(title).strip():
                found.append(Bookmark(" ".join(str(title).split()), level, page))
            if len(found) > 20_000:
                break
    except (PDFNoOutlines, RecursionError):
        return found
    except MemoryError:
        raise
    except Exception:  # an outline that is damaged is no reason to refuse the text
        return found
    return found


def _target(pdf: PDF, dest: Any, action: Any) -> object:
    """Return the id of the page that a bookmark opens."""
    if not dest and action:
        resolved = resolve1(action)
        dest = resolved.get("D") if isinstance(resolved, dict) else None
    dest = resolve1(dest)
    if isinstance(dest, PSLiteral | PSKeyword):
        dest = dest.name
    if isinstance(dest, bytes | str):
        dest = resolve1(pdf.doc.get_dest(dest))
    if isinstance(dest, dict):
        dest = resolve1(dest.get("D"))
    if isinstance(dest, list) and dest and isinstance(dest[0], PDFObjRef):
        return dest[0].objid
    return None


def stated_title(opened: Opened) -> str:
    """Read the title in the file's metadata, if it is a sensible one."""
    raw = opened.pdf.metadata.get("Title")
    title = " ".join((decode_text(raw) if isinstance(raw, bytes) else str(raw or "")).replace("\x00", "").split())
    return title if SENSIBLE_TITLE.match(title) and not FILE_NAME.search(title) else ""
