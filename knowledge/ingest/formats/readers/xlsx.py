"""Excel files, by openpyxl: each sheet under a heading with its name, which a citation then names."""

from collections.abc import Iterator, Sequence
from datetime import datetime, time, timedelta
from typing import TYPE_CHECKING, Any, BinaryIO

from knowledge.ingest.formats.types import BadFile, FileText, Format, Limits, Progress, Said, Write
from knowledge.ingest.formats.types import gettext_noop as _

if TYPE_CHECKING:
    from knowledge.ingest.html.dom import Element

MEDIA_TYPE = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
MOST_COLUMNS = 200


def read(file: BinaryIO, *, limits: Limits, progress: Progress, write: Write) -> FileText:
    import openpyxl

    from knowledge.ingest.formats.archive import from_elsewhere, open_archive
    from knowledge.ingest.formats.markup import add, element, file_text
    from knowledge.ingest.formats.pictures import remark_on_pictures

    archive = open_archive(file, ".xlsx", limits)
    unknown = _check_rows(archive, limits)
    file.seek(0)
    book = openpyxl.load_workbook(file, data_only=True, keep_links=False)
    sheets = [sheet for sheet in book.worksheets if sheet.sheet_state == "visible"]
    root = element("body")
    for number, sheet in enumerate(sheets, start=1):
        progress(number - 1, len(sheets))
        part = add(root, "div")
        for block in _blocks(sheet):
            _write(part, block)
        if len(part):
            part.insert(0, element("h2", sheet.title))
    warnings = [*from_elsewhere(archive), *remark_on_pictures(_picture_sizes(archive))]
    if wide := [sheet.title for sheet in sheets if sheet.max_column > MOST_COLUMNS]:
        text = _("only the first {limit} columns were read of {sheets}")
        warnings.append(Said(text, {"limit": MOST_COLUMNS, "sheets": ", ".join(wide)[:300]}))
    if hidden := [sheet.title for sheet in book.worksheets if sheet.sheet_state != "visible"]:
        warnings.append(Said(_("hidden sheets were left out: {sheets}"), {"sheets": ", ".join(hidden)[:300]}))
    if unknown:
        text = _(
            "{count} cells have a formula without a stored result: open and save the file in a spreadsheet program"
        )
        warnings.append(Said(text, {"count": unknown}))
    if not len(root):
        raise BadFile(_("there is no text in it; if it shows text, that is in pictures"))
    return file_text(root, write=write, stated_title=book.properties.title or "", pages=len(sheets), warnings=warnings)


def _check_rows(archive: Any, limits: Limits) -> int:
    """Count rows before any of them takes memory; raises BadFile. Return how many formulas have no stored result."""
    from lxml import etree

    count = unknown = 0
    for name in archive.namelist():
        if not name.startswith("xl/worksheets/") or not name.endswith(".xml"):
            continue
        with archive.open(name) as part:
            for _event, row in etree.iterparse(part, tag="{*}row", resolve_entities=False, no_network=True):
                count += len(row) > 0
                unknown += sum(map(_is_unknown, row))
                row.clear()
                while row.getprevious() is not None:
                    del row.getparent()[0]
                if count > limits.rows:
                    reason = _("it has more than {limit} rows: students are answered from tables that people read; "
                               "take a file with the part that they ask for")  # fmt: skip
                    raise BadFile(reason, limit=limits.rows)
    return unknown


def _is_unknown(cell: Any) -> bool:
    """Tell a formula whose result no program has stored; that of type "str" is an empty text."""
    return cell.find("{*}f") is not None and not cell.findtext("{*}v") and cell.get("t") != "str"


def _picture_sizes(archive: Any) -> list[float]:
    """List the sizes of the pictures on sheets, in square centimetres."""
    from knowledge.ingest.formats.pictures import size_in_emu
    from knowledge.ingest.formats.word import parse_part

    names = [name for name in archive.namelist() if name.startswith("xl/drawings/") and name.endswith(".xml")]
    roots = [root for name in names if (root := parse_part(archive, name)) is not None]
    found = []
    for anchor in (anchor for root in roots for anchor in root if anchor.find(".//{*}pic") is not None):
        size = anchor.find("{*}ext")
        size = anchor.find(".//{*}xfrm/{*}ext") if size is None else size  # one between two cells
        found.append(0.0 if size is None else size_in_emu(size.get("cx"), size.get("cy")))
    return found


#: A cell's text, and over how many (columns, rows) it reaches.
Cell = tuple[str, int, int]


def _blocks(sheet: Any) -> Iterator[list[list[Cell | None]]]:
    """Yield the parts of a sheet that empty rows separate; None stands where another cell reaches."""
    spans, covered = {}, set()
    for merged in sheet.merged_cells.ranges:
        spans[merged.min_row, merged.min_col] = (merged.size["columns"], merged.size["rows"])
        covered |= {(row, column) for row, column in merged.cells} - {(merged.min_row, merged.min_col)}
    hidden = {name for name, column in sheet.column_dimensions.items() if column.hidden}
    block: list[list[Cell | None]] = []
    for row in sheet.iter_rows(max_col=min(sheet.max_column, MOST_COLUMNS)):
        if sheet.row_dimensions[row[0].row].hidden:
            continue
        line: list[Cell | None] = []
        for cell in row:
            if getattr(cell, "column_letter", "") in hidden:
                continue
            place = (cell.row, cell.column)
            line.append(None if place in covered else (shown(cell), *spans.get(place, (1, 1))))
        if any(cell is None or cell[0] for cell in line):
            block.append(line)
        elif block:
            yield block
            block = []
    if block:
        yield block


def _write(part: "Element", block: Sequence[Sequence[Cell | None]]) -> None:
    """Write a block as a table; lines of one cell at its top are its title, and a block of such lines is text."""
    from knowledge.ingest.formats.markup import add

    rows = list(block)
    while rows and (title := _only(rows[0])):
        add(part, "p", title)
        rows.pop(0)
    if not rows:
        return
    columns = enumerate(zip(*rows, strict=True))
    used = [number for number, column in columns if any(cell is None or cell[0] for cell in column)]
    table = add(part, "table")
    for row in rows:
        line = add(table, "tr")
        for column in used:
            if (cell := row[column]) is not None:
                text, width, height = cell
                width = sum(column <= each < column + width for each in used)
                add(line, "td", text, colspan=str(width), rowspan=str(height))


def _only(row: Sequence[Cell | None]) -> str:
    """Return what a row says if that is one cell, which reaches over no other row; else ""."""
    said = [cell for cell in row if cell and cell[0]]
    return said[0][0] if len(said) == 1 and said[0][2] == 1 else ""


def shown(cell: Any) -> str:
    """Return a cell's value as the sheet shows it, in plain figures."""
    value = cell.value
    match value:
        case None:
            return ""
        case bool():
            return "✓" if value else "–"
        case datetime():
            day = f"{value:%d.%m.%Y}" if "." in (cell.number_format or "") else f"{value:%Y-%m-%d}"
            return day if (value.hour, value.minute, value.second) == (0, 0, 0) else f"{day} {value:%H:%M}"
        case time():
            return f"{value:%H:%M}"
        case timedelta():
            return str(value)
        case float() | int():
            return _figure(float(value), cell.number_format or "")
    return str(value).strip()


def _figure(value: float, form: str) -> str:
    form = form.split(";")[0]
    decimals = len(form.partition(".")[2].rstrip("% €$").split("]")[0]) if "." in form and "0." in form else None
    if "%" in form:
        return f"{value * 100:.{decimals or 0}f} %"
    text = f"{value:.{decimals}f}" if decimals is not None and decimals < 10 else f"{value:.10g}"
    return f"{text} €" if "€" in form else text


FORMAT = Format(".xlsx", "Excel", (MEDIA_TYPE,), read, b"PK")
