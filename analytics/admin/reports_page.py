"""What the pages of reports show: the first rows of one, and one's saved reports and files."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.admin.reports_form import ReportForm, ordered
from analytics.models import Report, StoredReport
from analytics.report_services import AT_ONCE
from analytics.reports.answers import chosen, extent_of, rows_of
from analytics.reports.cells import csv_cells_of, heading
from analytics.reports.columns import COLUMNS, typed
from analytics.reports.definition import Definition
from analytics.reports.describing import FORMATS, Names, in_words, names_for
from analytics.reports.jobs import ACTIVE
from analytics.reports.making import NothingToTell, check, columns_for
from analytics.reports.protecting import protect
from analytics.reports.rights import Rights, may_open, rights_of

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Rows and characters of a cell that a preview shows; files that a page lists.
FIRST_ROWS, SHOWN_CHARACTERS, A_PAGE = 20, 300, 20


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


def preview_of(definition: Definition, user: "User") -> Preview:
    rights = rights_of(user)
    columns = columns_for(definition, rights)
    answers = chosen(definition, definition.period(), rights)
    extent = extent_of(answers, rights)
    problem, cells = "", []
    try:
        check(extent, columns)
    except NothingToTell as error:
        problem = _(str(error))
    else:
        for batch in rows_of(answers, columns, extent, rights, most=FIRST_ROWS):
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
    texts = (str(csv_cells_of(key)(typed(key)(row[key]))) for key in columns)
    return [text if len(text) <= SHOWN_CHARACTERS else f"{text[:SHOWN_CHARACTERS]}…" for text in texts]


@dataclass(frozen=True, slots=True)
class Choice:
    """A column as the form offers it."""

    key: str
    label: str
    is_ticked: bool


def column_choices(form: ReportForm, rights: Rights) -> list[Choice]:
    """In the order of the page; those that tell people apart only for who gets them."""
    order, ticked = form["order"].value() or [], set(form["columns"].value() or [])
    offered = (key for key in ordered([key for key in order if key in COLUMNS]))
    return [
        Choice(key, heading(key), key in ticked)
        for key in offered
        if rights.sees_personal_text or not COLUMNS[key].is_identity
    ]


@dataclass(frozen=True, slots=True)
class SavedRow:
    report: Report
    words: str
    file: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class FileRow:
    """A stored report as its list shows it."""

    stored: StoredReport
    words: str
    format: str
    is_active: bool
    may_open: bool
    is_over: bool
    percent: int


def lists_for(user: "User", page_number: str | None) -> dict[str, Any]:
    names = names_for(user)
    pages = Paginator(StoredReport.objects.for_staff(user).select_related("requested_by"), A_PAGE)
    page = pages.get_page(page_number)
    saved = Report.objects.for_staff(user).select_related("owner")
    return {
        "saved": [_saved_row(report, names, user) for report in saved],
        "files": [file_row(stored, names, user) for stored in page],
        "page": page,
        "pages": list(pages.get_elided_page_range(page.number)),
        "is_active": any(stored.state in ACTIVE for stored in page),
    }


def file_row(stored: StoredReport, names: Names, user: "User") -> FileRow:
    definition = Definition.load(stored.definition)
    is_over = stored.expires_at is not None and stored.expires_at <= timezone.now()
    return FileRow(
        stored=stored,
        words=in_words(definition, names),
        format=str(FORMATS[definition.format]),
        is_active=stored.state in ACTIVE,
        may_open=stored.state == StoredReport.State.FINISHED and not is_over and may_open(stored, user),
        is_over=is_over,
        percent=100 * stored.done // stored.total if stored.total else 0,
    )


def _saved_row(report: Report, names: Names, user: "User") -> SavedRow:
    definition = Definition.load(report.definition)
    words, file = in_words(definition, names), str(FORMATS[definition.format])
    return SavedRow(report, words, file, report.owner_id == user.pk)
