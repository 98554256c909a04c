"""Files of rows, written row by row: CSV and JSON Lines as text, Excel's through openpyxl; none is held in memory."""

import csv
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from lxml.etree import SerialisationError
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._writer import ALL_TEMP_FILES, WorksheetWriter

from analytics.reports.columns import COLUMNS, cell_formatter, csv_cell_formatter, heading, json_value
from analytics.reports.definition import FORMATS, Format
from analytics.reports.parquet import Columnar, is_installed

#: Rows that a sheet of Excel has, less the headings; what is more goes on in the next sheet.
ROWS_A_SHEET = 1_048_575
CONTENT_TYPES = {
    Format.XLSX: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    Format.CSV: "text/csv; charset=utf-8",
    Format.JSONL: "application/jsonl; charset=utf-8",
    Format.PARQUET: "application/vnd.apache.parquet",
}


class Writer(Protocol):
    def write(self, values: Sequence[Any]) -> None:
        """Write one row: a value a column, as `columns.typed` gives them. Raise OSError."""

    def close(self) -> None:
        """Finish the file. Raise OSError."""

    def abandon(self) -> None:
        """Release everything; the file is not to be read."""


def writer(kind: Format, path: Path, columns: Sequence[str]) -> Writer:
    """Begin the file with its headings. Raise OSError."""
    match kind:
        case Format.XLSX:
            return Sheets(path, columns)
        case Format.CSV:
            return CommaSeparated(path, columns)
        case Format.JSONL:
            return Lines(path, columns)
        case Format.PARQUET:
            return Columnar(path, columns)


def offered_formats() -> list[tuple[Format, str | Promise]]:
    """Return the formats that files can be made in here, each with its name."""
    return [(kind, name) for kind, name in FORMATS.items() if kind != Format.PARQUET or is_installed()]


class CommaSeparated:
    """RFC 4180, in UTF-8 with the mark by which Excel knows it."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._cells, self._file = [*map(csv_cell_formatter, columns)], path.open("w", encoding="utf-8-sig", newline="")
        self._rows = csv.writer(self._file)
        self._rows.writerow([heading(key) for key in columns])

    def write(self, values: Sequence[Any]) -> None:
        self._rows.writerow([make(value) for make, value in zip(self._cells, values, strict=True)])

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        with suppress(OSError):
            self._file.close()


class Lines:
    """One JSON object a line, for programs: keys and codes are not translated, texts are as they are."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._columns, self._file = columns, path.open("w", encoding="utf-8", newline="\n")

    def write(self, values: Sequence[Any]) -> None:
        row = {key: json_value(value) for key, value in zip(self._columns, values, strict=True)}
        self._file.write(json.dumps(row, ensure_ascii=False) + "\n")

    def close(self) -> None:
        self._file.close()

    def abandon(self) -> None:
        with suppress(OSError):
            self._file.close()


class Sheets:
    """A workbook whose sheets wait beside it, in files of their own, until they are packed."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        self._path, self._columns, self._cells = path, columns, [*map(cell_formatter, columns)]
        self._book = Workbook(write_only=True)
        self._sheets: list[tuple[Any, Path]] = []
        self._rows = ROWS_A_SHEET

    def write(self, values: Sequence[Any]) -> None:
        if self._rows == ROWS_A_SHEET:
            self._begin_sheet()
        try:
            self._sheet.append([make(value) for make, value in zip(self._cells, values, strict=True)])
        except SerialisationError as error:
            raise OSError(str(error)) from error
        self._rows += 1

    def close(self) -> None:
        if not self._sheets:
            self._begin_sheet()
        self._set_filter()
        try:
            self._book.save(self._path)
        except SerialisationError as error:
            raise OSError(str(error)) from error
        finally:
            self._drop_sheets()

    def abandon(self) -> None:
        for sheet, _path in self._sheets:
            with suppress(OSError, SerialisationError):
                sheet.close()
        self._drop_sheets()

    def _begin_sheet(self) -> None:
        if self._sheets:
            self._set_filter()
        number = len(self._sheets) + 1
        sheet = self._book.create_sheet(_("Answers") if number == 1 else _("Answers %(number)d") % {"number": number})
        sheet.freeze_panes = "A2"
        for position, key in enumerate(self._columns, start=1):
            sheet.column_dimensions[get_column_letter(position)].width = COLUMNS[key].width
        # openpyxl's own place for it is the system's folder for temporary files, where nobody would ever delete it
        # after this process was killed.
        kept = self._path.with_name(f"{self._path.stem}-{number}.sheet")
        ALL_TEMP_FILES.append(str(kept))
        sheet._writer = WorksheetWriter(sheet, out=str(kept))
        sheet._writer.write_top()
        self._sheets.append((sheet, kept))
        self._sheet, self._rows = sheet, 0
        headings = [WriteOnlyCell(sheet, heading(key)) for key in self._columns]
        for cell in headings:
            cell.font, cell.alignment = Font(bold=True), Alignment(wrap_text=True, vertical="top")
        sheet.append(headings)

    def _set_filter(self) -> None:
        self._sheet.auto_filter.ref = f"A1:{get_column_letter(len(self._columns))}{self._rows + 1}"

    def _drop_sheets(self) -> None:
        for _sheet, kept in self._sheets:
            kept.unlink(missing_ok=True)
            with suppress(ValueError):  # packed: openpyxl has done so
                ALL_TEMP_FILES.remove(str(kept))
