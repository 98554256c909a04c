"""Files of FAQs as tables, and tables as files: CSV, Excel and JSON; pure but for the words of its complaints."""

import csv
import io
import json
import re
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

import openpyxl
from django.utils.translation import gettext as _
from openpyxl.cell.cell import ILLEGAL_CHARACTERS_RE

from knowledge.storable import storable

MOST_BYTES, MOST_ROWS = 10 * 1024 * 1024, 10_000
#: A small file can unpack to gigabytes.
MOST_UNPACKED = 200 * 1024 * 1024
DELIMITERS = ";,\t"
#: What a spreadsheet would run (OWASP, "CSV injection"), and what stands before it once it is harmless.
RUNS, HARMLESS = re.compile(r"'*[=+\-@\t\r]"), re.compile(r"'+[=+\-@\t\r]")


class BadTable(ValueError):
    """The file as a whole cannot be read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Row:
    """`line` is where it begins in a CSV file, its row in Excel, its number in JSON. In JSON cells may be lists."""

    line: int
    cells: dict[str, Any]
    surplus: bool = False  # there is more in it than columns


@dataclass(frozen=True, slots=True)
class Table:
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(name: str, content: bytes) -> Table:
    """Raises BadTable. Empty rows are passed over."""
    if len(content) > MOST_BYTES:
        raise BadTable(_("The file is larger than %(size)s MB: split it.") % {"size": MOST_BYTES // 1024 // 1024})
    if not content.strip():
        raise BadTable(_("The file is empty."))
    ending = name.lower().rpartition(".")[2]
    if content.startswith(b"\xd0\xcf\x11\xe0"):
        raise BadTable(_("This is a workbook of an old Excel: save it as “Excel workbook (.xlsx)” first."))
    if content.startswith(b"PK\x03\x04") and ending != "xlsx":
        raise BadTable(_("This is no CSV or JSON file: choose a file that ends in .xlsx, .csv or .json."))
    readers = {"csv": _csv_rows, "txt": _csv_rows, "xlsx": _xlsx_rows, "json": _json_rows}
    if ending not in readers:
        raise BadTable(_("This is no file of FAQs: choose one that ends in .xlsx, .csv or .json."))
    columns, rows = readers[ending](content)
    if not rows:
        raise BadTable(_("The file has headings but no rows below them."))
    if len(rows) > MOST_ROWS:
        raise BadTable(_("The file has more than %(count)s rows: split it.") % {"count": f"{MOST_ROWS:,}"})
    return Table(columns, tuple(rows))


def harmless(text: str) -> str:
    """So that no spreadsheet takes it for a formula."""
    return f"'{text}" if RUNS.match(text) else text


def as_written(text: str) -> str:
    """What `harmless` was given."""
    return text[1:] if HARMLESS.match(text) else text


def printable(text: str) -> str:
    """Without the signs that no workbook may hold."""
    return str(ILLEGAL_CHARACTERS_RE.sub("", text))


def decoded(content: bytes) -> str:
    """UTF-8 with or without its mark, UTF-16 with its mark, and what Excel writes where it writes no UTF-8."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _csv_rows(content: bytes) -> tuple[tuple[str, ...], list[Row]]:
    text = decoded(content).replace("\x00", "")
    head = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        return _table(_numbered(reader))
    except csv.Error as error:
        raise BadTable(
            _("Line %(line)s cannot be read: a text is not closed with a quotation mark, or is too long.")
            % {"line": reader.line_num}
        ) from error


def _numbered(reader: Any) -> Iterator[tuple[int, Sequence[Any]]]:
    """Each row with the line that it begins in: a text may have several."""
    line = 1
    for cells in reader:
        yield line, cells
        line = reader.line_num + 1


def _xlsx_rows(content: bytes) -> tuple[tuple[str, ...], list[Row]]:
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            if sum(each.file_size for each in archive.infolist()) > MOST_UNPACKED:
                raise BadTable(_("The workbook is too large once it is unpacked: split it."))
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        return _table(enumerate(sheet.iter_rows(values_only=True), start=1))
    except BadTable:
        raise
    # A broken workbook shows itself in as many ways as there are parts in one.
    except (zipfile.BadZipFile, KeyError, ValueError, IndexError, TypeError, OSError, SyntaxError) as error:
        raise BadTable(_("The workbook cannot be opened: save it once more in Excel and try again.")) from error


def _table(lines: Iterable[tuple[int, Sequence[Any]]]) -> tuple[tuple[str, ...], list[Row]]:
    found = iter(lines)
    for _line, headings in found:
        columns = tuple(_cell(heading).lower().replace(" ", "_") for heading in headings)
        if any(columns):
            break
    else:
        raise BadTable(_("The file is empty."))
    columns = columns[: max(n for n, column in enumerate(columns, start=1) if column)]
    if "" in columns:
        raise BadTable(_("Column %(number)s has no heading.") % {"number": columns.index("") + 1})
    if twice := [column for column in columns if columns.count(column) > 1]:
        raise BadTable(_("There are two columns called “%(column)s”.") % {"column": twice[0]})
    rows = []
    for line, values in found:
        cells = [as_written(_cell(value)) for value in values]
        if any(cells):
            short = [*cells, *[""] * (len(columns) - len(cells))]
            rows.append(Row(line, dict(zip(columns, short, strict=False)), any(cells[len(columns) :])))
        if len(rows) > MOST_ROWS:
            break
    return columns, rows


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.date().isoformat()
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(storable(str(value))).strip()


def _json_rows(content: bytes) -> tuple[tuple[str, ...], list[Row]]:
    try:
        raw = json.loads(decoded(content))
    except json.JSONDecodeError as error:
        raise BadTable(_("The file is no valid JSON: look at line %(line)s.") % {"line": error.lineno}) from error
    except RecursionError as error:
        raise BadTable(_("The file is no list of FAQs: it is nested too deeply.")) from error
    if not isinstance(raw, list) or not all(isinstance(each, dict) for each in raw):
        raise BadTable(_('The file must hold a list: [{"question": "…", "sources": ["…"]}, …]'))
    if not raw:
        raise BadTable(_("The file is empty."))
    rows = [
        Row(number, {str(name).lower(): _json_cell(value) for name, value in each.items()})
        for number, each in enumerate(raw, start=1)
    ]
    return tuple(dict.fromkeys(name for row in rows for name in row.cells)), rows


def _json_cell(value: Any) -> Any:
    return [_cell(each) for each in value] if isinstance(value, list) else _cell(value)
