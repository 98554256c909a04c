"""Bounds for tables that somebody uploads, checked while a file streams by; pure but for the words of its complaints.

A file of some kilobytes can claim a million rows, unpack to gigabytes, or name one long text in each of its cells. A
library that reads it first and counts later spends minutes and the machine's memory on it.
"""

import csv
import io
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Any
from xml.parsers import expat

from django.utils.translation import gettext as _

#: What Excel lets a cell hold.
MOST_CHARACTERS_A_CELL = 32_767
#: A line of a CSV file is in memory as a whole before its cells can be counted.
MOST_CHARACTERS_A_LINE = 1_000_000
MOST_UNPACKED = 50 * 1024 * 1024
MOST_PARTS = 1_000
#: Deflate packs nothing but one repeated byte more tightly; small parts may be as empty as they like.
MOST_TIMES_PACKED, SMALL_PART = 200, 1024 * 1024
#: Styles, merged cells, pieces of rich text: whatever is neither a row nor a cell nor what a cell holds.
MOST_DECORATIONS = 100_000
CELL_PARTS = frozenset({"v", "f", "is", "si", "t"})
REFERENCE = re.compile(r"\$?([A-Za-z]{1,7})\$?([0-9]{1,9})")
CHUNK = 64 * 1024


class TableTooLarge(ValueError):
    """The file exceeds a limit; the message names the limit and says what to do."""


class UnreadableLine(ValueError):
    """A line of a CSV file cannot be taken apart; `line` is its number."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(reason)
        self.line = line


class NoWorkbook(ValueError):
    """The file cannot be unpacked or is no XML."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of a file.

    `size` counts its bytes, and the characters of all its cells; `rows` those below the headings.
    """

    size: int
    rows: int
    columns: int
    cells: int

    def check_size(self, size: int) -> None:
        """Raise TableTooLarge if a file, or what its cells hold together, is larger than `size`."""
        if size > self.size:
            said = _("The file is larger than %(size)s MB: split it.")
            raise TableTooLarge(said % {"size": self.size // 1024 // 1024})

    def check_rows(self, count: int) -> None:
        if count > self.rows:
            said = _(
                "The file has more than %(count)s rows, empty ones included: split it, or delete the empty rows below "
                "the last one."
            )
            raise TableTooLarge(said % {"count": f"{self.rows:,}"})

    def check_columns(self, count: int) -> None:
        if count > self.columns:
            said = _(
                "The file has more than %(count)s columns, empty ones included: delete those to the right of the last "
                "one."
            )
            raise TableTooLarge(said % {"count": f"{self.columns:,}"})

    def check_cells(self, count: int) -> None:
        if count > self.cells:
            said = _(
                "The file has more than %(count)s cells, empty ones included: split it, or delete empty rows and "
                "columns and other sheets."
            )
            raise TableTooLarge(said % {"count": f"{self.cells:,}"})


def bounded(rows: Iterable[tuple[int, Sequence[Any]]], limits: Limits) -> Iterator[tuple[int, Sequence[Any]]]:
    """Pass numbered rows on as long as they are within the limits, the headings first. Raises TableTooLarge.

    The texts of all cells count together: a workbook can name one long text in each of its cells.
    """
    cells = characters = 0
    for count, (line, values) in enumerate(rows):
        limits.check_rows(count)
        limits.check_columns(len(values))
        cells += len(values)
        limits.check_cells(cells)
        characters += sum(len(value) for value in values if isinstance(value, str))
        limits.check_size(characters)
        yield line, values


def csv_rows(text: str, delimiter: str, *, strict: bool = False) -> Iterator[tuple[int, Sequence[str]]]:
    """Yield each row with the line that it begins in: a text may have several. Raises UnreadableLine, TableTooLarge."""
    reader, line = csv.reader(_csv_lines(text), delimiter=delimiter, strict=strict), 1
    try:
        for cells in reader:
            yield line, cells
            line = reader.line_num + 1
    except csv.Error as error:
        raise UnreadableLine(reader.line_num, str(error)) from error


def _csv_lines(text: str) -> Iterator[str]:
    for number, line in enumerate(io.StringIO(text, newline=""), start=1):
        if len(line) > MOST_CHARACTERS_A_LINE:
            said = _("Line %(line)s has more than %(count)s characters: split it, or look for a missing line break.")
            raise TableTooLarge(said % {"line": number, "count": f"{MOST_CHARACTERS_A_LINE:,}"})
        yield line


def check_workbook(content: bytes, limits: Limits) -> None:
    """Count what an XLSX file holds before anything builds it in memory. Raises TableTooLarge and NoWorkbook.

    What the file says of itself is checked first, then what it holds: a dimension may claim too little as well.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            parts = archive.infolist()
            _check_packing(parts)
            count = _Count(limits)
            for part in parts:
                with archive.open(part) as stream:
                    _count_part(part.filename, stream, count)
    # RuntimeError: a part is encrypted, or packed as nothing here unpacks it.
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, RuntimeError) as error:
        raise NoWorkbook(str(error)) from error


def _check_packing(parts: Sequence[zipfile.ZipInfo]) -> None:
    """Check the sizes that the archive declares; `zipfile` unpacks no more of a part than that."""
    if len(parts) > MOST_PARTS or sum(part.file_size for part in parts) > MOST_UNPACKED:
        said = _("The workbook unpacks to more than %(size)s MB: copy the one sheet into a new workbook, or split it.")
        raise TableTooLarge(said % {"size": MOST_UNPACKED // 1024 // 1024})
    if any(part.file_size > max(SMALL_PART, MOST_TIMES_PACKED * part.compress_size) for part in parts):
        said = _("The workbook unpacks to more than %(times)s times its size: copy its cells into a new workbook.")
        raise TableTooLarge(said % {"times": MOST_TIMES_PACKED})


def _count_part(name: str, stream: IO[bytes], count: "_Count") -> None:
    """Count one part; a picture is no XML, which shows at its first byte."""
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler = count.element
    parser.CharacterDataHandler = count.text
    parser.StartDoctypeDeclHandler = _refuse_entities
    count.begin_part()
    try:
        while chunk := stream.read(CHUNK):
            parser.Parse(chunk, False)
        parser.Parse(b"", True)
    except (expat.ExpatError, LookupError) as error:
        if name.lower().endswith((".xml", ".rels")):
            raise NoWorkbook(str(error)) from error


def _refuse_entities(*_declared: object) -> None:
    raise NoWorkbook("it declares a document type")


class _Count:
    """Counters of a workbook: rows and columns in each part, cells and all else in all parts together."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.cells = self.strings = self.decorations = 0
        self.begin_part()

    def begin_part(self) -> None:
        self.rows = self.columns = self.characters = 0

    def element(self, name: str, attributes: dict[str, str]) -> None:
        match name.rpartition(":")[2]:
            case "c":
                self.columns = _column(attributes.get("r", "")) or self.columns + 1
                self.cells += 1
                self.characters = 0
                self.limits.check_columns(self.columns)
                self.limits.check_cells(self.cells)
            case "row":
                number = attributes.get("r", "")
                self.rows = int(number[:9]) if number.isdecimal() else self.rows + 1
                self.columns = 0
                self.limits.check_rows(self.rows - 1)
            case "dimension":
                for letters, digits in REFERENCE.findall(attributes.get("ref", "")):
                    self.limits.check_rows(int(digits) - 1)
                    self.limits.check_columns(_column(letters))
            case "si":
                self.strings += 1
                self.characters = 0
                self.limits.check_cells(self.strings)
            case "v" | "f":
                self.characters = 0
            case other if other not in CELL_PARTS:
                self.decorations += 1
                if self.decorations > MOST_DECORATIONS:
                    said = _("The workbook has too much formatting: copy its cells into a new workbook.")
                    raise TableTooLarge(said)

    def text(self, text: str) -> None:
        self.characters += len(text)
        if self.characters > MOST_CHARACTERS_A_CELL:
            said = _("A cell has more than %(count)s characters, which Excel does not allow: shorten it.")
            raise TableTooLarge(said % {"count": f"{MOST_CHARACTERS_A_CELL:,}"})


def _column(reference: str) -> int:
    """Return 28 of AB or AB7, and 0 of what names no column."""
    number = 0
    for sign in reference[:7].upper():
        if not "A" <= sign <= "Z":
            break
        number = number * 26 + ord(sign) - 64
    return number
