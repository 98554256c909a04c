"""Services for reports: save, export, stop, delete."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from django.contrib.auth import get_user_model
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import get_language
from django.utils.translation import gettext as _

from analytics.models import Report, StoredReport
from analytics.reports.audit import log_export
from analytics.reports.by_mail.schedule import set_rhythm
from analytics.reports.content import NothingToTell, check, columns_for, make_file
from analytics.reports.definition import Definition
from analytics.reports.files import drop_files, passing_file
from analytics.reports.groups import measure_extent
from analytics.reports.permissions import rights_for
from analytics.tasks import make_report

if TYPE_CHECKING:
    from django.contrib.auth.models import User

State = StoredReport.State
#: More rows are made by a worker.
AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class Export:
    """A whole file that stands under no name any more: it is gone when it is closed."""

    file: BinaryIO
    size: int
    rows: int


@transaction.atomic
def save_report(*, report: Report, definition: Definition, rhythm: str) -> Report:
    """Check and save a report, and when its owner gets it by e-mail. Raise ValidationError."""
    set_rhythm(report, rhythm, definition)
    report.definition = definition.dump()
    report.full_clean()
    report.save()
    return report


def check_export(*, definition: Definition, by: "User") -> None:
    """Raise ValidationError if there is nothing to export, before a worker gets it."""
    rights = rights_for(by)
    columns = columns_for(definition, rights)
    extent = measure_extent(definition, definition.period(), rights, columns)
    try:
        check(extent, columns)
    except NothingToTell as error:
        raise ValidationError(_(str(error))) from error


def export_now(*, report: Report, definition: Definition, by: "User") -> Export:
    """Make a short file (`AT_ONCE`) at once.

    `report` may be unsaved: its name goes into the audit log. Raise ValidationError if there is nothing to export,
    and OSError.
    """
    rights, path = rights_for(by), passing_file()
    try:
        extent = make_file(path, definition, definition.period(), rights, lambda _done, _total: None)
        file = path.open("rb")
    except NothingToTell as error:
        raise ValidationError(_(str(error))) from error
    finally:
        path.unlink(missing_ok=True)
    log_export(report, by, definition, rights, extent)
    return Export(file, _size(file), extent.rows)


@transaction.atomic
def queue_export(*, name: str, definition: Definition, by: "User") -> StoredReport:
    """Queue the file for a worker; one that is being made already is not made twice."""
    get_user_model().objects.select_for_update().get(pk=by.pk)  # a double click waits here
    dumped = definition.dump()
    same = StoredReport.objects.filter(requested_by=by, definition=dumped).active().first()
    if same:
        return same
    language = get_language() or "en"
    stored = StoredReport.objects.create(name=name, definition=dumped, requested_by=by, language=language)
    make_report.delay_on_commit(stored.pk)
    return stored


@transaction.atomic
def cancel_export(*, stored: StoredReport) -> bool:
    """End it within seconds; return False if it had ended."""
    return stored.cancel()


@transaction.atomic
def delete_export(*, stored: StoredReport) -> None:
    """Delete the export with its file; a worker that makes it stops."""
    drop_files([stored])
    stored.delete()


def _size(file: BinaryIO) -> int:
    size = file.seek(0, 2)
    file.seek(0)
    return size
