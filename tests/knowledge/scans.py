"""PDFs whose pages are pictures: readable ones, and ones that mean harm."""

import io
import zlib
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path

import pypdfium2
import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader

from knowledge.ingest.formats.types import Said
from knowledge.ingest.ocr.types import PageRead, ReadLine
from tests.knowledge import pdfs
from tests.knowledge.pdfs import HEIGHT, WIDTH, Sheet

GERMAN = (
    "Die Prüfungsanmeldung für Übungen beginnt am 12. Mai um 9:30 Uhr.",
    "Wer die Frist versäumt, schreibt dem Prüfungsamt in der Größestraße 7.",
)


def remove_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the extra missing, as after a usual installation."""
    for module in ("ingest.file_importer", "ingest.pictures", "ingest.crawl_jobs.runs", "admin.uploads"):
        monkeypatch.setattr(f"knowledge.{module}.is_installed", lambda: False)
    monkeypatch.setattr("knowledge.ingest.ocr.reader.find_spec", lambda _name: None)


def photographed(*lines: str, turned: float = 0.0) -> Image.Image:
    """Return a slip of paper with these lines as a picture, turned by so many degrees."""

    def draw(sheet: Sheet) -> None:
        for line in lines:
            sheet.line(line, size=13, above=10)

    page = pypdfium2.PdfDocument(pdfs.pdf(draw))[0]
    picture = page.render(scale=2, grayscale=True).to_pil().convert("L").crop((0, 130, 1190, 430))
    return picture.rotate(turned, expand=turned % 90 == 0, resample=Image.Resampling.BICUBIC, fillcolor=255)


def file_of(picture: Image.Image, kind: str = "PNG") -> bytes:
    """Return a picture as a file."""
    file = io.BytesIO()
    picture.save(file, kind)
    return file.getvalue()


def photograph() -> Image.Image:
    """Return what has no ground of one shade."""
    return Image.radial_gradient("L").resize((640, 480))


def picture_page(picture: Image.Image, heading: str = "") -> Callable[[Sheet], None]:
    """Return a page that is filled by the picture, below a heading."""

    def draw(sheet: Sheet) -> None:
        if heading:
            sheet.heading(heading)
        sheet.canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT - 140 if heading else HEIGHT)

    return draw


def slip(picture: Image.Image) -> Callable[[Sheet], None]:
    """Return a page as large as the picture, which is all that is on it."""

    def draw(sheet: Sheet) -> None:
        width, height = picture.width / 2, picture.height / 2
        sheet.canvas.setPageSize((width, height))
        sheet.canvas.drawImage(ImageReader(picture), 0, 0, width, height)

    return draw


def one_picture(data: bytes, width: int, height: int, *, filters: str = "/FlateDecode", bits: int = 8) -> bytes:
    """Return a PDF of one page, which is this picture as it is."""
    head = (
        f"<< /Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray "
        f"/BitsPerComponent {bits} /Filter {filters} /Length {len(data)} >>"
    )
    drawn = b"q 595 0 0 842 0 0 cm /I Do Q"
    content = pdfs.stream(zlib.compress(drawn))
    extra = b"/XObject << /I 6 0 R >>"
    return pdfs.raw_pdf(content, extra=extra, more=[head.encode() + b"\nstream\n" + data + b"\nendstream"])


def bomb(side: int = 50_000) -> bytes:
    """Return a picture of gigabytes in a file of kilobytes."""
    packer = zlib.compressobj(9)
    row = b"\x80" * side
    packed = b"".join(packer.compress(row) for _row in range(side // 10)) + packer.flush()
    return one_picture(packed, side, side)


def broken() -> bytes:
    """Return what calls itself a JPEG."""
    return one_picture(b"no picture at all " * 40, 1190, 1684, filters="/DCTDecode")


# --- what OCR reads ---


def boxes(lines: Sequence[str], *, x: float = 0.12, width: float = 0.7, top: float = 0.3) -> list[ReadLine]:
    return [
        ReadLine(line, x, top + 0.02 * index, x + width, top + 0.02 * index + 0.016) for index, line in enumerate(lines)
    ]


class Reader:
    """Stands in for the process that reads; counts what it was asked for."""

    def __init__(self, **by_page: Sequence[ReadLine] | Said) -> None:
        self.by_page = {int(name[1:]): value for name, value in by_page.items()}
        self.asked: list[int] = []

    def __call__(self, _path: Path, pages: Iterable[int]) -> Generator[PageRead]:
        for page in pages:
            self.asked.append(page)
            value = self.by_page.get(page, ())
            yield PageRead(page, problem=value) if isinstance(value, Said) else PageRead(page, value)
