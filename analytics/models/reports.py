"""Definitions of reports, saved under a name, and the files that were made of them."""

import secrets
from collections.abc import Collection
from datetime import timedelta
from typing import TYPE_CHECKING, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from django.utils.translation import gettext_noop

from core.access import sees_everything
from core.jobs import JobQuerySet, RequestedJob

if TYPE_CHECKING:
    from core.access import Staff

LOST = gettext_noop("Its worker was lost several times: choose fewer days, or CSV instead of Excel.")


class ReportQuerySet(models.QuerySet["Report"]):
    def visible_to(self, user: "Staff") -> Self:
        """Keep one's own and shared ones; who runs a report decides which answers it brings."""
        return self.filter(Q(owner=user.pk) | Q(is_shared=True))


class Report(models.Model):
    """A choice of answers and columns under a name (`analytics.reports.definition`).

    With a `rhythm` its owner gets it by e-mail (`analytics.reports.by_mail`): `mailed_until` is the last day of the
    newest period that they got it of, or that was over when they asked for it, `file` what is made for the next mail.
    """

    class Rhythm(models.TextChoices):
        NEVER = "", _("not by e-mail")
        WEEKLY = "weekly", _("every week, on Monday")
        MONTHLY = "monthly", _("every month, on the first day")

    name = models.CharField(_("name"), max_length=100)
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="reports", verbose_name=_("owner")
    )
    is_shared = models.BooleanField(_("shared with colleagues"), default=False)
    definition = models.JSONField()
    rhythm = models.CharField(_("by e-mail to me"), max_length=7, choices=Rhythm, blank=True, default=Rhythm.NEVER)
    mailed_until = models.DateField(null=True, editable=False)
    file = models.ForeignKey("StoredReport", on_delete=models.SET_NULL, null=True, editable=False, related_name="+")
    updated_at = models.DateTimeField(_("last change"), auto_now=True)

    objects = ReportQuerySet.as_manager()

    class Meta:
        verbose_name = _("report")
        verbose_name_plural = _("reports")
        ordering = ["name", "pk"]
        default_permissions = ()
        permissions = [("export_reports", _("Can export what was asked and answered, as reports"))]
        constraints = [
            models.UniqueConstraint(
                fields=["owner", "name"],
                name="one_report_an_owner_and_name",
                violation_error_message=_("You have a report of this name already: choose another name."),
            )
        ]

    def __str__(self) -> str:
        return self.name

    def validate_constraints(self, exclude: Collection[str] | None = None) -> None:
        """Show violations beside the name, which the only constraint is about. Raise ValidationError."""
        try:
            super().validate_constraints(exclude)
        except ValidationError as error:
            raise ValidationError({"name": error.messages}) from error


class StoredReportQuerySet(JobQuerySet["StoredReport"]):
    def visible_to(self, user: "Staff") -> Self:
        """Keep one's own; those who see everything see all. Opening the file asks for more
        (`analytics.reports.permissions`)."""
        return self if sees_everything(user) else self.filter(requested_by=user.pk)


def new_token() -> str:
    return secrets.token_hex(16)


class StoredReport(RequestedJob):
    """One long report, made by a worker: from the queue until its file is gone.

    `definition` is as it was asked for, `since` and `until` are the moments that it covers. What the file may hold is
    said by `is_masked`, `smallest` (visitors that a group in it has at least), and `assistants`, unless `is_whole`:
    then it may hold everybody's. `token` names the file, in `analytics.reports.files`.
    """

    TASK = "analytics.tasks.make_report"
    LOST_AFTER = UNBEGUN_AFTER = REQUEUED_EVERY = timedelta(minutes=2)
    #: Workers that are lost one after the other, perhaps because of the report.
    ATTEMPTS = 3

    class State(models.TextChoices):
        QUEUED = "queued", _("waiting")
        RUNNING = "running", _("being made")
        FINISHED = "finished", _("ready")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("stopped")
        EXPIRED = "expired", _("expired")
        ERASED = "erased", _("deleted")

    name = models.CharField(_("report"), max_length=100)
    definition = models.JSONField()
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="stored_reports", verbose_name=_("made for")
    )
    language = models.CharField(max_length=12)
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.QUEUED)
    size = models.PositiveBigIntegerField(_("size"), default=0)
    token = models.CharField(max_length=32, default=new_token, unique=True)
    has_file = models.BooleanField(default=False)
    since = models.DateTimeField(null=True)
    until = models.DateTimeField(null=True)
    is_masked = models.BooleanField(default=True)
    smallest = models.PositiveIntegerField(default=1)
    is_whole = models.BooleanField(default=False)
    assistants = ArrayField(models.BigIntegerField(), default=list)
    attempts = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(_("asked for"), auto_now_add=True)
    expires_at = models.DateTimeField(_("kept until"), null=True)

    objects = StoredReportQuerySet.as_manager()

    class Meta:
        verbose_name = _("stored report")
        verbose_name_plural = _("stored reports")
        ordering = ["-pk"]
        default_permissions = ()
        indexes = [models.Index(fields=["state"])]

    def __str__(self) -> str:
        return self.name

    def recover(self) -> Self | None:
        """Have the report begun anew, unless it has lost too many workers already."""
        if self.attempts < self.ATTEMPTS:
            return self if self.requeue(done=0) else None
        self.fail(LOST)
        return None
