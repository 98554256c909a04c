"""Audit log entries of exports: who, what, how many rows, and whether identities were in it."""

from django.contrib.admin.models import CHANGE, LogEntry
from django.db.models import Model
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.models import Report, StoredReport
from analytics.reports.content import columns_for
from analytics.reports.definition import Definition, columns_in_words, in_words, names_for
from analytics.reports.permissions import Rights
from analytics.reports.queries import Extent
from core.access import Staff


def log_export(row: Model, by: Staff, definition: Definition, rights: Rights, extent: Extent) -> None:
    """Record an export that is complete, before anybody receives it."""
    rows = ngettext("exported %d row", "exported %d rows", extent.rows) % extent.rows
    parts = [f"{rows} ({definition.format})"]
    parts.append(_("with personal data") if rights.sees_personal_text else _("personal data masked"))
    if rights.smallest > 1:
        parts.append(_("without groups of fewer than %(k)d visitors") % {"k": rights.smallest})
    period = definition.period()
    parts.append(f"{in_words(definition, names_for(by))} ({period.first} – {period.last})")
    parts.append(_("columns: %(columns)s") % {"columns": columns_in_words(columns_for(definition, rights))})
    log(row, by, "; ".join(parts))


def log_download(stored: StoredReport, by: Staff) -> None:
    rows = ngettext("downloaded %d row", "downloaded %d rows", stored.total) % stored.total
    log(stored, by, rows)


def log_broken_off(row: Report | StoredReport, by: Staff, sent: int, size: int) -> None:
    said = _("the download was broken off: %(sent)d of %(size)d bytes were sent")
    log(row, by, said % {"sent": sent, "size": size})


def log(row: Model, by: Staff, message: str) -> None:
    if by.pk is not None:
        LogEntry.objects.log_actions(by.pk, [row], CHANGE, message)
