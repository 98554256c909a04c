"""Curated questions, each linked to the documents that answer it."""

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from faqs.querysets import FAQQuerySet
from knowledge.models import Collection, Document, Generation


class Category(models.Model):
    name = models.CharField(_("name"), max_length=200, unique=True)

    class Meta:
        verbose_name = _("category")
        verbose_name_plural = _("categories")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class FAQ(models.Model):
    """A question staff know the answer to; students' questions close to it rank its documents first."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        IN_REVIEW = "in_review", _("in review")
        PUBLISHED = "published", _("published")
        RETIRED = "retired", _("retired")

    external_id = models.CharField(_("id at its source"), max_length=200, blank=True)
    question = models.CharField(_("question"), max_length=1000)
    category = models.ForeignKey(
        Category, on_delete=models.SET_NULL, null=True, blank=True, related_name="faqs", verbose_name=_("category")
    )
    collection = models.ForeignKey(
        Collection,
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="faqs",
        verbose_name=_("collection"),
        help_text=_("Whose teams look after it; empty: those who see everything."),
    )
    language = models.CharField(_("language"), max_length=12, default="en", help_text=_("Such as en or de."))
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.DRAFT)
    valid_from = models.DateField(_("valid from"), null=True, blank=True)
    valid_until = models.DateField(
        _("valid until"), null=True, blank=True, help_text=_("The last day on which it counts; empty: no end.")
    )
    reference_answer = models.TextField(
        _("reference answer"),
        blank=True,
        help_text=_("What a good answer says. It decides what is quoted, and is never shown as it is."),
    )
    documents = models.ManyToManyField(Document, through="FAQSource", related_name="faqs", verbose_name=_("documents"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last change"), auto_now=True)

    objects = FAQQuerySet.as_manager()

    class Meta:
        verbose_name = _("FAQ")
        verbose_name_plural = _("FAQs")
        ordering = ["question", "pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["external_id"], condition=~models.Q(external_id=""), name="one_faq_an_external_id"
            ),
            models.CheckConstraint(
                condition=models.Q(valid_from=None)
                | models.Q(valid_until=None)
                | models.Q(valid_from__lte=models.F("valid_until")),
                name="faq_valid_from_before_until",
                violation_error_message=_("“Valid until” lies before “valid from”."),
            ),
        ]
        indexes = [models.Index(fields=["status", "valid_until"])]

    def __str__(self) -> str:
        return self.question


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
        verbose_name = _("source")
        verbose_name_plural = _("sources")
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


class FAQVector(models.Model):
    """A way to ask (question or phrasing) or the reference answer, with its vector; rewritten by `faqs.indexing`.

    Students' questions are matched to ways to ask; the answer tells which passages of the documents to rank first.
    """

    class Kind(models.TextChoices):
        ASKS = "asks"
        ANSWERS = "answers"

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="vectors")
    kind = models.CharField(max_length=8, choices=Kind, default=Kind.ASKS)
    text = models.TextField()
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="+")
    embedding = HalfVectorField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.text
