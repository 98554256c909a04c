"""Office files as Markdown, and what is said of those that become none."""

from collections.abc import Callable

import pytest

from knowledge.ingest.formats.reader import read_file
from knowledge.ingest.formats.registry import FORMATS, find_format, format_served
from knowledge.ingest.formats.types import BadFile, FileText, Limits
from tests.knowledge import offices, pdfs


def read(source: bytes, name: str, **limits: int) -> FileText:
    return read_file(source, kind=find_format(name), name=name, limits=Limits(**limits))


def reason(source: bytes, name: str, **limits: int) -> str:
    with pytest.raises(BadFile) as bad:
        read(source, name, **limits)
    return str(bad.value)


def test_a_regulation_keeps_its_paragraph_signs_lists_and_tables() -> None:
    text = read(offices.word(), "po.docx")
    assert (text.title, text.language) == ("Prüfungsordnung Biologie", "de")
    assert text.markdown == (
        "# Prüfungsordnung Biologie\n\n# § 1 Geltungsbereich\n\n"
        "Diese Ordnung gilt für alle Studierenden der Biologie an unserer Universität.\n\n"
        "# § 2 Anmeldung zur Prüfung\n\n"
        "Wer sich anmeldet, muss eingeschrieben sein und die Frist einhalten.\n\n"
        "* Personalausweis\n* Immatrikulationsbescheinigung\n\n"
        "| Modul | Art | ECTS |\n| --- | --- | --- |\n| Zoologie | Klausur | 6 |\n| Zoologie | Bericht | 3 |\n"
    )


def test_slides_stand_under_their_numbers_without_notes_and_hidden_ones() -> None:
    text = read(offices.slides(), "a.pptx")
    assert (text.title, text.pages) == ("Einführung in das Studium", 4)
    assert text.markdown == (
        "## Folie 1: Einführung in das Studium\n\nFachschaft Informatik\n\n"
        "## Folie 2: Anmeldung\n\n* Im Portal bis zum 15. Januar\n  * danach nur mit Antrag\n\n"
        "## Folie 3: Termine\n\n| Klausur | Datum |\n| --- | --- |\n| Analysis | 3. Februar |\n"
    )


def test_sheets_stand_under_their_names_and_hidden_ones_are_told_of() -> None:
    text = read(offices.workbook(), "a.xlsx")
    assert [str(said) for said in text.warnings] == ["hidden sheets were left out: intern"]
    assert text.markdown == (
        "## Prüfungstermine\n\nTermine im Winter\n\n"
        "| Modul | Tag | Anteil |\n| --- | --- | --- |\n| Analysis | 3. Februar | 25 % |\n\n"
        "## Öffnungszeiten\n\n| Ort | Tag | Zeit |\n| --- | --- | --- |\n| Bibliothek | Montag | 8 bis 20 Uhr |\n"
        "| Bibliothek | Samstag | 10 bis 16 Uhr |\n"
    )


def test_an_open_document_keeps_links_and_numbered_lists() -> None:
    text = read(offices.open_text(), "a.odt")
    assert text.title == "Mensa"
    assert text.references == (("hier", "https://a.example/x"),)
    assert text.markdown == (
        "# Mensa\n\nGeöffnet [hier][1] von 11 bis 14 Uhr.\n\n1. Karte kaufen\n2. Essen holen\n\n"
        "| Gericht | Preis |\n| --- | --- |\n| Suppe | 2,10 € |\n"
    )


def test_rich_text_keeps_headings_and_cells() -> None:
    text = read(offices.rich_text(), "a.rtf")
    assert text.title == "Urlaubssemester"
    assert text.markdown == (
        "# Urlaubssemester\n\nAnträge bis „Ende“ September.\n\n"
        "| Grund | Nachweis |\n| --- | --- |\n| Krankheit | Attest |\n\nEnde\n"
    )


def test_numbers_of_rich_text_that_count_from_one_are_a_list() -> None:
    lines = ("1. Karte kaufen", "2. Essen holen", "Danach:", "3. Abr\\'e4umen", "\\'b7 leise")
    source = "{\\rtf1\\ansi\\ansicpg1252 " + "".join(f"{line}\\par " for line in lines) + "}"
    assert read(source.encode(), "a.rtf").markdown == (
        "1. Karte kaufen\n2. Essen holen\n\nDanach:\n\n3\\. Abräumen\n\n* leise\n"
    )


def test_what_a_file_takes_from_elsewhere_is_told_and_not_fetched() -> None:
    (said,) = read(offices.linked(), "a.docx").warnings
    assert str(said).startswith(
        "it takes content from elsewhere, which was not fetched (http://templates.example/t.dotm)"
    )


ENTITY = b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'


@pytest.mark.parametrize(
    ("make", "name", "expected"),
    [
        (lambda: b"", "a.docx", "the file is empty"),
        (lambda: b"hello", "a.docx", "it is no .docx file, or its beginning is damaged"),
        (lambda: offices.word()[:5000], "a.docx", "it is cut off or damaged: copy or download it again"),
        (lambda: offices.rich_text()[:-20], "a.rtf", "it is cut off or damaged: copy or download it again"),
        (lambda: pdfs.handbook(2), "a.docx", "its name ends in .docx, but it is a .pdf file: rename it"),
        (offices.slides, "a.docx", "its name ends in .docx, but it is a .pptx file: rename it"),
        (offices.encrypted, "a.xlsx", "it opens with a password only: save it without one"),
        (
            lambda: offices.open_text(more={"META-INF/manifest.xml": "<manifest:encryption-data/>"}),
            "a.odt",
            "it opens with a password only: save it without one",
        ),
        (
            lambda: offices.encrypted()[:512] + bytes(600),
            "a.docx",
            "it is of an old format, whatever its name ends in: save it as .docx, .xlsx or .pptx and take that file",
        ),
        (
            lambda: offices.with_part(offices.word(), "word/vbaProject.bin", b"x"),
            "a.docx",
            "it holds macros, which could harm whoever opens it: save it without them, as .docx",
        ),
        (
            lambda: offices.with_part(offices.word(), "word/comments.xml", ENTITY),
            "a.docx",
            "it declares entities, as no office program does: save it anew in one",
        ),
        (
            lambda: offices.with_part(offices.word(), "word/styles.xml", b"<w:styles"),
            "a.docx",
            "it is cut off or damaged: copy or download it again",
        ),
        (
            lambda: offices.with_part(offices.slides(), "ppt/slides/slide1.xml", b"<p:sld"),
            "a.pptx",
            "it is damaged (XMLSyntaxError): open it in the program that made it, save it anew and take that file",
        ),
        (
            lambda: offices.open_text("<text:p/>"),
            "a.odt",
            "there is no text in it; if it shows text, that is in pictures",
        ),
    ],
)
def test_what_cannot_be_read_says_what_to_do(make: Callable[[], bytes], name: str, expected: str) -> None:
    assert reason(make(), name) == f"{name}: {expected}"


def test_a_hundred_thousand_rows_are_refused_before_they_take_memory() -> None:
    said = reason(offices.long_list(100_000), "a.xlsx", memory_bytes=400_000_000)
    assert said.startswith("a.xlsx: it has more than 20000 rows: students are answered from tables that people read;")


def test_a_bomb_is_not_unpacked() -> None:
    source = offices.bomb(60_000_000)
    assert len(source) < 200_000
    said = reason(source, "a.docx", unpacked_bytes=50_000_000, memory_bytes=300_000_000)
    assert said == "a.docx: unpacked it has 60 MB; 50 are allowed: make its pictures smaller or split it"


def test_a_deep_nest_of_tables_ends_nothing_but_itself() -> None:
    nested = "<text:section>" * 3000 + "<text:p>x</text:p>" + "</text:section>" * 3000
    assert "a.odt: it is" in reason(offices.open_text(nested), "a.odt")


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("Brief.doc", "Brief.doc: it is of an old format (.doc): save it as .docx and take that file"),
        ("Liste.XLSM", "Liste.XLSM: it may hold macros (.xlsm): save it as .xlsx, which has none, and take that file"),
        ("bild.gif", "bild.gif: files that end in “.gif” cannot be read; these can: "),
    ],
)
def test_other_formats_are_named_with_what_to_do(name: str, expected: str) -> None:
    with pytest.raises(BadFile) as bad:
        find_format(name)
    assert str(bad.value).startswith(expected)


def test_a_server_that_names_no_type_is_believed_by_the_address() -> None:
    assert format_served("application/octet-stream", "/a/Plan.XLSX") == FORMATS[".xlsx"]
    assert format_served("text/rtf", "/download") == FORMATS[".rtf"]
    assert format_served("application/octet-stream", "/a/plan") is None
    assert format_served("image/gif", "/a/plan.docx") is None
