"""What the university knows: collections of documents, and the passages they are cut into for retrieval."""

from django.contrib.postgres.fields import ArrayField
from django.core.validators import URLValidator
from django.db import models
from django.db.models import Value
from django.db.models.functions import MD5, Coalesce
from django.utils.translation import gettext_lazy as _
from pgvector.django import HnswIndex, VectorField

from knowledge.hashing import fingerprint
from knowledge.querysets import DocumentQuerySet, PassageQuerySet

#: Length of an embedding; a model with another length needs a migration of the vector columns.
DIMENSIONS = 384


class Collection(models.Model):
    """A body of documents that is searched as one: a faculty, a handbook, an evaluation's corpus."""

    slug = models.SlugField(_("short name"), unique=True)
    name = models.CharField(_("name"), max_length=200)
    searched_by_default = models.BooleanField(
        _("searched by default"),
        default=True,
        help_text=_("Untick to keep it out of answers unless it is asked for by name."),
    )

    class Meta:
        verbose_name = _("collection")
        verbose_name_plural = _("collections")
        ordering = ["slug"]

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
    metadata = models.JSONField(_("further data"), default=dict, blank=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last change"), auto_now=True)

    content_hash = models.CharField(max_length=32, editable=False)
    state_hash = models.CharField(max_length=32, editable=False)
    indexed_state = models.CharField(max_length=32, editable=False, blank=True)
    indexed_recipe = models.CharField(max_length=32, editable=False, blank=True)
    indexed_at = models.DateTimeField(_("indexed"), null=True, editable=False)

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
        ]
        indexes = [
            models.Index(fields=["-updated_at"]),
            models.Index(MD5("url"), name="document_by_url"),
            models.Index(Coalesce("external_id", Value("")), "collection", name="document_by_external_id"),
        ]

    def __str__(self) -> str:
        return self.title or self.url

    def save(self, *args: object, **kwargs: object) -> None:
        self.text = self.text.replace("\x00", "")
        self.content_hash = fingerprint(self.title, self.text)
        self.state_hash = fingerprint(self.content_hash, self.status, self.language, str(self.collection_id))
        super().save(*args, **kwargs)  # type: ignore[arg-type]

    @property
    def is_indexed(self) -> bool:
        return bool(self.indexed_at) and self.indexed_state == self.state_hash


class Course(models.Model):
    """A course's record (SyllabusRAG's fields); `knowledge.courses` renders it into its document."""

    document = models.OneToOneField(Document, on_delete=models.CASCADE, related_name="course", editable=False)
    code = models.CharField(_("code"), max_length=50)
    name = models.CharField(_("name"), max_length=300)
    general_name = models.CharField(
        _("integrated course"),
        max_length=300,
        blank=True,
        help_text=_("The course that this module is a part of; all its modules must be passed."),
    )
    year = models.PositiveSmallIntegerField(_("year of study"), null=True, blank=True)
    is_mandatory = models.BooleanField(_("mandatory"), null=True, blank=True)
    ects = models.DecimalField(_("ECTS"), max_digits=4, decimal_places=1, null=True, blank=True)
    field = models.CharField(_("field of research"), max_length=300, blank=True)
    prerequisites = models.TextField(_("prerequisites"), blank=True)
    required_courses = models.ManyToManyField(
        "self", symmetrical=False, blank=True, related_name="required_by", verbose_name=_("required courses")
    )
    assessment = models.TextField(_("assessment"), blank=True)
    contents = models.TextField(_("contents"), blank=True)
    objectives = models.TextField(_("objectives"), blank=True)
    programme = models.TextField(_("detailed programme"), blank=True)

    class Meta:
        verbose_name = _("course")
        verbose_name_plural = _("courses")
        ordering = ["code", "pk"]
        indexes = [models.Index(fields=["code"]), models.Index(fields=["general_name"])]

    def __str__(self) -> str:
        return f"{self.code} {self.name}"


class Passage(models.Model):
    """One cut of a document, with its vector; derived from the document, rewritten by `knowledge.indexing`."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="passages")
    position = models.PositiveIntegerField()
    heading_path = ArrayField(models.TextField(), default=list)
    text = models.TextField()
    page = models.PositiveIntegerField(null=True)
    input_hash = models.CharField(max_length=32)
    embedding = VectorField(dimensions=DIMENSIONS, null=True)
    recipe = models.CharField(max_length=32)

    objects = PassageQuerySet.as_manager()

    class Meta:
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        ordering = ["document", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["document", "position"], name="one_passage_a_position", deferrable=models.Deferrable.DEFERRED
            )
        ]
        indexes = [
            HnswIndex(
                name="passage_embedding_hnsw",
                fields=["embedding"],
                m=16,
                ef_construction=200,
                opclasses=["vector_cosine_ops"],
            ),
        ]

    def __str__(self) -> str:
        return f"{self.document_id}:{self.position}"

    @property
    def heading(self) -> str:
        return " › ".join(self.heading_path)


class IndexChange(models.Model):
    """A document whose passages changed, numbered in order of commit: what lexical indexes follow.

    Written only by `knowledge.changes.record_change`, which holds a lock until its transaction ends: without
    it a smaller number could appear after a larger one, and a follower would never see it.
    """

    document_id = models.BigIntegerField()

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.pk}: document {self.document_id}"
