"""Corrections: what staff changed in a text that was read from a source."""

from django.db import models
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from knowledge.models.documents import Document


class CorrectionQuerySet(StaffScoped["Correction"]):
    owner = "document__collection"

    def in_conflict(self) -> "CorrectionQuerySet":
        return self.filter(found_at__isnull=False)


class Correction(models.Model):
    """A document that staff corrected, and what its source says: `title` and `text` are what they corrected.

    With `found_at` the source has said something else since, in the same places: `new_title`, `new_text` and its
    links. Until staff decide, the document stays as corrected.
    """

    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="correction", primary_key=True)
    title = models.CharField(max_length=500)
    text = models.TextField()
    corrected_at = models.DateTimeField(_("corrected"))
    # When something else that the source changed was last taken over beside the correction.
    merged_at = models.DateTimeField(null=True)
    new_title = models.CharField(max_length=500, blank=True)
    new_text = models.TextField(blank=True)
    new_references = models.JSONField(default=list)
    found_at = models.DateTimeField(null=True)

    objects = CorrectionQuerySet.as_manager()

    class Meta:
        default_permissions = ()
        ordering = ["-corrected_at", "document"]

    def __str__(self) -> str:
        return f"{self.document_id}: {self.corrected_at:%Y-%m-%d %H:%M}"

    @property
    def is_conflict(self) -> bool:
        return self.found_at is not None

    def follow(self, *, title: str, text: str) -> None:
        """Take what the source says now for what was corrected; nothing is left to decide. The caller saves it."""
        self.title, self.text = title, text
        self.new_title, self.new_text, self.new_references, self.found_at = "", "", [], None
