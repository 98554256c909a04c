"""Large pictures beside text, which nothing reads: staff are told of their pages."""

from collections.abc import Callable

import pytest
from PIL import Image
from reportlab.lib.utils import ImageReader

from tests.knowledge import scans
from tests.knowledge.ingest.pdf.test_reader import read
from tests.knowledge.pdfs import HEIGHT, PROSE, WIDTH, Sheet, pdf, text_pages

Draw = Callable[[Sheet], None]
PLAN = scans.photographed("Erstes Semester: Analysis, Lineare Algebra")
OTHER = scans.photographed("Zweites Semester: Stochastik")
TEXT = " ".join(PROSE[:4])


def beside(picture: Image.Image, *, share: float = 0.2, text: str = TEXT, strips: int = 1) -> Draw:
    """Return a page with text at its top and below it a picture of this share of the page."""

    def draw(sheet: Sheet) -> None:
        sheet.paragraph(text)
        height = HEIGHT * share / strips
        for strip in range(strips):
            rows = picture.height // strips
            part = picture.crop((0, strip * rows, picture.width, (strip + 1) * rows))
            sheet.canvas.drawImage(ImageReader(part), 0, 100 + height * (strips - 1 - strip), WIDTH, height)

    return draw


def remarks(*pages: Draw) -> list[str]:
    text = read(pdf(*pages))
    assert text.pictures == ()
    return list(map(str, text.warnings))


def test_a_large_picture_beside_text_is_told_of_with_its_page() -> None:
    said = remarks(*text_pages(PROSE[0] * 3), beside(PLAN), beside(PLAN, share=0.1))
    assert said == ["on 1 of 3 pages a picture beside the text was not read: 2"]


def test_strips_of_one_picture_are_one() -> None:
    assert remarks(beside(PLAN, strips=4)) == ["on 1 of 1 pages a picture beside the text was not read: 1"]


def test_other_pictures_in_the_same_place_are_no_logo() -> None:
    pages = [beside(picture, text=text) for picture, text in ((PLAN, PROSE[5] * 3), (OTHER, PROSE[6] * 3))]
    assert remarks(*pages) == ["on 2 of 2 pages a picture beside the text was not read: 1, 2"]


def worded(sheet: Sheet) -> None:
    sheet.canvas.drawImage(ImageReader(PLAN), 0, HEIGHT / 2, WIDTH, HEIGHT / 2)
    sheet.paragraph(TEXT)


@pytest.mark.parametrize(
    "pages",
    [
        [beside(PLAN, text=PROSE[number] * 3) for number in range(3)],
        [worded],
        [beside(PLAN, share=0.1)],
        [beside(Image.new("L", (9, 9)))],
    ],
    ids=["logo on most pages", "backdrop of words", "small", "single colour"],
)
def test_logos_backdrops_and_ornaments_are_not_told_of(pages: list[Draw]) -> None:
    assert remarks(*pages) == []
