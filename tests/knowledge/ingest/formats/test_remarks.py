"""What staff are told of a file of an office program that was read and is not whole."""

import io
from collections.abc import Callable

import docx
import openpyxl
import pytest
from docx.shared import Cm
from openpyxl.drawing.image import Image as SheetPicture
from PIL import Image

from tests.knowledge import offices
from tests.knowledge.ingest.formats.test_office import read

Make = Callable[[float, float], bytes]


def picture() -> io.BytesIO:
    buffer = io.BytesIO()
    Image.new("L", (300, 200)).save(buffer, "PNG")
    buffer.seek(0)
    return buffer


def word(width: float, height: float) -> bytes:
    document = docx.Document()
    document.add_paragraph("Wer sich anmeldet, muss eingeschrieben sein.")
    document.add_picture(picture(), width=Cm(width), height=Cm(height))
    document.sections[0].header.paragraphs[0].add_run().add_picture(picture(), width=Cm(18), height=Cm(8))
    return offices.saved(document)


def word_of_2003(width: float, height: float) -> bytes:
    vml = (
        "<w:p><w:r><w:pict xmlns:v='urn:schemas-microsoft-com:vml'><v:shape"
        f" style='width:{width / 2.54:.1f}in;height:{height / 2.54:.1f}in'><v:imagedata/></v:shape></w:pict>"
        "</w:r></w:p>"
    )
    space = "xmlns:w='http://schemas.openxmlformats.org/wordprocessingml/2006/main'"
    body = f"<w:document {space}><w:body><w:p><w:r><w:t>Anmeldung</w:t></w:r></w:p>{vml}</w:body></w:document>"
    return offices.with_part(offices.word(), "word/document.xml", body.encode())


def open_text(width: float, height: float) -> bytes:
    frame = f'<draw:frame svg:width="{width}cm" svg:height="{height}cm"><draw:image xlink:href="Pictures/a.png"/>'
    chart = frame.replace("<draw:image", '<draw:object xlink:href="./Object 1"/><draw:image')
    words = "<text:p>Geöffnet von 11 bis 14 Uhr.</text:p>"
    return offices.open_text(f"{words}<text:p>{frame}</draw:frame>{chart}</draw:frame></text:p>")


def workbook(width: float, height: float) -> bytes:
    book = openpyxl.Workbook()
    book.active.append(["Modul", "Tag"])
    drawn = SheetPicture(picture())
    drawn.width, drawn.height = width / 2.54 * 96, height / 2.54 * 96
    book.active.add_image(drawn, "B3")
    return offices.saved(book)


@pytest.mark.parametrize(
    ("make", "name"),
    [(word, "a.docx"), (word_of_2003, "a.docx"), (open_text, "a.odt"), (workbook, "a.xlsx")],
)
def test_a_large_picture_in_a_file_is_told_of(make: Make, name: str) -> None:
    expected = "large pictures in it were not read (1): if they show what students need, write it as text"
    assert [str(said) for said in read(make(16, 8), name).warnings] == [expected]
    assert read(make(3, 3), name).warnings == ()


def test_formulas_whose_results_no_program_has_stored_are_counted() -> None:
    book = openpyxl.Workbook()
    for line in (["Modul", "ECTS"], ["Analysis", 9], ["Algebra", 6], ["Summe", "=SUM(B2:B3)"], ["Mittel", "=B4/2"]):
        book.active.append(line)
    text = read(offices.saved(book), "a.xlsx")
    assert "| Summe |  |" in text.markdown
    assert [str(said) for said in text.warnings] == [
        "2 cells have a formula without a stored result: open and save the file in a spreadsheet program"
    ]


@pytest.mark.parametrize("cell", ["<c><f>1+14</f><v>15</v></c>", "<c t='str'><f>IF(1,\"\",2)</f><v></v></c>"])
def test_formulas_with_a_stored_result_are_read_without_a_remark(cell: str) -> None:
    space = "xmlns='http://schemas.openxmlformats.org/spreadsheetml/2006/main'"
    name = "<c t='inlineStr'><is><t>Summe</t></is></c>"
    sheet = f"<worksheet {space}><sheetData><row>{name}{cell}</row></sheetData></worksheet>"
    book = openpyxl.Workbook()
    text = read(offices.with_part(offices.saved(book), "xl/worksheets/sheet1.xml", sheet.encode()), "a.xlsx")
    assert text.warnings == ()
