"""The preview of a report: its columns and first rows."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from analytics.reports.admin.form import ReportForm, ordered
from analytics.reports.columns import COLUMNS, csv_cell_formatter, heading, typed
from analytics.reports.content import NothingToTell, check, columns_for, protect
from analytics.reports.definition import Definition
from analytics.reports.groups import measure_extent
from analytics.reports.permissions import Rights, rights_for
from analytics.reports.queries import chosen, iterate_rows
from analytics.reports.services import AT_ONCE

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Rows, and characters of a cell, that a preview shows.
FIRST_ROWS, SHOWN_CHARACTERS = 20, 300


@dataclass(frozen=True, slots=True)
class Preview:
    """`problem` says why there is no file to make; `missing` are columns that this member of staff does not get."""

    rows: int
    smallest: int
    is_masked: bool
    headings: list[str]
    cells: list[list[str]]
    missing: list[str]
    problem: str

    @property
    def is_long(self) -> bool:
        return self.rows > AT_ONCE


def build_preview(definition: Definition, user: "User") -> Preview:
    rights = rights_for(user)
    columns = columns_for(definition, rights)
    answers = chosen(definition, definition.period(), rights)
    extent = measure_extent(definition, definition.period(), rights, columns)
    problem, cells = "", []
    try:
        check(extent, columns)
    except NothingToTell as error:
        problem = _(str(error))
    else:
        for batch in iterate_rows(answers, columns, extent, rights, most=FIRST_ROWS):
            cells = [_cells(row, columns, rights) for row in batch]
    return Preview(
        rows=extent.rows,
        smallest=rights.smallest,
        is_masked=not rights.sees_personal_text,
        headings=[heading(key) for key in columns],
        cells=cells,
        missing=[heading(key) for key in definition.columns if key not in columns],
        problem=problem,
    )


def _cells(row: dict[str, Any], columns: tuple[str, ...], rights: Rights) -> list[str]:
    if not rights.sees_personal_text:
        protect(row)
    texts = (str(csv_cell_formatter(key)(typed(key)(row[key]))) for key in columns)
    return [text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…" for text in texts]


@dataclass(frozen=True, slots=True)
class Choice:
    """A column as the form offers it."""

    key: str
    label: str
    is_ticked: bool


def column_choices(form: ReportForm, rights: Rights) -> list[Choice]:
    """Return the columns in the order of the page, those with identities only for staff who may see them."""
    order, ticked = form["order"].value() or [], set(form["columns"].value() or [])
    offered = (key for key in ordered([key for key in order if key in COLUMNS]))
    return [
        Choice(key, heading(key), key in ticked)
        for key in offered
        if rights.sees_personal_text or not COLUMNS[key].is_identity
    ]
