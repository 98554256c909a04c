"""Reports as Apache Parquet files, through pyarrow, for data warehouses and tools that read typed columns."""

import datetime
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from analytics.reports.columns import COLUMNS, SCHEMA_VERSION, Kind

#: Rows that are packed together.
ROWS_A_GROUP = 10_000


def is_installed() -> bool:
    """Return whether the extra `parquet` is there; it is large, so that few installations have it."""
    return find_spec("pyarrow") is not None


class Columnar:
    """Typed columns: codes as they are stored, times in UTC, lists as lists. `marcelcms` in the file's metadata is the
    version of the columns."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        import pyarrow  # an extra, and slow to load
        from pyarrow import parquet

        self._pyarrow = pyarrow
        fields = [(key, _arrow_type(COLUMNS[key].kind)) for key in columns]
        self._schema = pyarrow.schema(fields, metadata={"marcelcms": str(SCHEMA_VERSION)})
        self._file = parquet.ParquetWriter(path, self._schema, compression="zstd")
        self._rows: list[Sequence[Any]] = []

    def write(self, values: Sequence[Any]) -> None:
        self._rows.append([_in_utc(value) for value in values])
        if len(self._rows) == ROWS_A_GROUP:
            self._pack()

    def close(self) -> None:
        self._pack()
        self._file.close()

    def abandon(self) -> None:
        with suppress(OSError):
            self._file.close()

    def _pack(self) -> None:
        if self._rows:
            arrays = [
                self._pyarrow.array(values, type=field.type)
                for values, field in zip(zip(*self._rows, strict=True), self._schema, strict=True)
            ]
            self._file.write_table(self._pyarrow.Table.from_arrays(arrays, schema=self._schema))
            self._rows = []


def _arrow_type(kind: Kind) -> Any:
    import pyarrow

    match kind:
        case Kind.TEXT | Kind.CODE:
            return pyarrow.string()
        case Kind.CODES:
            return pyarrow.list_(pyarrow.string())
        case Kind.WHOLE_NUMBER:
            return pyarrow.int64()
        case Kind.NUMBER:
            return pyarrow.float64()
        case Kind.FLAG:
            return pyarrow.bool_()
        case Kind.TIME:
            return pyarrow.timestamp("us", tz="UTC")
        case Kind.SOURCES:
            parts = {"n": pyarrow.int64(), "page": pyarrow.int64()}
            texts = dict.fromkeys(("title", "heading", "url"), pyarrow.string())
            return pyarrow.list_(pyarrow.struct(list((parts | texts).items())))


def _in_utc(value: Any) -> Any:
    return value.astimezone(datetime.UTC) if isinstance(value, datetime.datetime) else value
