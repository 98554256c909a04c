"""Files that staff upload."""

from datetime import datetime
from typing import Self

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from knowledge.models.collections import Collection
from knowledge.models.documents import Document


class PdfUploadQuerySet(StaffScoped["PdfUpload"]):
    def unfinished(self) -> Self:
        return self.filter(status__in=[self.model.Status.WAITING, self.model.Status.READING])

    def untouched_within(self, since: datetime, until: datetime) -> Self:
        """Filter unfinished uploads whose task was lost: reading reports every page.

        `until` is later than now: a still later time is of a clock that was set back.
        """
        return self.unfinished().exclude(changed_at__range=(since, until))


class PdfUpload(models.Model):
    """A file that staff uploaded, on its way to becoming a document; without a file, its document's own is read again.

    Its name is that of its page's address, which proxies name to allow large requests.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        READING = "reading", _("being read")
        IMPORTED = "imported", _("imported")
        UNCHANGED = "unchanged", _("already imported")
        FAILED = "failed", _("not imported")

    name = models.CharField(_("file"), max_length=255)
    file = models.FileField(upload_to="uploads/", editable=False)
    collection = models.ForeignKey(
        Collection, on_delete=models.CASCADE, related_name="pdf_uploads", verbose_name=_("collection")
    )
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.WAITING)
    pages_read = models.PositiveIntegerField(default=0)
    pages = models.PositiveIntegerField(default=0)
    # Remarks about it, in the form of `knowledge.ingest.formats.types.Said`, so that they can be translated.
    remarks = models.JSONField(default=list, editable=False)
    document = models.ForeignKey(
        Document, on_delete=models.SET_NULL, null=True, related_name="+", verbose_name=_("document")
    )
    created_at = models.DateTimeField(_("uploaded"), auto_now_add=True)
    changed_at = models.DateTimeField(auto_now=True)

    objects = PdfUploadQuerySet.as_manager()

    class Meta:
        verbose_name = _("uploaded file")
        verbose_name_plural = _("uploaded files")
        ordering = ["-created_at", "-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return self.name
