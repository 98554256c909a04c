"""Pages of German text as a scanner leaves them: set, photographed askew, blurred, noisy, as JPEG; seeded."""

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
import pypdfium2
from PIL import Image, ImageFilter
from reportlab.lib.enums import TA_JUSTIFY, TA_LEFT
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import ParagraphStyle
from reportlab.lib.utils import ImageReader
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.ttfonts import TTFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph

ROOT = Path(__file__).resolve().parents[1]
#: Written for this project.
DEMO = sorted((ROOT / "marcelcms" / "demo" / "pages").glob("de-*.md"))
GUIDE = ROOT / "docs" / "staff-guide.de.md"
FONTS = ("Helvetica", "Times-Roman", "Vera", "Helvetica", "Times-Roman")
LINK = re.compile(r"\[([^\]]+)\]\([^)]*\)")
MARKS = re.compile(r"^(?:#{1,6} |> |[-*] |\d+\. |!!! \w+ ?)|\*\*|`|(?<!\w)_|_(?!\w)")
WIDTH, HEIGHT = A4
MARGIN, GUTTER = 62.0, 24.0


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """`text` is what was set on it; `columns` are one or two."""

    text: str
    picture: bytes  # JPEG
    dpi: int
    columns: int
    font: str


def make_pages(count: int = 20, *, seed: int = 2026) -> Iterator[ScannedPage]:
    chance = Random(seed)
    for index, paragraphs in zip(range(count), _texts(), strict=False):
        columns = 2 if index % 5 == 4 else 1
        font = FONTS[index % len(FONTS)]
        document, said = set_page(paragraphs, font=font, columns=columns, size=chance.choice((10, 10.5, 11)))
        dpi = chance.choice((150, 175, 200))
        yield ScannedPage(said, degrade(render(document, dpi), chance), dpi, columns, font)


def _texts() -> Iterator[list[str]]:
    """Yield paragraphs for one page after another: the demo's German pages, then the guide's."""
    for path in DEMO:
        yield _paragraphs(path.read_text().partition("\n\n")[2])
    rest = _paragraphs(GUIDE.read_text())
    while rest:
        page: list[str] = []
        while rest and sum(map(len, page)) < 2_300:
            page.append(rest.pop(0))
        yield page


def _paragraphs(markdown: str) -> list[str]:
    """Return the paragraphs, without marks and tables."""
    found, text = [], ""
    for line in [*markdown.splitlines(), ""]:
        is_new = not line.strip() or line.startswith(("#", "- ", "* ", "|", "<")) or re.match(r"\d+\. ", line)
        if is_new and text:
            found.append(text)
            text = ""
        if line.strip() and not line.startswith(("|", "<", "```", "![")):
            said = MARKS.sub("", LINK.sub(r"\1", line.strip()))
            text = f"{text} {said}".strip()
    return found


def set_page(paragraphs: Sequence[str], *, font: str, columns: int, size: float) -> tuple[bytes, str]:
    """Set as many paragraphs as go on a page; return its PDF and what stands on it."""
    if font == "Vera" and font not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont("Vera", "Vera.ttf"))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    style = ParagraphStyle(
        "body",
        fontName=font,
        fontSize=size,
        leading=size * 1.3,
        spaceAfter=size * 0.5,
        alignment=TA_JUSTIFY if columns == 2 else TA_LEFT,
    )
    width = (WIDTH - 2 * MARGIN - (columns - 1) * GUTTER) / columns
    column, y, said = 0, HEIGHT - MARGIN, []
    for text in paragraphs:
        paragraph = Paragraph(text.replace("&", "&amp;").replace("<", "&lt;"), style)
        _width, height = paragraph.wrap(width, HEIGHT)
        if y - height < MARGIN:
            column, y = column + 1, HEIGHT - MARGIN
            if column == columns:
                break
        paragraph.drawOn(canvas, MARGIN + column * (width + GUTTER), y - height)
        y -= height + style.spaceAfter
        said.append(text)
    canvas.showPage()
    canvas.save()
    return out.getvalue(), "\n".join(said)


def render(document: bytes, dpi: int) -> Image.Image:
    page = pypdfium2.PdfDocument(document)[0]
    return page.render(scale=dpi / 72, grayscale=True).to_pil().convert("L")


def degrade(picture: Image.Image, chance: Random) -> bytes:
    """Turn by up to 1.5 degrees, blur, darken one side, add noise and grey paper, and press to JPEG."""
    turned = picture.rotate(chance.uniform(-1.5, 1.5), resample=Image.Resampling.BICUBIC, fillcolor=255)
    blurred = turned.filter(ImageFilter.GaussianBlur(chance.uniform(0.5, 0.9)))
    noise = np.random.default_rng(chance.randrange(2**32))
    values = np.asarray(blurred, dtype=np.float32)
    values = 30 + values * (225 - 30) / 255  # ink is not black, paper not white
    values *= np.linspace(1, chance.uniform(0.85, 1), values.shape[1])[None, :]
    values += noise.normal(0, chance.uniform(5, 12), values.shape)
    out = io.BytesIO()
    scanned = Image.fromarray(np.clip(values, 0, 255).astype(np.uint8))
    scanned.save(out, "JPEG", quality=chance.randint(45, 75))
    return out.getvalue()


def as_pdf(pictures: Sequence[bytes]) -> bytes:
    """Make a PDF of a picture a page."""
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=A4, invariant=1)
    for picture in pictures:
        canvas.drawImage(ImageReader(io.BytesIO(picture)), 0, 0, WIDTH, HEIGHT)
        canvas.showPage()
    canvas.save()
    return out.getvalue()
