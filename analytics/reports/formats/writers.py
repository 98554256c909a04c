"""Files of rows, written row by row: CSV and JSON Lines as text, Excel's by `excel`; none is held in memory."""

import csv
import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from django.utils.functional import Promise

from analytics.reports.columns import csv_cell_formatter, heading, json_value
from analytics.reports.definition import FORMATS, Format
from analytics.reports.formats.parquet import Columnar, is_installed

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
            from analytics.reports.formats.excel import Sheets  # it loads openpyxl

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
