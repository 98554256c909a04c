"""When a report comes by e-mail, and of which days."""

import datetime
from dataclasses import replace

from django.core.exceptions import ValidationError
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.mails import NO_MAILS, sends_mails
from analytics.models import Report
from analytics.periods import ONE_DAY, Step, next_start, step_start
from analytics.reports.definition import Definition, Span

STEPS = {Report.Rhythm.WEEKLY: Step.WEEK, Report.Rhythm.MONTHLY: Step.MONTH}


def last_day(rhythm: str, today: datetime.date) -> datetime.date:
    """Return the last day of the week or month that is over."""
    return step_start(today, STEPS[Report.Rhythm(rhythm)]) - ONE_DAY


def next_mail(rhythm: str, today: datetime.date) -> datetime.date:
    """Return the day of the next mail: the first day of the next week or month."""
    step = STEPS[Report.Rhythm(rhythm)]
    return next_start(step_start(today, step), step)


def is_due(report: Report, today: datetime.date) -> bool:
    """Return whether the report of the period that is over has not been mailed."""
    return report.mailed_until is None or report.mailed_until < last_day(report.rhythm, today)


def definition_until(report: Report, last: datetime.date) -> Definition:
    """Return the report's definition with fixed days: those it means when it is read the day after `last`.

    A span that ends today ends on `last`, so that no mail holds a day that has just begun.
    """
    definition = Definition.load(report.definition)
    asked_on = last + ONE_DAY if definition.span == Span.LAST_MONTH else last
    period = definition.period(asked_on)
    return replace(definition, span=Span.FIXED, first=period.first, last=period.last)


def set_rhythm(report: Report, rhythm: str, definition: Definition) -> None:
    """Set when the report is mailed to its owner, unsaved; the first mail is of the period that is running now.

    Raise ValidationError if it cannot be mailed so.
    """
    if not rhythm:
        report.rhythm, report.mailed_until = Report.Rhythm.NEVER, None
        return
    if not sends_mails():
        raise ValidationError({"rhythm": NO_MAILS})
    if not report.owner.email:
        raise ValidationError({"rhythm": _("Your account has no e-mail address. Ask an administrator to add it.")})
    if definition.span == Span.FIXED:
        raise ValidationError(
            {"rhythm": _("These days stay the same. Choose a period that moves on, such as last month.")}
        )
    if report.rhythm != rhythm:
        report.rhythm, report.mailed_until = Report.Rhythm(rhythm), last_day(rhythm, timezone.localdate())
