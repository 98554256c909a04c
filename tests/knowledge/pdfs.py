"""Small PDFs, made as tests need them."""

import io
import zlib
from collections.abc import Callable, Sequence
from typing import Any

from reportlab.lib import colors
from reportlab.lib.pagesizes import A4
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Table, TableStyle

WIDTH, HEIGHT = A4
LEFT, RIGHT, TOP = 70, WIDTH - 70, HEIGHT - 90
BODY, BOLD = "Helvetica", "Helvetica-Bold"
THINGS = ("application", "essay", "report", "thesis", "form", "letter", "note", "plan", "draft", "paper")
#: 40 sentences, no two of them alike.
PROSE = [
    f"Rule {number}: a student of group {number} hands in the {THINGS[(number - 1) % 10]} of the term to the office "
    f"in room {number * 7}."
    for number in range(1, 41)
]


class Sheet:
    """A page on which text goes down from the top."""

    def __init__(self, canvas: Canvas, *, x: float = LEFT, width: float = RIGHT - LEFT, y: float = TOP) -> None:
        self.canvas, self.x, self.width, self.y = canvas, x, width, y

    def line(self, text: str, *, size: float = 10, font: str = BODY, indent: float = 0, above: float = 0) -> None:
        self.y -= size * 1.25 + above
        self.canvas.setFont(font, size)
        self.canvas.drawString(self.x + indent, self.y, text)

    def heading(self, text: str, *, size: float = 14, bookmark: int | None = None) -> None:
        """Draw a heading; `bookmark` is the level in the outline, from 0."""
        self.line(text, size=size, font=BOLD, above=size)
        if bookmark is not None:
            self.canvas.bookmarkHorizontal(text, 0, self.y + size)
            self.canvas.addOutlineEntry(text, text, level=bookmark)
        self.y -= size * 0.4

    def paragraph(self, text: str, *, size: float = 10, above: float = 6) -> None:
        """Draw a paragraph, wrapped at the width, without hyphens."""
        rest, first = text.split(), True
        while rest:
            count = 1
            while count < len(rest):
                if self.canvas.stringWidth(" ".join(rest[: count + 1]), BODY, size) > self.width:
                    break
                count += 1
            self.line(" ".join(rest[:count]), size=size, above=above if first else 0)
            rest, first = rest[count:], False

    def table(self, rows: Sequence[Sequence[str]], *, widths: Sequence[float], bold_header: bool = True) -> None:
        style: list[Any] = [("GRID", (0, 0), (-1, -1), 0.5, colors.black), ("FONTSIZE", (0, 0), (-1, -1), 9)]
        if bold_header:
            style.append(("FONTNAME", (0, 0), (-1, 0), BOLD))
        table = Table([list(row) for row in rows], colWidths=list(widths), style=TableStyle(style))
        _width, height = table.wrapOn(self.canvas, self.width, self.y)
        self.y -= height + 8
        table.drawOn(self.canvas, self.x, self.y)


def pdf(*pages: Callable[[Sheet], None], title: str = "", password: str | None = None, owner: str = "x") -> bytes:
    """Make a page for each function; `password` "" encrypts it so that everybody can open it."""
    out = io.BytesIO()
    encryption = None if password is None else StandardEncryption(password, ownerPassword=owner, strength=128)
    canvas = Canvas(out, pagesize=A4, invariant=1, encrypt=encryption)
    if title:
        canvas.setTitle(title)
    for page in pages:
        page(Sheet(canvas))
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def text_pages(*texts: str) -> list[Callable[[Sheet], None]]:
    def page(text: str) -> Callable[[Sheet], None]:
        return lambda sheet: sheet.paragraph(text)

    return [page(text) for text in texts]


def handbook(pages: int = 6) -> bytes:
    """Make pages with a running header, a page number, and a numbered section with a subsection each."""

    def page(number: int) -> Callable[[Sheet], None]:
        def draw(sheet: Sheet) -> None:
            sheet.canvas.setFont(BODY, 8)
            sheet.canvas.drawString(LEFT, HEIGHT - 50, "Handbook of the Faculty of Letters")
            sheet.canvas.drawRightString(RIGHT, HEIGHT - 50, f"Issue 2026, sheet {number}")
            sheet.canvas.drawCentredString(WIDTH / 2, 40, f"Page {number} of {pages}")
            if number == 1:
                sheet.line("Student Handbook", size=24, font=BOLD)
            sheet.heading(f"{number} Section of {WORDS[number - 1]}", size=16, bookmark=0)
            sheet.paragraph(" ".join(PROSE[number : number + 3]))
            sheet.heading(f"{number}.1 Details of {WORDS[number - 1]}", size=12, bookmark=1)
            sheet.paragraph(" ".join(PROSE[number + 6 : number + 9]))

        return draw

    return pdf(*[page(number) for number in range(1, pages + 1)])


WORDS = ("admission", "fees", "lectures", "exams", "theses", "degrees", "housing", "sports", "libraries", "canteens")


def scanned(pages: int = 3) -> bytes:
    """Make pages that are pictures."""
    from PIL import Image

    picture = Image.new("L", (60, 80), 240)
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    for _number in range(pages):
        canvas.drawImage(ImageReader(picture), 0, 0, WIDTH, HEIGHT)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def raw_pdf(
    content: bytes, *, extra: bytes = b"", count: int = 1, kids: bytes = b"3 0 R", more: Sequence[bytes] = ()
) -> bytes:
    """Write by hand a page with this stream object as its content; `more` objects are numbered from 6."""
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count " + str(count).encode() + b" >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 4 0 R "
        b"/Resources << /Font << /F1 5 0 R >> " + extra + b" >> >>",
        content,
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
        *more,
    ]
    out = b"%PDF-1.4\n"
    offsets = []
    for number, body in enumerate(objects, start=1):
        offsets.append(len(out))
        out += str(number).encode() + b" 0 obj\n" + body + b"\nendobj\n"
    start = len(out)
    out += b"xref\n0 " + str(len(objects) + 1).encode() + b"\n0000000000 65535 f \n"
    out += b"".join(f"{offset:010} 00000 n \n".encode() for offset in offsets)
    trailer = f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
    return out + trailer.encode()


def packed_pages(count: int, *, ballast: int) -> bytes:
    """Write by hand pages whose objects lie packed in streams, as Word and TeX do, and hold so many letters each."""
    content = zlib.compress(b"BT /F1 12 Tf 60 700 Td (Some words on a page) Tj ET")
    first, last = 5, 4 + 2 * count
    kids = b" ".join(f"{number} 0 R".encode() for number in range(first, last, 2))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [" + kids + b"] /Count " + str(count).encode() + b" >>",
        stream(content),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    places = [0, *([1] * len(objects))]
    for number in range(first, last, 2):
        page = b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R"
        page += b" /Resources << /Font << /F1 4 0 R >> >> /PieceInfo (" + b"-" * ballast + b") >>"
        head = f"{number} 0 ".encode()
        packed = zlib.compress(head + page)
        objects += [b"", stream(packed).replace(b"<<", f"<< /Type /ObjStm /N 1 /First {len(head)}".encode(), 1)]
        places += [2, 1]
    out, table = b"%PDF-1.5\n", b""
    for number, (place, body) in enumerate(zip(places, [b"", *objects], strict=True)):
        where = number + 1 if place == 2 else len(out)
        table += bytes([place]) + (where if place else 0).to_bytes(4, "big") + b"\0\0"
        out += f"{number} 0 obj\n".encode() + body + b"\nendobj\n" if place == 1 else b""
    start, size = len(out), len(places)
    table += bytes([1]) + start.to_bytes(4, "big") + b"\0\0"
    said = f"<< /Type /XRef /W [1 4 2] /Size {size + 1} /Root 1 0 R".encode()
    out += f"{size} 0 obj\n".encode() + stream(zlib.compress(table)).replace(b"<<", said, 1)
    return out + f"\nendobj\nstartxref\n{start}\n%%EOF\n".encode()


def stream(packed: bytes, filters: str = "/FlateDecode") -> bytes:
    return f"<< /Length {len(packed)} /Filter {filters} >>\nstream\n".encode() + packed + b"\nendstream"


def memory_bomb(times: int) -> bytes:
    """Make a stream that unpacks to gigabytes: packed twice, so that the file is small."""
    packer = zlib.compressobj(9)
    packed = b"".join(packer.compress(b" " * 10_000_000) for _ in range(times // 10_000_000)) + packer.flush()
    return raw_pdf(stream(zlib.compress(packed, 9), "[/FlateDecode /FlateDecode]"))


def time_bomb() -> bytes:
    """Make a small stream of drawing operations without an end."""
    return raw_pdf(stream(zlib.compress(b"BT /F1 10 Tf ET 0 0 1 1 re f " * 8_000_000, 9)))
