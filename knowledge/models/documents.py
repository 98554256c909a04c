"""What the university knows: collections of documents, and every version of each."""

import re

from django.contrib.auth.models import Group
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector
from django.core.exceptions import ValidationError
from django.core.validators import URLValidator
from django.db import models, transaction
from django.db.models import Value
from django.db.models.functions import MD5, Coalesce, Left
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from knowledge.hashing import fingerprint
from knowledge.languages import TAG
from knowledge.querysets import DocumentQuerySet
from knowledge.staff_scope import CollectionQuerySet

AUDIENCE_TAG = re.compile(r"[a-z][a-z0-9_-]*:[^\s:,][^:,]*")


def check_audience(tags: list[str]) -> None:
    """Each tag is `kind:value`; raises ValidationError naming the one that is not."""
    for tag in tags:
        if not AUDIENCE_TAG.fullmatch(tag):
            raise ValidationError(
                _("“%(tag)s” is not of the form kind:value, such as regulation:2024."), params={"tag": tag}
            )


class Granularity(models.TextChoices):
    """What a question is compared with besides passages."""

    SENTENCE = "sentence", _("sentences")
    PROPOSITION = "proposition", _("propositions")


class Collection(models.Model):
    """A body of documents that is searched as one: a faculty, a handbook, an evaluation's corpus."""

    slug = models.SlugField(_("short name"), unique=True)
    name = models.CharField(_("name"), max_length=200)
    searched_by_default = models.BooleanField(
        _("searched by default"),
        default=True,
        help_text=_("Untick to keep it out of answers unless it is asked for by name."),
    )
    for_evaluation = models.BooleanField(default=False, editable=False)  # holds a data set, not the university's pages
    granularities = ArrayField(
        models.CharField(max_length=12, choices=Granularity),
        verbose_name=_("indexed besides passages"),
        default=list,
        blank=True,
        help_text=_("Finer parts that a question can be compared with; each leads to the passage it stands in."),
    )
    teams = models.ManyToManyField(
        Group,
        blank=True,
        related_name="collections",
        verbose_name=_("teams"),
        help_text=_(
            "Groups of staff who look after it, such as a faculty’s; besides those who see everything. "
            "A group without permissions is offered here."
        ),
    )

    objects = CollectionQuerySet.as_manager()

    class Meta:
        verbose_name = _("collection")
        verbose_name_plural = _("collections")
        ordering = ["slug"]
        permissions = [("whole_university", "Works on everything, whatever their teams")]

    def __str__(self) -> str:
        return self.name


class Document(models.Model):
    """One page of the university, as Markdown."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        PUBLISHED = "published", _("published")
        ARCHIVED = "archived", _("archived")

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="documents", verbose_name=_("collection")
    )
    external_id = models.CharField(_("id at its source"), max_length=500, blank=True)
    url = models.CharField(
        _("address"),
        max_length=2000,
        validators=[URLValidator(schemes=["http", "https"])],
        help_text=_("The page that a citation opens."),
    )
    title = models.CharField(_("title"), max_length=500)
    language = models.CharField(_("language"), max_length=12, default="en", help_text=_("Such as en or de."))
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.PUBLISHED)
    text = models.TextField(_("text"), help_text=_("Markdown."))
    file = models.FileField(_("file"), upload_to="documents/", blank=True, editable=False)
    valid_from = models.DateField(_("valid from"), null=True, blank=True)
    valid_until = models.DateField(
        _("valid until"), null=True, blank=True, help_text=_("The last day on which it counts; empty: no end.")
    )
    audience = ArrayField(
        models.CharField(max_length=100),
        verbose_name=_("audience"),
        default=list,
        blank=True,
        validators=[check_audience],
        help_text=_(
            "Whom it holds for, such as programme:msc-data-science, regulation:2024; several with commas. "
            "Empty: everyone."
        ),
    )
    metadata = models.JSONField(_("further data"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last change"), auto_now=True)

    content_hash = models.CharField(max_length=32, editable=False)
    state_hash = models.CharField(max_length=32, editable=False)
    # When its text, or whether it counts, last became another: what relies on it may be wrong since.
    altered_at = models.DateTimeField(null=True, editable=False)
    checked_at = models.DateTimeField(null=True, editable=False)

    objects = DocumentQuerySet.as_manager()

    class Meta:
        verbose_name = _("document")
        verbose_name_plural = _("documents")
        ordering = ["title", "pk"]
        constraints = [
            models.UniqueConstraint(
                "collection",
                MD5("url"),  # an index row holds 2,700 bytes at most, a URL may be longer
                name="one_document_a_url_and_collection",
                violation_error_message=_("This collection already has a document with this address."),
            ),
            models.CheckConstraint(
                condition=models.Q(valid_from=None)
                | models.Q(valid_until=None)
                | models.Q(valid_from__lte=models.F("valid_until")),
                name="document_valid_from_before_until",
                violation_error_message=_("“Valid until” lies before “valid from”."),
            ),
        ]
        indexes = [
            models.Index(fields=["-updated_at"]),
            models.Index(fields=["-altered_at"]),
            models.Index(fields=["title", "id"], name="document_by_title"),
            models.Index(fields=["language"], name="document_by_language"),
            models.Index(MD5("url"), name="document_by_url"),
            # For staff's search; students' questions have indexes of their own.
            GinIndex(SearchVector(Left("text", 200_000), config="simple"), name="document_by_words"),
            models.Index(Coalesce("external_id", Value("")), "collection", name="document_by_external_id"),
        ]

    def __str__(self) -> str:
        return self.title or self.url

    @transaction.atomic
    def save(self, *args: object, **kwargs: object) -> None:
        """Keeps the version that this one replaces."""
        self.text = self.text.replace("\x00", "")
        self.content_hash = fingerprint(self.title, self.text)
        scope = (str(self.valid_from), str(self.valid_until), *sorted(self.audience))
        self.state_hash = fingerprint(self.content_hash, self.status, self.language, str(self.collection_id), *scope)
        now = timezone.now()
        # Locked: of two who save at once, the second replaces what the first wrote.
        before = Document.objects.select_for_update(no_key=True).filter(pk=self.pk).first() if self.pk else None
        if before and (before.content_hash, before.status) != (self.content_hash, self.status):
            self.altered_at = now
            if fields := kwargs.get("update_fields"):
                kwargs["update_fields"] = {*fields, "altered_at"}  # type: ignore[misc]
        super().save(*args, **kwargs)  # type: ignore[arg-type]
        if before and before.content_hash != self.content_hash:
            DocumentRevision.objects.create(
                document=self,
                title=before.title,
                text=before.text,
                made_at=before.altered_at or before.created_at,
                replaced_at=now,
            )

    def clean(self) -> None:
        """Further data is by name; an emptied field is none."""
        if not TAG.fullmatch(self.language):
            raise ValidationError({"language": _("Write a language such as en or de.")})
        if self.metadata is None:
            self.metadata = {}
        if not isinstance(self.metadata, dict):
            raise ValidationError({"metadata": _('Write it as names and values, such as {"author": "Library"}.')})


class DocumentRevision(models.Model):
    """A version of a document that another one replaced."""

    document = models.ForeignKey(
        Document, on_delete=models.CASCADE, related_name="revisions", verbose_name=_("document")
    )
    title = models.CharField(_("title"), max_length=500)
    text = models.TextField(_("text"))
    made_at = models.DateTimeField(_("made"))
    replaced_at = models.DateTimeField(_("replaced"))

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["-replaced_at", "-pk"]
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.document_id}: {self.replaced_at:%Y-%m-%d %H:%M}"
