"""Files that would take a web process for minutes are refused before anything is parsed."""

import io
import json
import zipfile
from collections.abc import Iterator
from typing import Any

import openpyxl
import pytest
from django.core.cache import cache
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse
from django.utils import translation

import faqs.importexport.files
from faqs.importexport.files import BadTable, read_table

MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
ROW = '<row r="1"><c r="A1" t="inlineStr"><is><t>question</t></is></c></row>'
SECOND = '<row r="2"><c r="A2" t="inlineStr"><is><t>How much?</t></is></c></row>'
MILLION = 1_048_576


def sheet(rows: str = ROW + SECOND, dimension: str = "A1:A2", after: str = "") -> str:
    return f'<worksheet xmlns="{MAIN}"><dimension ref="{dimension}"/><sheetData>{rows}</sheetData>{after}</worksheet>'


def workbook(first: str | None = None, **parts: str | bytes) -> bytes:
    """Return a workbook whose first sheet, and other parts by name (a dot is written as _), are as given."""
    made, stream = io.BytesIO(), io.BytesIO()
    openpyxl.Workbook().save(made)
    given: dict[str, Any] = {"xl/worksheets/sheet1.xml": first if first is not None else sheet()}
    given |= {f"xl/{name.replace('_', '.')}": content for name, content in parts.items()}
    with zipfile.ZipFile(made) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "[Content_Types].xml" and "sharedStrings_xml" in parts:
                kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.sharedStrings+xml"
                override = f'<Override PartName="/xl/sharedStrings.xml" ContentType="{kind}"/></Types>'
                content = content.replace(b"</Types>", override.encode())
            if name not in given:
                new.writestr(name, content)
        for name, content in given.items():
            new.writestr(name, content)
    return stream.getvalue()


def strings(*items: str) -> str:
    return f'<sst xmlns="{MAIN}">' + "".join(f"<si><t>{item}</t></si>" for item in items) + "</sst>"


def doctype() -> str:
    return '<!DOCTYPE sst [<!ENTITY a "aaaaaaaaaa">]>' + strings("&a;")


def reference(row: int) -> str:
    return f'<row r="{row}"><c r="A{row}" t="s"><v>0</v></c></row>'


def wide(row: int) -> str:
    return (
        f'<row r="{row}">'
        + "".join(f'<c r="{chr(65 + n % 26)}{row}" s="{row * n % 97}"/>' for n in range(52))
        + "</row>"
    )


def merged(row: int) -> str:
    return f'<mergeCell ref="A{row}:B{row * 7 % 9_973}"/>'


HOSTILE: dict[str, tuple[Any, str]] = {
    "a dimension of a million rows": (lambda: workbook(sheet(dimension=f"A1:A{MILLION}")), "10,000 rows"),
    "a dimension of 16,384 columns": (lambda: workbook(sheet(dimension="A1:XFD2")), "100 columns"),
    "a row far below": (lambda: workbook(sheet(ROW + f'<row r="{MILLION}"/>')), "10,000 rows"),
    "a cell far to the right": (lambda: workbook(sheet('<row r="1"><c r="XFD1"/></row>')), "100 columns"),
    "a row of many cells": (lambda: workbook(sheet("<row>" + "<c/>" * 16_384 + "</row>")), "100 columns"),
    "a million empty rows with a style": (
        lambda: workbook(sheet(ROW + "".join(f'<row r="{n}" s="1"/>' for n in range(2, 1_000_000)))),
        "10,000 rows",
    ),
    "more rows than its dimension says": (
        lambda: workbook(sheet(ROW + '<row><c t="b"><v>1</v></c></row>' * 20_000)),
        "10,000 rows",
    ),
    "many cells": (lambda: workbook(sheet("".join(map(wide, range(1, 5_000))))), "200,000 cells"),
    "many merged cells": (
        lambda: workbook(sheet(after="<mergeCells>" + "".join(map(merged, range(200_000))) + "</mergeCells>")),
        "too much formatting",
    ),
    "many shared texts": (lambda: workbook(sharedStrings_xml=strings(*map(str, range(300_000)))), "200,000 cells"),
    "a long shared text": (
        lambda: workbook(sharedStrings_xml=strings(json.dumps([*range(100_000)]))),
        "more than 32,767 characters",
    ),
    "one long text in every cell": (
        lambda: workbook(
            sheet(ROW + "".join(map(reference, range(2, 5_000)))), sharedStrings_xml=strings("x" * 32_000)
        ),
        "larger than 10 MB",
    ),
    "a part of 100 MB": (lambda: workbook(media=bytes(100 * 1024 * 1024)), "unpacks to more than 50 MB"),
    "parts of 60 MB": (
        lambda: workbook(**{f"media{n}": bytes(10 * 1024 * 1024) for n in range(6)}),
        "unpacks to more than 50 MB",
    ),
    "a part packed too tightly": (lambda: workbook(media=bytes(5 * 1024 * 1024)), "200 times"),
    "entities": (lambda: workbook(sharedStrings_xml=doctype()), "cannot be opened"),
    "a million rows in another sheet": (
        lambda: workbook(worksheets_sheet2_xml=sheet(dimension=f"A1:A{MILLION}")),
        "10,000 rows",
    ),
}


@pytest.fixture(autouse=True)
def _nothing_kept() -> Iterator[None]:
    yield
    cache.clear()


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_workbook_that_holds_too_much_is_refused_and_says_what_to_do(kind: str) -> None:
    content, said = HOSTILE[kind]
    with pytest.raises(BadTable, match=said):
        read_table("a.xlsx", content())


@pytest.mark.parametrize("kind", [kind for kind in HOSTILE if kind != "one long text in every cell"])
def test_openpyxl_never_sees_a_workbook_that_holds_too_much(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(openpyxl, "load_workbook", lambda *given, **_options: seen.append(given))
    with pytest.raises(BadTable):
        read_table("a.xlsx", HOSTILE[kind][0]())
    assert not seen


def test_of_a_text_in_every_cell_no_more_rows_are_read_than_the_limit_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    cell = faqs.importexport.files._cell
    monkeypatch.setattr(faqs.importexport.files, "_cell", lambda value: read.append(value) or cell(value))
    with pytest.raises(BadTable):
        read_table("a.xlsx", HOSTILE["one long text in every cell"][0]())
    assert len(read) < 1 + 10 * 1024 * 1024 / 32_000


@pytest.mark.django_db
def test_the_page_says_what_the_limit_is(admin_client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(openpyxl, "load_workbook", lambda *given, **_options: seen.append(given))
    file = SimpleUploadedFile("a.xlsx", workbook(sheet(dimension=f"A1:XFD{MILLION}")))
    page = admin_client.post(reverse("admin:faqs_faq_import"), {"file": file})
    assert "more than 10,000 rows, empty ones included: split it, or delete the empty rows" in page.content.decode()
    assert not seen


def test_what_stands_below_a_dimension_that_claims_too_little_is_read() -> None:
    third = SECOND.replace('"2"', '"3"').replace("A2", "A3").replace("How much?", "When?")
    table = read_table("a.xlsx", workbook(sheet(ROW + SECOND + third, dimension="A1:A2")))
    assert [row.cells["question"] for row in table.rows] == ["How much?", "When?"]


@pytest.mark.slow
def test_a_workbook_as_large_as_the_limits_allow_is_read() -> None:
    book, stream = openpyxl.Workbook(write_only=True), io.BytesIO()
    page = book.create_sheet()
    page.append([f"c{n}" for n in range(13)])
    for row in range(10_000):
        page.append([f"{row} {n}" for n in range(13)])
    book.save(stream)
    assert len(read_table("a.xlsx", stream.getvalue()).rows) == 10_000


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"question\n" + b"x" * 50 * 1024 * 1024, "larger than 10 MB"),
        ("a.csv", b"question\n" + b"x " * 4_000_000, "Line 2 has more than 1,000,000 characters"),
        ("a.csv", b"," * 5_000_000, "Line 1 has more than 1,000,000 characters"),
        ("a.csv", ",".join(f"c{n}" for n in range(20_000)).encode() + b"\na\n", "100 columns"),
        ("a.csv", b"question,id\n" + b"," * 20_000, "100 columns"),
        ("a.csv", b"question\n" + b"\n" * 1_000_000 + b"a\n", "10,000 rows"),
        ("a.csv", b"question\n" + b";\n" * 1_000_000, "10,000 rows"),
        ("a.csv", b"question,id\n" + (b"," * 90 + b"\n") * 9_000, "200,000 cells"),
        ("a.json", b"[" + b"{}," * 3_000_000 + b"{}]", "10,000 rows"),
        ("a.json", json.dumps([{str(n): "" for n in range(20_000)}]).encode(), "100 columns"),
        ("a.json", b'[{"phrasings": [' + b"1," * 1_000_000 + b"1]}]", "200,000 cells"),
    ],
)
def test_a_text_file_that_holds_too_much_says_so(name: str, content: bytes, said: str) -> None:
    with pytest.raises(BadTable, match=said):
        read_table(name, content)


def test_of_a_table_with_too_many_columns_no_cell_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[Any] = []
    monkeypatch.setattr(faqs.importexport.files, "_cell", read.append)
    with pytest.raises(BadTable):
        read_table("a.csv", ",".join(f"c{n}" for n in range(20_000)).encode() + b"\na\n")
    assert not read


def test_a_number_of_thousands_of_digits_is_a_text() -> None:
    assert read_table("a.json", b'[{"question": ' + b"1" * 5_000 + b"}]").rows[0].cells["question"] == "1" * 5_000


@pytest.mark.parametrize("part", ["xl/workbook.xml", "xl/worksheets/sheet1.xml", "[Content_Types].xml"])
@pytest.mark.parametrize("with_what", [b"", b"<a/>", b"<", b"\xff\xfe\x00", b'<a><dimension ref="A0:B"/>' + b"</a>"])
def test_a_workbook_with_a_broken_part_cannot_be_opened(part: str, with_what: bytes) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook())) as old, zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            new.writestr(name, with_what if name == part else old.read(name))
    with pytest.raises(BadTable):
        read_table("a.xlsx", stream.getvalue())


def test_a_workbook_whose_bytes_were_damaged_cannot_be_opened_or_is_read() -> None:
    content = workbook()
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        try:
            read_table("a.xlsx", bytes(damaged))
        except BadTable:
            continue


def test_the_limit_is_said_in_german() -> None:
    with translation.override("de"), pytest.raises(BadTable, match="mehr als 10,000 Zeilen"):
        read_table("a.csv", b"question\n" + b"a\n" * 10_001)
