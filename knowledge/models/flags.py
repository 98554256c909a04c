"""Flagged texts: paragraphs that seem to address a program, and the decision of staff about each."""

from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from knowledge.models.documents import Document


class FlaggedTextQuerySet(StaffScoped["FlaggedText"]):
    owner = "document__collection"

    def for_queue(self) -> Self:
        """Filter flagged texts of documents that may be used in answers."""
        return self.exclude(document__status="archived")

    def to_check(self) -> Self:
        return self.for_queue().filter(state=self.model.State.OPEN)


class FlaggedText(models.Model):
    """A paragraph with a sign of an instruction to a model; passages that hold it are withheld until it is cleared.

    It belongs to the document and to the words, not to a passage. So a decision holds however the document is cut, and
    ends when the words change.
    """

    class State(models.TextChoices):
        OPEN = "open", _("to be checked")
        CLEARED = "cleared", _("cleared")
        HIDDEN = "hidden", _("kept hidden")

    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="flagged_texts", verbose_name=_("document")
    )
    text = models.TextField(_("text"))
    text_hash = models.CharField(max_length=32, editable=False)
    signs = ArrayField(models.CharField(max_length=30), verbose_name=_("reasons"))
    state = models.CharField(_("state"), max_length=8, choices=State, default=State.OPEN)
    found_at = models.DateTimeField(_("found"), auto_now_add=True)

    objects = FlaggedTextQuerySet.as_manager()

    class Meta:
        verbose_name = _("suspicious passage")
        verbose_name_plural = _("suspicious passages")
        ordering = ["-found_at", "-pk"]
        default_permissions = ("view", "change")
        constraints = [
            models.UniqueConstraint(fields=["document", "text_hash"], name="one_flag_a_document_and_text"),
        ]

    def __str__(self) -> str:
        return self.text if len(self.text) <= 80 else f"{self.text[:79]}…"
