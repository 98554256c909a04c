"""Curated questions, each linked to the documents that answer it, their versions, and pairs that ask the same."""

import datetime
from typing import TYPE_CHECKING, Any, Self

from django.apps import apps
from django.conf import settings
from django.contrib.postgres.indexes import GinIndex, OpClass
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Count, Exists, F, OuterRef, Prefetch, Q, Subquery
from django.db.models.functions import Coalesce, Upper
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from core.access import StaffScoped, sees_everything
from core.language import TAG
from core.text import search_words
from knowledge.models import Collection, Document, Generation

if TYPE_CHECKING:
    from django.db.models import QuerySet

    from core.access import Staff


class Category(models.Model):
    name = models.CharField(_("name"), max_length=200, unique=True)

    class Meta:
        verbose_name = _("category")
        verbose_name_plural = _("categories")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


SOON = datetime.timedelta(days=14)


class FAQQuerySet(StaffScoped["FAQ"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def valid_on(self, day: datetime.date) -> Self:
        return self.filter(
            Q(valid_from__isnull=True) | Q(valid_from__lte=day), Q(valid_until__isnull=True) | Q(valid_until__gte=day)
        )

    def expiring(self, *, within: datetime.timedelta = SOON) -> Self:
        """Return published FAQs whose last day is today or within that time."""
        today = timezone.localdate()
        return self.published().filter(valid_until__range=(today, today + within))

    def with_changed_sources(self) -> Self:
        """Those in use, or to be, with a document that changed since staff last saw that it answers."""
        changed = _sources().filter(faq=OuterRef("pk"), document__altered_at__gt=F("verified_at"))
        return self.exclude(status=self.model.Status.RETIRED).filter(Exists(changed))

    def behind_their_original(self) -> Self:
        """Return translations that nobody has saved since their original changed."""
        return self.exclude(status=self.model.Status.RETIRED).filter(
            translation_of__altered_at__gt=Coalesce("reviewed_at", "created_at")
        )

    def of_university(self) -> Self:
        """Without those of data sets, all of whose documents only serve to evaluate."""
        sources = _sources().filter(faq=OuterRef("pk"))
        of_data_set = Exists(sources.filter(document__collection__for_evaluation=True))
        of_university = Exists(sources.filter(document__collection__for_evaluation=False))
        return self.filter(~of_data_set | of_university)

    def with_words(self, text: str) -> Self:
        """Those with each of the words, or part of one, in the question or in a phrasing."""
        phrasings = apps.get_model("faqs", "Phrasing").objects.order_by()
        found = self
        for word in search_words(text):
            # A union, since under OR no index is used.
            asked = self.model._default_manager.order_by().filter(question__icontains=word).values("pk")
            found = found.filter(pk__in=asked.union(phrasings.filter(text__icontains=word).values("faq")))
        return found

    def with_parts(self) -> Self:
        """With all that `faqs.versions.snapshots.read_content` reads, in a constant number of queries."""
        sources = _sources().order_by("position", "pk").select_related("document").defer("document__text")
        return self.select_related("category", "collection", "translation_of").prefetch_related(
            "phrasings", Prefetch("sources", sources)
        )

    def for_list(self) -> Self:
        """Return what the admin list shows, in a constant number of queries, without the FAQs of data sets."""
        # Subqueries, which are run for the rows of the page alone; a join would count those of all FAQs first.
        sources = _sources().filter(faq=OuterRef("pk"))
        phrasings = apps.get_model("faqs", "Phrasing").objects.filter(faq=OuterRef("pk"))
        return (
            self.of_university()
            .select_related("category")
            .annotate(
                source_count=_count(sources),
                phrasing_count=_count(phrasings),
                has_changed_source=Exists(sources.filter(document__altered_at__gt=F("verified_at"))),
            )
        )


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
    translation_of = models.ForeignKey(
        "self",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="translations",
        verbose_name=_("translation of"),
        help_text=_("The same question in the language it was first written in."),
    )
    documents = models.ManyToManyField(Document, through="FAQSource", related_name="faqs", verbose_name=_("documents"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last change"), auto_now=True)
    # When what it says last became another: its translations may be wrong since.
    altered_at = models.DateTimeField(null=True, editable=False)
    # When staff last saved it or said that it is still right.
    reviewed_at = models.DateTimeField(null=True, editable=False)
    # The generation in which it was last compared with all others; empty: its words have changed since.
    compared_in = models.BigIntegerField(null=True, editable=False)

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
            models.UniqueConstraint(
                fields=["translation_of", "language"],
                name="one_translation_a_language",
                violation_error_message=_("There is a translation into this language already."),
            ),
            models.CheckConstraint(
                condition=~models.Q(translation_of=models.F("pk")),
                name="faq_translates_another",
                violation_error_message=_("An FAQ is no translation of itself."),
            ),
        ]
        indexes = [
            models.Index(fields=["status", "valid_until"]),
            models.Index(fields=["-updated_at", "-id"], name="faq_by_last_change"),
            # For staff's search; students' questions are matched by their vectors.
            GinIndex(OpClass(Upper("question"), name="gin_trgm_ops"), name="faq_by_words"),
            models.Index(fields=["id"], condition=models.Q(compared_in=None), name="faq_not_compared"),
        ]
        permissions = [("publish_faq", "Can publish FAQ, change what is published, and retire it")]

    def __str__(self) -> str:
        return self.question

    def clean(self) -> None:
        """Check that a translation is of an FAQ in another language that is not a translation itself."""
        if not TAG.fullmatch(self.language):
            raise ValidationError({"language": _("Write a language such as en or de.")})
        original = self.translation_of
        if original is None:
            return
        if original.translation_of_id:
            raise ValidationError(
                {"translation_of": _("This FAQ is a translation itself: choose the one that it was made from.")}
            )
        if self.pk and self.translations.exists():
            raise ValidationError(
                {"translation_of": _("This FAQ has translations of its own, so it can be none of another.")}
            )
        if main_language(original.language) == main_language(self.language):
            raise ValidationError({"translation_of": _("It is in the same language: a translation is in another.")})


def main_language(tag: str) -> str:
    """`de` of `de-AT`."""
    return tag.split("-")[0].lower()


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


class FAQVersion(models.Model):
    """An FAQ with its phrasings and sources as it was from `made_at` on; written by `faqs.versions.history`.

    `content` is what `faqs.versions.snapshots.read_content` gives, `fingerprint` tells whether two say the same.
    """

    class Reason(models.TextChoices):
        FORM = "form", _("saved in the form")
        STATUS = "status", _("status changed in the list")
        IMPORT = "import", _("imported from a file")
        RESTORE = "restore", _("an earlier version restored")
        MERGE = "merge", _("merged with a duplicate")
        GAP = "gap", _("made from what students asked in vain")
        API = "api", _("over the staff API")
        TEST = "test", _("published after a shadow test")
        FOUND = "found", _("as it was found")

    faq = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="versions", verbose_name=_("FAQ"))
    made_at = models.DateTimeField(_("made"))
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        on_delete=models.SET_NULL,
        null=True,
        related_name="+",
        verbose_name=_("by"),
    )
    reason = models.CharField(_("reason"), max_length=12, choices=Reason)
    content = models.JSONField()
    fingerprint = models.CharField(max_length=32)

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-pk"]
        default_permissions = ()
        indexes = [models.Index(fields=["faq", "-id"], name="version_by_faq")]

    def __str__(self) -> str:
        return f"{self.faq_id}: {self.made_at:%Y-%m-%d %H:%M}"


class SimilarPairQuerySet(StaffScoped["SimilarPair"]):
    def visible_to(self, user: "Staff") -> Self:
        """Pairs both of whose FAQs one works on."""
        if sees_everything(user):
            return self
        own = apps.get_model("faqs", "FAQ").objects.visible_to(user)
        return self.filter(first__in=own, second__in=own)

    def to_look_at(self) -> Self:
        """Of FAQs in use, or to be; not those that staff called no duplicates."""
        return self.filter(dismissed_at=None).exclude(first__status="retired").exclude(second__status="retired")

    def of(self, faq_id: int) -> Self:
        return self.filter(Q(first=faq_id) | Q(second=faq_id))


class SimilarPair(models.Model):
    """Two FAQs of one language whose ways to ask are close; found by `faqs.duplicates`.

    `similarity` is that of the question of one to the closest way to ask of the other, 0 to 1. A pair that staff called
    no duplicate is kept, so that it is not shown again.
    """

    first = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="+")
    second = models.ForeignKey(FAQ, on_delete=models.CASCADE, related_name="+")
    similarity = models.FloatField(_("similarity"))
    dismissed_at = models.DateTimeField(null=True)
    dismissed_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    objects = SimilarPairQuerySet.as_manager()

    class Meta:
        verbose_name = _("pair that asks the same")
        verbose_name_plural = _("pairs that ask the same")
        ordering = ["-similarity", "pk"]
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["first", "second"], name="one_pair_of_two"),
            models.CheckConstraint(condition=models.Q(first__lt=models.F("second")), name="pair_in_order"),
        ]
        indexes = [
            models.Index(fields=["-similarity", "id"], condition=models.Q(dismissed_at=None), name="pair_to_look_at")
        ]

    def __str__(self) -> str:
        return f"{self.first_id}, {self.second_id}"


def _count(rows: "QuerySet[Any]") -> Coalesce:
    counted = rows.order_by().values("faq").annotate(count=Count("pk")).values("count")
    return Coalesce(Subquery(counted), 0)


def _sources() -> "QuerySet[FAQSource]":
    return apps.get_model("faqs", "FAQSource").objects.order_by()
