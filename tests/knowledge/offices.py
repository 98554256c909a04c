"""Office files as their programs make them, and as nobody should."""

import io
import struct
from collections.abc import Mapping
from functools import cache
from zipfile import ZIP_DEFLATED, ZipFile

import docx
import openpyxl
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from pptx import Presentation
from pptx.util import Inches

ODT = "application/vnd.oasis.opendocument.text"


def word(title: str = "Prüfungsordnung Biologie") -> bytes:
    """Make a regulation: numbered headings, a list, a table with a merged cell."""
    document = docx.Document()
    document.core_properties.title = "Word-Dokument"
    document.add_paragraph(title, style="Title")
    number_headings(document)
    document.add_heading("Geltungsbereich", 1)
    document.add_paragraph("Diese Ordnung gilt für alle Studierenden der Biologie an unserer Universität.")
    document.add_heading("Anmeldung zur Prüfung", 1)
    document.add_paragraph("Wer sich anmeldet, muss eingeschrieben sein und die Frist einhalten.")
    document.add_paragraph("Personalausweis", style="List Bullet")
    document.add_paragraph("Immatrikulationsbescheinigung", style="List Bullet")
    table = document.add_table(rows=3, cols=3)
    for row, said in zip(
        table.rows, (("Modul", "Art", "ECTS"), ("Zoologie", "Klausur", "6"), ("", "Bericht", "3")), strict=True
    ):
        for cell, text in zip(row.cells, said, strict=True):
            cell.text = text
    table.cell(1, 0).merge(table.cell(2, 0))
    return saved(document)


def number_headings(document: docx.document.Document) -> None:
    """Have Word write § 1, § 2 before the headings, as regulations do; the numbers are in no text."""
    numbering = document.part.numbering_part.element
    abstract = OxmlElement("w:abstractNum")
    abstract.set(qn("w:abstractNumId"), "77")
    level = OxmlElement("w:lvl")
    level.set(qn("w:ilvl"), "0")
    for name, value in (("start", "1"), ("numFmt", "decimal"), ("lvlText", "§ %1")):
        part = OxmlElement(f"w:{name}")
        part.set(qn("w:val"), value)
        level.append(part)
    abstract.append(level)
    numbering.insert(0, abstract)
    number = OxmlElement("w:num")
    number.set(qn("w:numId"), "77")
    to = OxmlElement("w:abstractNumId")
    to.set(qn("w:val"), "77")
    number.append(to)
    numbering.append(number)
    properties = document.styles["Heading 1"].element.get_or_add_pPr()
    listed = OxmlElement("w:numPr")
    of = OxmlElement("w:numId")
    of.set(qn("w:val"), "77")
    listed.append(of)
    properties.append(listed)


def slides() -> bytes:
    presentation = Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[0])
    slide.shapes.title.text = "Einführung in das Studium"
    slide.placeholders[1].text = "Fachschaft Informatik"
    slide = presentation.slides.add_slide(presentation.slide_layouts[1])
    slide.shapes.title.text = "Anmeldung"
    frame = slide.placeholders[1].text_frame
    frame.text = "Im Portal bis zum 15. Januar"
    deeper = frame.add_paragraph()
    deeper.text, deeper.level = "danach nur mit Antrag", 1
    slide.notes_slide.notes_text_frame.text = "Nicht vergessen: lauter sprechen"
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Termine"
    table = slide.shapes.add_table(2, 2, Inches(1), Inches(2), Inches(6), Inches(1)).table
    for place, text in {(0, 0): "Klausur", (0, 1): "Datum", (1, 0): "Analysis", (1, 1): "3. Februar"}.items():
        table.cell(*place).text = text
    hidden = presentation.slides.add_slide(presentation.slide_layouts[5])
    hidden.shapes.title.text = "Reserve"
    hidden._element.set("show", "0")
    return saved(presentation)


def workbook() -> bytes:
    book = openpyxl.Workbook()
    sheet = book.active
    sheet.title = "Prüfungstermine"
    for line in (["Termine im Winter"], [], ["Modul", "Tag", "Anteil"], ["Analysis", "3. Februar", 0.25]):
        sheet.append(line)
    sheet["C4"].number_format = "0%"
    times = book.create_sheet("Öffnungszeiten")
    for line in (["Ort", "Tag", "Zeit"], ["Bibliothek", "Montag", "8 bis 20 Uhr"], [None, "Samstag", "10 bis 16 Uhr"]):
        times.append(line)
    times.merge_cells("A2:A3")
    book.create_sheet("intern").sheet_state = "hidden"
    book["intern"].append(["Passwort des Sekretariats"])
    return saved(book)


def open_text(content: str = "", more: Mapping[str, str] | None = None) -> bytes:
    content = content or (
        '<text:h text:outline-level="1">Mensa</text:h><text:p>Geöffnet <text:a xlink:href="https://a.example/x">'
        "hier</text:a> von 11 bis 14 Uhr.</text:p>"
        '<text:list text:style-name="N"><text:list-item><text:p>Karte kaufen</text:p></text:list-item>'
        "<text:list-item><text:p>Essen holen</text:p></text:list-item></text:list>"
        "<table:table><table:table-row><table:table-cell><text:p>Gericht</text:p></table:table-cell><table:table-cell>"
        "<text:p>Preis</text:p></table:table-cell></table:table-row><table:table-row><table:table-cell><text:p>Suppe"
        "</text:p></table:table-cell><table:table-cell><text:p>2,10 €</text:p></table:table-cell></table:table-row>"
        "</table:table>"
    )
    names = "".join(
        f' xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"' for name in ("office", "text", "table")
    )
    names += ' xmlns:xlink="http://www.w3.org/1999/xlink" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0"'
    names += ' xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0"'
    names += ' xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0"'
    listed = (
        '<office:automatic-styles><text:list-style style:name="N"><text:list-level-style-number text:level="1"'
        ' style:num-format="1"/></text:list-style></office:automatic-styles>'
    )
    document = (
        f"<office:document-content{names}>{listed}<office:body><office:text>{content}</office:text></office:body>"
        "</office:document-content>"
    )
    return zipped({"mimetype": ODT, "content.xml": document, **(more or {})})


def rich_text() -> bytes:
    return (
        rb"{\rtf1\ansi\ansicpg1252{\info{\title Merkblatt Beurlaubung}}{\stylesheet{\s1\outlinelevel0 heading 1;}}"
        rb"\pard\plain\s1\outlinelevel0 Urlaubssemester\par\pard\plain Antr\'e4ge bis \u8222?Ende\u8220? September.\par"
        rb"\trowd\cellx3000\cellx6000\pard\intbl Grund\cell Nachweis\cell\row"
        rb"\trowd\cellx3000\cellx6000\pard\intbl Krankheit\cell Attest\cell\row\pard Ende\par}"
    )


# --- hostile ones ---


def zipped(parts: Mapping[str, str | bytes]) -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return buffer.getvalue()


def with_part(source: bytes, name: str, content: bytes) -> bytes:
    """Add a part to an office file, or replace it."""
    with ZipFile(io.BytesIO(source)) as archive:
        parts = {each: archive.read(each) for each in archive.namelist()}
    return zipped({**parts, name: content})


@cache
def bomb(size: int) -> bytes:
    return with_part(word(), "word/media/picture.xml", b"\0" * size)


@cache
def long_list(rows: int) -> bytes:
    """Make a workbook of many rows, faster than openpyxl does."""
    line = b'<row><c t="inlineStr"><is><t>Modul</t></is></c><c><v>5</v></c></row>'
    space = b'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
    sheet = b"<worksheet " + space + b"><sheetData>" + line * rows + b"</sheetData></worksheet>"
    return with_part(workbook(), "xl/worksheets/sheet1.xml", sheet)


def encrypted() -> bytes:
    """Make the beginning of a compound file as Office writes it for a password."""
    return (
        bytes.fromhex("d0cf11e0a1b11ae1")
        + bytes(504)
        + struct.pack("<H", 0)
        + "EncryptedPackage".encode("utf-16-le")
        + bytes(400)
    )


def linked(source: bytes = b"", name: str = "word/_rels/settings.xml.rels") -> bytes:
    """Make a file with a template from elsewhere, as an attack or a department's server."""
    relations = (
        b'<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1"'
        b' Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/attachedTemplate"'
        b' Target="http://templates.example/t.dotm" TargetMode="External"/></Relationships>'
    )
    return with_part(source or word(), name, relations)


def saved(made: object) -> bytes:
    buffer = io.BytesIO()
    made.save(buffer)  # type: ignore[attr-defined]
    return buffer.getvalue()
