"""The index: generations, passages and their finer units."""

from collections.abc import Iterable
from typing import Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import QuerySet
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from pgvector.django import HalfVectorField

from knowledge.models.collections import Granularity
from knowledge.models.documents import Document


class Generation(models.Model):
    """One way of cutting and embedding, and everything that was indexed so.

    A new one is built beside the live one and takes its place in one transaction: see `knowledge.indexing.generations`.
    """

    class State(models.TextChoices):
        BUILDING = "building", _("being built")
        LIVE = "live", _("live")
        RETIRED = "retired", _("retired")

    model = models.CharField(_("embedding model"), max_length=500)
    embedder = models.CharField(max_length=32)  # the embedder's recipe
    dimensions = models.PositiveIntegerField(_("dimensions"))
    passage_tokens = models.PositiveIntegerField(_("tokens per passage"))
    cutting = models.CharField(max_length=32)  # the recipe of cutting
    state = models.CharField(_("state"), max_length=12, choices=State, default=State.BUILDING)
    created_at = models.DateTimeField(_("begun"), auto_now_add=True)
    live_at = models.DateTimeField(_("live since"), null=True)
    retired_at = models.DateTimeField(_("retired"), null=True)

    class Meta:
        verbose_name = _("index version")
        verbose_name_plural = _("index versions")
        ordering = ["-pk"]
        default_permissions = ("view",)
        constraints = [
            models.UniqueConstraint(fields=["state"], condition=models.Q(state="live"), name="one_generation_is_live"),
            models.UniqueConstraint(
                fields=["state"], condition=models.Q(state="building"), name="one_generation_is_built"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model}, {self.passage_tokens}"


class IndexedDocument(models.Model):
    """The state of a document that a generation holds."""

    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="indexed")
    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="+")
    state_hash = models.CharField(max_length=32)
    granularities = ArrayField(models.CharField(max_length=12), default=list)
    rules = models.CharField(max_length=32, default="", db_default="")  # rules that its passages were checked with
    indexed_at = models.DateTimeField(auto_now=True)

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["document", "generation"], name="one_state_a_document_and_generation")
        ]

    def __str__(self) -> str:
        return f"{self.document_id} in {self.generation_id}"


class PassageQuerySet(QuerySet["Passage"]):
    def live(self) -> Self:
        """Filter rows of the live generation, which questions are answered from."""
        return self.filter(generation__state="live")

    def retrievable(self, generation_id: int) -> Self:
        """Filter passages of published documents in one generation, without those that staff must clear first."""
        return self.filter(generation=generation_id, document__status="published", is_withheld=False)

    def in_collections(self, collection_ids: Iterable[int]) -> Self:
        return self.filter(document__collection_id__in=list(collection_ids))


class Passage(models.Model):
    """One cut of a document, with its vector; derived from the document, rewritten by `knowledge.indexing.documents`.

    Vectors of a generation are all of its length; each generation has a partial HNSW index of its own
    (`knowledge.indexing.generations`), since an index holds vectors of one length only.
    """

    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="+", db_index=False)
    document = models.ForeignKey(Document, on_delete=models.CASCADE, related_name="passages")
    position = models.PositiveIntegerField()
    heading_path = ArrayField(models.TextField(), default=list)
    text = models.TextField()
    page = models.PositiveIntegerField(null=True)
    tokens = models.PositiveIntegerField(default=0)
    input_hash = models.CharField(max_length=32)
    embedding = HalfVectorField()
    # Hashes of its flagged texts; it is withheld from answers until staff cleared each of them.
    flags = ArrayField(models.CharField(max_length=32), default=list, db_default=[])
    is_withheld = models.BooleanField(default=False, db_default=False)

    objects = PassageQuerySet.as_manager()

    class Meta:
        verbose_name = _("passage")
        verbose_name_plural = _("passages")
        ordering = ["document", "position"]
        constraints = [
            models.UniqueConstraint(
                fields=["generation", "document", "position"],
                name="one_passage_a_position",
                deferrable=models.Deferrable.DEFERRED,
            )
        ]

    def __str__(self) -> str:
        return f"{self.document_id}:{self.position}"

    @property
    def heading(self) -> str:
        return " › ".join(self.heading_path)


class Unit(models.Model):
    """A sentence or a proposition of a passage, with its vector (Chen et al. 2023, "Dense X Retrieval").

    `begin` and `end` bound a sentence within the passage's text; a proposition is said in its own words.
    """

    generation = models.ForeignKey(Generation, on_delete=models.CASCADE, related_name="+", db_index=False)
    passage = models.ForeignKey(Passage, on_delete=models.CASCADE, related_name="units")
    granularity = models.CharField(max_length=12, choices=Granularity)
    position = models.PositiveIntegerField()
    text = models.TextField()
    begin = models.PositiveIntegerField(null=True)
    end = models.PositiveIntegerField(null=True)
    embedding = HalfVectorField()

    class Meta:
        default_permissions = ()
        constraints = [
            models.UniqueConstraint(fields=["passage", "granularity", "position"], name="one_unit_a_position")
        ]

    def __str__(self) -> str:
        return self.text


class PropositionSet(models.Model):
    """The propositions that a language model made of a passage, kept by its text, so that nothing is paid for twice.

    `failure` says why its last answer was of no use; propositions of an earlier prompt are kept until better are there.
    """

    input_hash = models.CharField(max_length=32, unique=True)
    model = models.CharField(max_length=200)
    prompt_version = models.CharField(max_length=12)
    propositions = models.JSONField(default=list)
    failure = models.CharField(max_length=32, blank=True)
    attempts = models.PositiveSmallIntegerField(default=0)  # with this version of the prompt
    prompt_tokens = models.PositiveIntegerField(default=0)
    answer_tokens = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return self.input_hash


class IndexChange(models.Model):
    """A document whose passages changed, numbered in order of commit: what lexical indexes follow.

    Document 0 says that the list of abbreviations changed.

    Written only by `knowledge.indexing.change_log.record_change`, which holds a lock until its transaction ends:
    without it a smaller number could appear after a larger one, and a follower would never see it.
    """

    document_id = models.BigIntegerField()
    created_at = models.DateTimeField(db_default=Now())  # tells it from one of the same number in a restored backup

    class Meta:
        default_permissions = ()

    def __str__(self) -> str:
        return f"{self.pk}: document {self.document_id}"
