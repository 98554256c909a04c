"""Values as the cells of a file for people: translated, neutralised, and typed where that helps; pure but for words."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.reports.columns import COLUMNS, Column, Kind
from faqs.tables import printable
from knowledge.cells import neutralise

Cell = str | int | float | bool | datetime | None
#: What a cell of Excel holds at most.
LONGEST = 32_767
#: Besides control characters: XML holds none of these either.
NO_CHARACTERS = re.compile("[\ufffe\uffff]")


def cells_of(key: str) -> Callable[[Any], Cell]:
    """Makes of the column's values cells of a sheet, in the language that is active now: times as the university's
    clocks show them, without their zone, which Excel does not know."""
    column, zone = COLUMNS[key], timezone.get_default_timezone()
    make: Callable[[Any], Cell]
    match column.kind:
        case Kind.TIME:
            make = lambda value: value.astimezone(zone).replace(tzinfo=None)  # noqa: E731
        case Kind.NUMBER | Kind.FLAG:
            return lambda value: value
        case Kind.SOURCES:
            page = _("page %(page)s")
            make = lambda value: _text("\n".join(_source(source, page) for source in value))  # noqa: E731
        case Kind.CODES:
            words = _words(column)
            make = lambda value: _text(", ".join(words.get(code, code) for code in value))  # noqa: E731
        case Kind.CODE:
            words = _words(column)
            make = lambda value: _text(words.get(value, value))  # noqa: E731
        case Kind.TEXT:
            make = _text
    return lambda value: None if value is None else make(value)


def csv_cells_of(key: str) -> Callable[[Any], str | int | float]:
    """As `cells_of`, for a file that knows texts and numbers alone."""
    cell_of = cells_of(key)
    match COLUMNS[key].kind:
        case Kind.FLAG:
            said = {True: _("yes"), False: _("no")}
            return lambda value: said[value]
        case Kind.TIME:
            return lambda value: cell_of(value).isoformat(" ", "seconds")  # type: ignore[union-attr]
    return lambda value: "" if value is None else cell_of(value)  # type: ignore[return-value]


def json_value(value: Any) -> Any:
    """A time with its zone; everything else is JSON's own."""
    return timezone.localtime(value).isoformat() if isinstance(value, datetime) else value


def heading(key: str) -> str:
    return str(COLUMNS[key].label)


def _words(column: Column) -> dict[str, str]:
    return {code: str(said) for code, said in (column.words or {}).items()}


def _source(source: dict[str, Any], page: str) -> str:
    place = " – ".join(part for part in (source["title"], source["heading"]) if part)
    if source["page"]:
        place += ", " + page % {"page": source["page"]}
    return f"[{source['n']}] {place} {source['url']}"


def _text(text: str) -> str:
    if not text.isprintable():  # which most are
        text = NO_CHARACTERS.sub("", printable(text))
    text = neutralise(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
