"""Reader of course files: a JSON list or a CSV table of records, checked."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.tables.limits import Limits, TableTooLarge, UnreadableLine, bounded, csv_rows
from knowledge.ingest.importer import BadRecord, checked_url

#: Names of each field in a file, in lower case and with underscores.
NAMES: Mapping[str, tuple[str, ...]] = {
    "code": ("code", "course_code"),
    "name": ("name", "title", "course_name"),
    "url": ("url", "link"),
    "language": ("language",),
    "general_name": ("general_course_name", "general_name", "integrated_course"),
    "year": ("year", "year_of_study"),
    "is_mandatory": ("mandatory", "is_mandatory"),
    "ects": ("ects", "ects_credits", "credits"),
    "field": ("field_of_research", "field", "research_field"),
    "prerequisites": ("prerequisites", "prerequisite"),
    "prerequisite_codes": ("prerequisite_codes", "required_courses"),
    "assessment": ("assessment",),
    "contents": ("contents", "content"),
    "objectives": ("objectives", "learning_objectives"),
    "programme": ("detailed_programme", "programme", "detailed_program", "program"),
}
FIELD_OF = {name: known for known, names in NAMES.items() for name in names}
NEEDED = ("code", "name", "url")
LONGEST = {"code": 50, "name": 300, "general_name": 300, "field": 300}
LANGUAGES = {"english": "en", "englisch": "en", "german": "de", "deutsch": "de"}
LANGUAGE = re.compile(r"[a-z]{2,3}(-[a-z0-9]{2,8})?")
YES = frozenset({"true", "yes", "y", "1", "x", "mandatory", "compulsory", "ja", "pflicht", "pflichtmodul"})
NO = frozenset({"false", "no", "n", "0", "elective", "optional", "nein", "wahl", "wahlpflicht", "wahlmodul"})
DELIMITERS = ",;\t"
LIMITS = Limits(size=50 * 1024 * 1024, rows=20_000, columns=200, cells=2_000_000)
#: Separators of codes in a table's cell.
BETWEEN_CODES = re.compile(r"[,;\n]")


class BadFile(ValueError):
    """The file as a whole cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class CourseRecord:
    code: str
    name: str
    url: str
    language: str = "en"
    general_name: str = ""
    year: int | None = None
    is_mandatory: bool | None = None
    ects: Decimal | None = None
    field: str = ""
    prerequisites: str = ""
    prerequisite_codes: tuple[str, ...] = ()
    assessment: str = ""
    contents: str = ""
    objectives: str = ""
    programme: str = ""


@dataclass(slots=True)
class CourseFile:
    """Contents of a file; `problems` are (where, reason), `unknown` the columns that match no field."""

    records: list[CourseRecord] = field(default_factory=list)
    problems: list[tuple[str, str]] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Row:
    """One course as the file has it: `cells` by its own column names, `where` to find it again."""

    where: str
    cells: Mapping[str, Any]
    problem: str = ""


def read_courses(path: Path) -> CourseFile:
    """Read every record of the file and every mistake in it; raises BadFile or OSError."""
    with path.open("rb") as stream:
        return read_course_file(path.suffix, stream.read(LIMITS.size + 1))


def read_course_file(ending: str, content: bytes) -> CourseFile:
    """Read every record of a file whose name ends so, and every mistake in it; raises BadFile."""
    try:
        LIMITS.check_size(len(content))
        columns, rows = _rows(ending.lower(), content)
    except TableTooLarge as error:
        raise BadFile(str(error).removesuffix(".")) from error
    known = {column: FIELD_OF[name] for column in columns if (name := _normalised(column)) in FIELD_OF}
    if rows and (missing := [name for name in NEEDED if name not in known.values()]):
        named = {"columns": ", ".join(f'"{column}"' for column in missing)}
        raise BadFile(
            ngettext("the column %(columns)s is missing", "the columns %(columns)s are missing", len(missing)) % named
        )
    file = CourseFile(unknown=[column for column in columns if column.strip() and column not in known])
    seen: dict[tuple[str, ...], str] = {}
    for row in rows:
        record, reasons = _checked(row, known)
        for key, field_name in _identities(record) if record else ():
            if key in seen:
                reasons.append(_("the same %(field)s as %(where)s") % {"field": field_name, "where": seen[key]})
            seen.setdefault(key, row.where)
        file.problems += [(row.where, reason) for reason in reasons]
        if record and not reasons:
            file.records.append(record)
    return file


# --- files into rows ---


def _rows(ending: str, content: bytes) -> tuple[list[str], list[Row]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        said = _("it is not UTF-8 (byte %(byte)d); save it as “CSV UTF-8” or JSON")
        raise BadFile(said % {"byte": error.start}) from error
    is_json = ending == ".json" or (ending != ".csv" and text.lstrip().startswith(("[", "{")))
    return _json_rows(text) if is_json else _csv_rows(text)


def _json_rows(text: str) -> tuple[list[str], list[Row]]:
    try:
        raws = json.loads(text)
    except json.JSONDecodeError as error:
        said = _("it is not JSON (%(problem)s in line %(line)d)")
        raise BadFile(said % {"problem": error.msg, "line": error.lineno}) from error
    except ValueError as error:  # a number of thousands of digits
        raise BadFile(_("it is not JSON (%(problem)s)") % {"problem": error}) from error
    except RecursionError as error:
        raise BadFile(_("its JSON is nested too deeply")) from error
    if not isinstance(raws, list):
        raise BadFile(_("it must be a list: %(example)s") % {"example": '[{"code": …, "name": …, "url": …}, …]'})
    LIMITS.check_rows(len(raws))
    rows = [
        Row(_entry(number), raw) if isinstance(raw, dict) else Row(_entry(number), {}, _("it is not an object"))
        for number, raw in enumerate(raws, start=1)
    ]
    return list(dict.fromkeys(column for row in rows for column in row.cells)), rows


def _entry(number: int) -> str:
    return _("entry %(number)d") % {"number": number}


def _csv_rows(text: str) -> tuple[list[str], list[Row]]:
    if not text.strip():
        raise BadFile(_("it is empty; its first row must name the columns"))
    delimiter = max(DELIMITERS, key=lambda mark: sum(_normalised(name) in FIELD_OF for name in _header(text, mark)))
    rows: list[Row] = []
    try:
        found = bounded(csv_rows(text, delimiter, strict=True), LIMITS)
        columns = [column.strip() for column in next(found)[1]]
        if twice := [column for column, count in Counter(columns).items() if column and count > 1]:
            raise BadFile(_("the column “%(column)s” is there twice") % {"column": min(twice)})
        for number, (_line, cells) in enumerate(found, start=2):
            surplus = [cell for cell in cells[len(columns) :] if cell.strip()]
            counts = {"cells": len(cells), "columns": len(columns)}
            said = _("it has %(cells)d cells, but there are %(columns)d columns")
            problem = said % counts if surplus else ""
            if any(cell.strip() for cell in cells):
                where = _("row %(number)d") % {"number": number}
                rows.append(Row(where, dict(zip(columns, cells, strict=False)), problem))
    except UnreadableLine as error:
        said = _("its table cannot be read in line %(line)d: %(problem)s")
        raise BadFile(said % {"line": error.line, "problem": error}) from error
    return columns, rows


def _header(text: str, delimiter: str) -> Sequence[str]:
    try:
        return next(csv_rows(text, delimiter))[1]
    except UnreadableLine:
        return []


def _normalised(column: str) -> str:
    return re.sub(r"[\s_-]+", "_", column.strip().casefold())


# --- rows into records ---


def _checked(row: Row, known: Mapping[str, str]) -> tuple[CourseRecord | None, list[str]]:
    """Return the record, or everything that is wrong with the row."""
    if row.problem:
        return None, [row.problem]
    reasons: list[str] = []
    values: dict[str, Any] = {}
    given: dict[str, str] = {}
    for column, name in known.items():
        raw = row.cells.get(column)
        if raw is None or (isinstance(raw, str) and not raw.strip()):
            continue
        if name in given:
            said = _("“%(column)s” and “%(other)s” say the same twice; leave one of them out")
            reasons.append(said % {"column": given[name], "other": column})
            continue
        given[name] = column
        try:
            values[name] = READERS[name](raw, column)
        except BadRecord as problem:
            reasons.append(str(problem))
    named = {name: column for column, name in reversed(list(known.items()))}
    missing = _("“%(column)s” is missing")
    reasons += [missing % {"column": named.get(name, name)} for name in NEEDED if name not in given]
    if reasons:
        return None, reasons
    prerequisites = row.cells.get(given.get("prerequisites", ""))
    if isinstance(prerequisites, list):  # it may hold codes; the text says them anyway
        listed = (*_codes(prerequisites, "prerequisites"), *values.get("prerequisite_codes", ()))
        values["prerequisite_codes"] = tuple(dict.fromkeys(listed))
    return CourseRecord(**values), []


def _identities(record: CourseRecord) -> Iterator[tuple[tuple[str, ...], str]]:
    yield ("url", record.url), "url"
    yield ("code", record.code.casefold(), record.language), "code"


def _text(raw: Any, column: str) -> str:
    if isinstance(raw, list) and all(isinstance(item, str) for item in raw):
        raw = "\n".join(f"- {' '.join(item.split())}" for item in raw if item.strip())
    if isinstance(raw, bool) or not isinstance(raw, str | int | float):
        raise BadRecord(_("“%(column)s” is %(kind)s, not a text") % {"column": column, "kind": _kind(raw)})
    text = str(raw).replace("\0", "").replace("\r\n", "\n").replace("\r", "\n").strip()
    try:
        text.encode()
    except UnicodeEncodeError as error:
        said = _("“%(column)s” has half a character (at %(place)d)")
        raise BadRecord(said % {"column": column, "place": error.start}) from error
    return text


def _line(name: str) -> Callable[[Any, str], str]:
    def read(raw: Any, column: str) -> str:
        text = " ".join(_text(raw, column).split())
        if len(text) > LONGEST[name]:
            said = _("“%(column)s” has %(count)d characters; %(most)d are allowed")
            raise BadRecord(said % {"column": column, "count": len(text), "most": LONGEST[name]})
        return text

    return read


def _url(raw: Any, column: str) -> str:
    return checked_url(_text(raw, column), key=column)


def _language(raw: Any, column: str) -> str:
    text = _text(raw, column).lower()
    text = LANGUAGES.get(text, text.replace("_", "-"))
    if not LANGUAGE.fullmatch(text):
        raise _no_value(column, text, _("it must be a code such as en or de"))
    return text


def _year(raw: Any, column: str) -> int:
    text = _text(raw, column).removesuffix(".0")
    if not re.fullmatch(r"[0-9]{1,4}", text) or not int(text):
        raise _no_value(column, text, _("it must be a whole number such as 2"))
    return int(text)


def _yes_or_no(raw: Any, column: str) -> bool:
    text = ("true" if raw else "false") if isinstance(raw, bool) else _text(raw, column).casefold()
    if text in YES or text in NO:
        return text in YES
    raise _no_value(column, text, _("it must be yes or no"))


def _ects(raw: Any, column: str) -> Decimal:
    text = _text(raw, column)
    try:
        number = Decimal(text.replace(",", "."))
    except InvalidOperation:
        number = Decimal("NaN")
    if not number.is_finite() or not 0 <= number < 1000 or number != round(number, 1):
        raise _no_value(column, text, _("it must be a number such as 6 or 7.5"))
    return round(number, 1)


def _prerequisites(raw: Any, column: str) -> str:
    return ", ".join(_codes(raw, column)) if isinstance(raw, list) else _text(raw, column)


def _codes(raw: Any, column: str) -> tuple[str, ...]:
    items = raw if isinstance(raw, list) else BETWEEN_CODES.split(_text(raw, column))
    return tuple(dict.fromkeys(code for item in items if (code := " ".join(_text(item, column).split()))))


def _no_value(column: str, text: str, needed: str) -> BadRecord:
    named = {"column": column, "value": repr(text[:40]), "needed": needed}
    return BadRecord(_("“%(column)s” is %(value)s; %(needed)s") % named)


def _kind(value: object) -> str:
    kinds = {dict: _("an object"), list: _("a list"), bool: _("true or false")}
    return kinds.get(type(value), _("no text"))


READERS: Mapping[str, Callable[[Any, str], Any]] = {
    **dict.fromkeys(("prerequisites", "assessment", "contents", "objectives", "programme"), _text),
    **{name: _line(name) for name in LONGEST},
    "url": _url,
    "language": _language,
    "year": _year,
    "is_mandatory": _yes_or_no,
    "ects": _ects,
    "prerequisites": _prerequisites,
    "prerequisite_codes": _codes,
}
