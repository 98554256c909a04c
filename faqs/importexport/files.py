"""Files of FAQs as tables, and tables as files: CSV, Excel and JSON; pure but for the words of its complaints."""

import io
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from django.utils.translation import gettext as _

from core.tables.cells import restore
from core.tables.limits import Limits, TableTooLarge, UnreadableLine, bounded, check_workbook, csv_rows
from core.text import strip_nul

MOST_BYTES = 10 * 1024 * 1024
#: For a file that somebody uploads, and for one that the operator has on the machine.
LIMITS = Limits(size=MOST_BYTES, rows=10_000, columns=100, cells=200_000)
LOCAL_LIMITS = Limits(size=1024 * MOST_BYTES, rows=1_000_000, columns=100, cells=20_000_000)
DELIMITERS = ";,\t"
#: Characters that XML 1.0 excludes, and with it a workbook.
UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
#: What openpyxl raises of a broken workbook: it shows itself in as many ways as there are parts in one.
BROKEN = (
    *(ArithmeticError, AttributeError, LookupError, OSError, RuntimeError, SyntaxError, TypeError, ValueError),
    zipfile.BadZipFile,
    zlib.error,
)


class BadTable(ValueError):
    """The file as a whole cannot be read; the message says what to do."""


@dataclass(frozen=True, slots=True)
class Row:
    """One FAQ of a file. `line` is its first line in CSV, its row in Excel, its number in JSON; cells of JSON may be
    lists.

    `problem` is what is wrong with the row before any cell is looked at.
    """

    line: int
    cells: dict[str, Any]
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a file. `is_json`: other programs write JSON, and may write more into it than is read here."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    is_json: bool = False


def read_table(name: str, content: bytes, *, limits: Limits = LIMITS) -> Table:
    """Read a file by the ending of its name; skip empty rows. Raise BadTable."""
    try:
        return _read(name, content, limits)
    except TableTooLarge as error:
        raise BadTable(str(error)) from error


def printable(text: str) -> str:
    """Remove the characters that no workbook may hold."""
    return UNPRINTABLE.sub("", text)


def decoded(content: bytes) -> str:
    """Decode UTF-8, UTF-16 with its mark, or the Windows code page that an old Excel writes."""
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        return content.decode("utf-16", "replace")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("cp1252", "replace")


def _read(name: str, content: bytes, limits: Limits) -> Table:
    limits.check_size(len(content))
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
    columns, rows = readers[ending](content, limits)
    return Table(columns, tuple(rows), is_json=ending == "json")


def _csv_rows(content: bytes, limits: Limits) -> tuple[tuple[str, ...], list[Row]]:
    text = decoded(content).replace("\x00", "")
    head = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(DELIMITERS, key=head.count)
    try:
        return _table(csv_rows(text, delimiter), limits)
    except UnreadableLine as error:
        raise BadTable(
            _("Line %(line)s cannot be read: a text is not closed with a quotation mark, or is too long.")
            % {"line": error.line}
        ) from error


def _xlsx_rows(content: bytes, limits: Limits) -> tuple[tuple[str, ...], list[Row]]:
    import openpyxl  # would be a twentieth of every process's start

    try:
        check_workbook(content, limits)
        book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True, keep_links=False)
        sheet = book.worksheets[0]
        sheet.reset_dimensions()  # a sheet whose dimension claims too little would lose its other rows
        return _table(enumerate(sheet.iter_rows(values_only=True), start=1), limits)
    except (BadTable, TableTooLarge):
        raise
    except BROKEN as error:
        raise BadTable(_("The workbook cannot be opened: save it once more in Excel and try again.")) from error


def _table(lines: Iterable[tuple[int, Sequence[Any]]], limits: Limits) -> tuple[tuple[str, ...], list[Row]]:
    found = bounded(lines, limits)
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
    said = _("There are more cells than columns: a text with the separator in it needs quotation marks.")
    rows = []
    for line, values in found:
        cells = [_cell(restore(value) if isinstance(value, str) else value) for value in values]
        if any(cells):
            short = [*cells, *[""] * (len(columns) - len(cells))]
            rows.append(Row(line, dict(zip(columns, short, strict=False)), said if any(cells[len(columns) :]) else ""))
    if not rows:
        raise BadTable(_("The file has headings but no rows below them."))
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
    return str(strip_nul(str(value))).strip()


def _json_rows(content: bytes, limits: Limits) -> tuple[tuple[str, ...], list[Row]]:
    try:
        raw = json.loads(decoded(content), parse_int=str)  # which has no limit of digits
    except json.JSONDecodeError as error:
        raise BadTable(_("The file is no valid JSON: look at line %(line)s.") % {"line": error.lineno}) from error
    except RecursionError as error:
        raise BadTable(_("The file is no list of FAQs: it is nested too deeply.")) from error
    if not isinstance(raw, list):
        raise BadTable(_('The file must hold a list: [{"question": "…", "sources": ["…"]}, …]'))
    objects = [each for each in raw if isinstance(each, dict)]
    limits.check_rows(len(raw))
    limits.check_columns(max(map(len, objects), default=0))
    limits.check_cells(sum(len(value) if isinstance(value, list) else 1 for each in objects for value in each.values()))
    try:
        rows = [_json_row(number, each) for number, each in enumerate(raw, start=1)]
    except RecursionError as error:
        raise BadTable(_("The file is no list of FAQs: it is nested too deeply.")) from error
    return tuple(dict.fromkeys(name for row in rows for name in row.cells)), rows


def _json_row(number: int, raw: Any) -> Row:
    """Read an FAQ as an object; Marcel's form is the same, with its `intent` as another phrasing."""
    if not isinstance(raw, dict):
        return Row(number, {}, _('Write an object here: {"question": "…", "sources": ["…"]}'))
    cells = {str(name).lower(): _json_cell(value) for name, value in raw.items()}
    if intent := cells.pop("intent", ""):
        phrasings = cells.get("phrasings") or []
        cells["phrasings"] = [*(phrasings if isinstance(phrasings, list) else [phrasings]), intent]
    return Row(number, cells)


def _json_cell(value: Any) -> Any:
    """Return a text, or a list of texts; what is nested stays as it is, and its column refuses it."""
    if isinstance(value, list):
        return [each if isinstance(each, list | dict) else _cell(each) for each in value]
    return value if isinstance(value, dict) else _cell(value)
