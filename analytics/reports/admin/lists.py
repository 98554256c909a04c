"""The lists of saved reports and of their files."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.core.paginator import Paginator
from django.utils import timezone

from analytics.dashboard.rankings import topics_to_name
from analytics.models import Report, StoredReport
from analytics.reports.definition import FORMATS, Definition, Names, in_words, names_for
from analytics.reports.permissions import may_open

if TYPE_CHECKING:
    from django.contrib.auth.models import User

#: Files that a page lists.
A_PAGE = 20


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
    pages = Paginator(StoredReport.objects.visible_to(user).select_related("requested_by"), A_PAGE)
    page = pages.get_page(page_number)
    saved = list(Report.objects.visible_to(user).select_related("owner"))
    definitions = [*(each.definition for each in saved), *(each.definition for each in page)]
    has_topics = any(each.get("topics") for each in definitions)
    names = names_for(user, {topic.pk: topic.title for topic in topics_to_name(user)} if has_topics else None)
    return {
        "saved": [_saved_row(report, names, user) for report in saved],
        "files": [file_row(stored, names, user) for stored in page],
        "page": page,
        "pages": list(pages.get_elided_page_range(page.number)),
        "is_active": any(stored.is_active for stored in page),
    }


def file_row(stored: StoredReport, names: Names, user: "User") -> FileRow:
    definition = Definition.load(stored.definition)
    is_over = stored.expires_at is not None and stored.expires_at <= timezone.now()
    return FileRow(
        stored=stored,
        words=in_words(definition, names),
        format=str(FORMATS[definition.format]),
        is_active=stored.is_active,
        may_open=stored.state == StoredReport.State.FINISHED and not is_over and may_open(stored, user),
        is_over=is_over,
        percent=100 * stored.done // stored.total if stored.total else 0,
    )


def _saved_row(report: Report, names: Names, user: "User") -> SavedRow:
    definition = Definition.load(report.definition)
    words, file = in_words(definition, names), str(FORMATS[definition.format])
    return SavedRow(report, words, file, report.owner_id == user.pk)
