"""Mail due reports: request the file of a worker, then mail its link with the figures of the period."""

import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.mail.backends.base import BaseEmailBackend
from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from django.utils.text import slugify
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from analytics.dashboard.formatting import day_name, period_name
from analytics.dashboard.visibility import VIEW_DASHBOARD
from analytics.mails import Attached, address, mail_each, send, sends_mails
from analytics.models import Report, StoredReport
from analytics.reports.by_mail.figures import make_figures
from analytics.reports.by_mail.schedule import STEPS, definition_until, is_due, last_day
from analytics.reports.definition import FORMATS, Definition
from analytics.reports.permissions import EXPORT, rights_for

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

State = StoredReport.State
#: What knows the permissions; others only log people in.
PERMISSIONS = "django.contrib.auth.backends.ModelBackend"


def request_files(today: datetime.date | None = None) -> list[int]:
    """Request the files of due reports; return the ids of stored reports for a worker."""
    day = today or timezone.localdate()
    if not sends_mails():
        return []
    return [stored.pk for reader in readers(day) for report in _due(reader, day) if (stored := _request(report, day))]


def mail_due_reports(today: datetime.date | None = None) -> int:
    """Mail the due reports whose files are made, or could not be; return how many mails."""
    day = today or timezone.localdate()
    return mail_each(readers(day), lambda connection, reader: _mail_reports(connection, reader, day))


def readers(today: datetime.date) -> "QuerySet[User]":
    """Return who has a due report, an address and, today, the right to export."""
    due = Q(pk__in=[])
    for rhythm in STEPS:
        late = Q(mailed_until=None) | Q(mailed_until__lt=last_day(rhythm, today))
        due |= Q(pk__in=Report.objects.filter(late, rhythm=rhythm).values("owner"))
    may_export = get_user_model().objects.with_perm(EXPORT, backend=PERMISSIONS)
    return may_export.filter(due, is_staff=True).exclude(email="").order_by("pk")


def _mail_reports(connection: BaseEmailBackend, reader: "User", today: datetime.date) -> int:
    sent = 0
    for report in _due(reader, today):
        if report.file and not report.file.is_active and _mail(connection, reader, report, report.file):
            report.mailed_until, report.file = last_day(report.rhythm, today), None
            report.save(update_fields=["mailed_until", "file"])
            sent += 1
    return sent


def _due(reader: "User", today: datetime.date) -> list[Report]:
    reports = reader.reports.exclude(rhythm="").select_related("owner", "file")
    return [report for report in reports if is_due(report, today)]


@transaction.atomic
def _request(report: Report, today: datetime.date) -> StoredReport | None:
    """Create the stored report of what is due now, unless there is one already."""
    definition = definition_until(report, last_day(report.rhythm, today))
    if report.file and Definition.load(report.file.definition) == definition:
        return None
    report.file = StoredReport.objects.create(
        name=report.name, definition=definition.dump(), requested_by=report.owner, language=settings.MAIL_LANGUAGE
    )
    report.save(update_fields=["file"])
    return report.file


def _mail(connection: BaseEmailBackend, reader: "User", report: Report, stored: StoredReport) -> bool:
    """Mail one report; return whether that is settled. Raise OSError if nobody can be mailed."""
    definition = Definition.load(stored.definition)
    period = period_name(definition.period())
    lines = [_("This is your report “%(name)s” of %(period)s.") % {"name": report.name, "period": period}, ""]
    lines += _about_file(stored, definition)
    attached: list[Attached] = []
    if reader.has_perm(VIEW_DASHBOARD):
        pdf = make_figures(report.name, definition, reader)
        attached = [(f"{slugify(report.name) or _('report')}-{definition.last}.pdf", pdf, "application/pdf")]
        lines += ["", _("The figures of the period are attached, as the dashboard shows them to you.")]
    smallest = rights_for(reader).smallest
    if smallest > 1:
        lines += ["", _("Groups of fewer than %(least)d visitors are left out for privacy.") % {"least": smallest}]
    ending = [_("To change this report, or to get it no more:"), address("admin:analytics_report_change", report.pk)]
    subject = _("%(name)s: %(period)s") % {"name": report.name, "period": period}
    return send(connection, reader, subject, lines, ending=ending, attached=attached)


def _about_file(stored: StoredReport, definition: Definition) -> list[str]:
    """Return the lines about the file: its link, or why there is none.

    The file is not attached: what a student has deleted must not go on in mailboxes.
    """
    if stored.state != State.FINISHED or stored.expires_at is None:
        return [_("There is no file: %(reason)s") % {"reason": _(stored.message) or stored.get_state_display()}]
    rows = ngettext("%(count)d answer", "%(count)d answers", stored.total) % {"count": stored.total}
    kept = day_name(timezone.localdate(stored.expires_at))
    return [
        f"{rows}, {FORMATS[definition.format]}:",
        address("admin:analytics_report_download", stored.pk),
        _("Log in to open it; it is kept until %(day)s.") % {"day": kept},
    ]
