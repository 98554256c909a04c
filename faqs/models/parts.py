"""Phrasings, sources and answer pages of an FAQ."""

from django.contrib.postgres.indexes import GinIndex, OpClass
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models.functions import Upper
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from faqs.models.faqs import FAQ
from knowledge.models import Document


class Phrasing(models.Model):
    """Another way to ask the same."""

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="phrasings")
    text = models.CharField(_("phrasing"), max_length=1000)

    class Meta:
        verbose_name = _("phrasing")
        verbose_name_plural = _("phrasings")
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["faq", "text"],
                name="one_phrasing_a_text",
                violation_error_message=_("This phrasing is there already."),
            )
        ]
        indexes = [GinIndex(OpClass(Upper("text"), name="gin_trgm_ops"), name="phrasing_by_words")]

    def __str__(self) -> str:
        return self.text


class FAQSource(models.Model):
    """A document that answers an FAQ; the first in order is the best."""

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="sources")
    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="faq_sources", verbose_name=_("document")
    )
    position = models.PositiveSmallIntegerField(_("order"), default=0)
    verified_at = models.DateTimeField(default=timezone.now, editable=False)  # when staff last saw that it answers

    class Meta:
        verbose_name = _("page")
        verbose_name_plural = _("pages")
        ordering = ["position", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["faq", "document"],
                name="one_source_a_document",
                violation_error_message=_("This document is linked already."),
            )
        ]

    def __str__(self) -> str:
        return str(self.document)

    def clean(self) -> None:
        if self.document_id and self.document.status == Document.Status.ARCHIVED:
            raise ValidationError({"document": _("This document is archived and can no longer answer a question.")})


class AnswerPage(models.Model):
    """An FAQ's answer in one language as a document, which is found and cited like any page.

    `faqs.answers.pages` writes it; students open it at an address of our own.
    """

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="pages")
    language = models.CharField(max_length=2)
    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="answer_page")

    class Meta:
        default_permissions = ()
        constraints = [models.UniqueConstraint(fields=["faq", "language"], name="one_answer_page_a_language")]

    def __str__(self) -> str:
        return f"{self.faq_id}: {self.language}"
