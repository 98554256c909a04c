"""Pages of files whose text is a picture, and what OCR has read on them."""

from typing import Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from knowledge.models.documents import Document


class PicturePageQuerySet(models.QuerySet["PicturePage"]):
    def unfinished(self) -> Self:
        """Filter pages that are not read yet, or whose text the document does not have yet."""
        return self.filter(state__in=[self.model.State.WAITING, self.model.State.READ])


class PicturePage(models.Model):
    """A page of a document's file that is a picture of text.

    Its lines are kept, so that a page of the same file is never read twice.
    """

    class State(models.TextChoices):
        WAITING = "waiting", _("not read yet")
        READ = "read", _("being read")  # but the document's text is not completed yet
        IN_TEXT = "in_text", _("read by OCR")
        EMPTY = "empty", _("no text found")
        LEFT_OUT = "left_out", _("left out")

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="picture_pages")
    page = models.PositiveIntegerField()
    sha256 = models.CharField(max_length=64)  # of the file
    state = models.CharField(max_length=12, choices=State, default=State.WAITING)
    # Each a `knowledge.ingest.ocr.types.ReadLine`.
    lines = models.JSONField(default=list)
    # Why it was left out, in the form of `knowledge.ingest.formats.types.Said`, so that it can be translated.
    reason = models.JSONField(default=dict)
    changed_at = models.DateTimeField(auto_now=True)

    objects = PicturePageQuerySet.as_manager()

    class Meta:
        ordering = ["document", "page"]
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["document", "page"], name="one_picture_a_page")]
        indexes = [
            models.Index(fields=["sha256", "page"], name="picture_by_file"),
            models.Index(fields=["document"], condition=Q(state__in=["waiting", "read"]), name="picture_unfinished"),
        ]

    def __str__(self) -> str:
        return f"{self.document_id}: {self.page}"
