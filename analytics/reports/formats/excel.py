"""Reports as workbooks, through openpyxl, which only the process loads that writes one."""

from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from lxml.etree import SerialisationError
from openpyxl import Workbook
from openpyxl.cell import WriteOnlyCell
from openpyxl.styles import Alignment, Font
from openpyxl.utils import get_column_letter
from openpyxl.worksheet._writer import ALL_TEMP_FILES, WorksheetWriter

from analytics.reports.columns import COLUMNS, cell_formatter, heading

#: Rows that a sheet of Excel has, less the headings; what is more goes on in the next sheet.
ROWS_A_SHEET = 1_048_575


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
