"""Documents, and every version of each."""

import re
import uuid
from collections.abc import Iterable
from datetime import date
from typing import Any, Self

from django.apps import apps
from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchQuery, SearchVector
from django.core.exceptions import ValidationError
from django.db import connections, models, transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import RawSQL
from django.db.models.functions import MD5, Coalesce, Left
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.access import StaffScoped
from core.db.annotations import count_related
from core.hashing import fingerprint
from core.language import TAG
from core.text import search_words
from knowledge.addresses import check_address, check_own_address, own_address
from knowledge.guardrails.injection import DOCUMENT_RECIPE
from knowledge.models.collections import Collection

AUDIENCE_TAG = re.compile(r"[a-z][a-z0-9_-]*:[^\s:,][^:,]*")


def check_audience(tags: list[str]) -> None:
    """Check that each tag is `kind:value`; raises ValidationError naming the one that is not."""
    for tag in tags:
        if not AUDIENCE_TAG.fullmatch(tag):
            raise ValidationError(
                _("“%(tag)s” is not of the form kind:value, such as regulation:2024."), params={"tag": tag}
            )


class DocumentQuerySet(StaffScoped["Document"]):
    def published(self) -> Self:
        return self.filter(status=self.model.Status.PUBLISHED)

    def of_university(self) -> Self:
        """Leave out the documents of data sets, which only serve to evaluate, and the answers that are in FAQs."""
        return self.filter(collection__for_evaluation=False, is_written_answer=False)

    def in_collections(self, slugs: Iterable[str]) -> Self:
        return self.filter(collection__slug__in=list(slugs))

    def valid_on(self, day: date) -> Self:
        begun = Q(valid_from__isnull=True) | Q(valid_from__lte=day)
        return self.filter(begun, Q(valid_until__isnull=True) | Q(valid_until__gte=day))

    def from_source(self, source_id: int) -> Self:
        pages = apps.get_model("knowledge", "SourcePage").objects.filter(source=source_id)
        return self.filter(pk__in=pages.values("document"))

    def with_words(self, text: str) -> Self:
        """Filter by each of the words: in the title, the address or the id, or in the text as a word's beginning."""
        # The expression of the index `document_by_words`; a subquery of its own, since under OR no index is used.
        words = SearchVector(Left("text", 200_000), config="simple")
        found = self
        for word in search_words(text):
            quoted = word.replace("\\", "\\\\").replace("'", "''")
            query = SearchQuery(f"'{quoted}':*", search_type="raw", config="simple")
            in_text = self.model._default_manager.annotate(words=words).filter(words=query).values("pk")
            named = Q(title__icontains=word) | Q(url__icontains=word) | Q(external_id__icontains=word)
            found = found.filter(named | Q(pk__in=in_text))
        return found

    def in_index(self, generation_id: int | QuerySet[Any, Any]) -> Self:
        """Filter documents whose present state this generation holds, checked with the present rules for pages."""
        indexed = apps.get_model("knowledge", "IndexedDocument").objects.filter(
            generation__in=generation_id if isinstance(generation_id, QuerySet) else [generation_id],
            document=OuterRef("pk"),
            state_hash=OuterRef("state_hash"),
            granularities=OuterRef("collection__granularities"),
            rules=DOCUMENT_RECIPE,
        )
        return self.filter(Exists(indexed))

    def needing_index(self, generation_id: int | QuerySet[Any, Any]) -> Self:
        return self.exclude(pk__in=self.in_index(generation_id).values("pk"))

    def languages(self) -> list[str]:
        """List the languages; each is the next in an index, which is found at once however many documents there are."""
        rows = self.order_by("language").values("language")
        first, first_values = rows[:1].query.sql_with_params()
        after = rows.filter(language__gt=RawSQL("found.language", ()))[:1]
        following, values = after.query.sql_with_params()
        asked = f"""
            WITH RECURSIVE found AS (({first}) UNION ALL SELECT later.language FROM found, LATERAL ({following}) later)
            SELECT language FROM found
        """  # noqa: S608 - written by the ORM
        with connections[self.db].cursor() as cursor:
            cursor.execute(asked, [*first_values, *values])
            return [language for (language,) in cursor.fetchall()]

    def for_list(self) -> Self:
        """Annotate what the admin list shows, in a constant number of queries."""
        passages = apps.get_model("knowledge", "Passage").objects.live()
        states = apps.get_model("knowledge", "IndexedDocument").objects.filter(
            generation__state="live", document=OuterRef("pk"), state_hash=OuterRef("state_hash")
        )
        counted = count_related(passages, by="document")
        annotated = self.of_university().annotate(passage_count=counted, indexed_now=Exists(states))
        unread = ("text", "correction__text", "correction__new_text")
        return annotated.select_related("collection", "edition", "correction").defer(*unread)


class Document(models.Model):
    """One page of the university, as Markdown."""

    class Status(models.TextChoices):
        DRAFT = "draft", _("draft")
        PUBLISHED = "published", _("published")
        ARCHIVED = "archived", _("archived")

    collection = models.ForeignKey(
        Collection, on_delete=models.PROTECT, related_name="documents", verbose_name=_("collection")
    )
    external_id = models.CharField(_("ID at the source"), max_length=500, blank=True)
    url = models.CharField(
        _("address"),
        max_length=2000,
        blank=True,
        validators=[check_address],
        help_text=_("The web address that students open from the answer. Empty: it gets a public page here."),
    )
    title = models.CharField(_("title"), max_length=500)
    language = models.CharField(
        _("language"),
        max_length=12,
        default="en",
        help_text=_("The language of the text: en is English, de is German."),
    )
    status = models.CharField(_("status"), max_length=12, choices=Status, default=Status.PUBLISHED)
    text = models.TextField(_("text"), help_text=_("Markdown."))
    file = models.FileField(_("file"), upload_to="documents/", blank=True, editable=False)
    valid_from = models.DateField(_("valid from"), null=True, blank=True)
    valid_until = models.DateField(
        _("valid until"), null=True, blank=True, help_text=_("Last valid day; empty: no end.")
    )
    audience = ArrayField(
        models.CharField(max_length=100),
        verbose_name=_("audience"),
        default=list,
        blank=True,
        validators=[check_audience],
        help_text=_(
            "Audience, such as programme:msc-data-science, regulation:2024; separate several with commas. "
            "Empty: everyone."
        ),
    )
    term = models.CharField(
        _("term or year"),
        max_length=100,
        blank=True,
        default="",
        db_default="",
        help_text=_(
            "Only to correct what was read: the term, year or examination regulations that it is about, such as Winter "
            "term 2025/26, WS 25/26, 2025 or PO 2019."
        ),
    )
    metadata = models.JSONField(_("further data"), default=dict, blank=True)
    # The answer of an FAQ, kept as a document: it is changed there only.
    is_written_answer = models.BooleanField(default=False, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("last change"), auto_now=True)

    content_hash = models.CharField(max_length=32, editable=False)
    # `content_hash` of what was last read at its source; empty: it was written here.
    read_hash = models.CharField(max_length=32, editable=False, blank=True, default="", db_default="")
    state_hash = models.CharField(max_length=32, editable=False)
    # When its text, or whether it is used, last changed: FAQs and answers that rely on it may be wrong since.
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
            models.Index(fields=["created_at"], name="document_by_creation"),
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
        """Save, and keep the version that this one replaces. Without an address it gets a public page here."""
        is_to_be_named = not (self.url or self.pk)  # its address holds the id that the database gives it
        self.url = self.url or (own_address(self.pk) if self.pk else f"{uuid.uuid4()}")
        self.text = self.text.replace("\x00", "")
        self.content_hash = fingerprint(self.title, self.text)
        scope = (str(self.valid_from), str(self.valid_until), *sorted(self.audience))
        scope = (*scope, f"term {self.term}") if self.term else scope
        self.state_hash = fingerprint(self.content_hash, self.status, self.language, str(self.collection_id), *scope)
        now = timezone.now()
        # Locked: of two who save at once, the second replaces what the first wrote.
        before = Document.objects.select_for_update(no_key=True).filter(pk=self.pk).first() if self.pk else None
        if before and (before.content_hash, before.status) != (self.content_hash, self.status):
            self.altered_at = now
            self.former_states.create(content_hash=before.content_hash, status=before.status, replaced_at=now)
            if fields := kwargs.get("update_fields"):
                kwargs["update_fields"] = {*fields, "altered_at"}  # type: ignore[misc]
        super().save(*args, **kwargs)  # type: ignore[arg-type]
        if is_to_be_named:
            self.url = own_address(self.pk)
            Document.objects.filter(pk=self.pk).update(url=self.url)
        if before and before.content_hash != self.content_hash:
            DocumentRevision.objects.create(
                document=self,
                title=before.title,
                text=before.text,
                made_at=before.altered_at or before.created_at,
                replaced_at=now,
            )

    def clean(self) -> None:
        """Validate; metadata is an object, and an emptied field is an empty one."""
        if not TAG.fullmatch(self.language):
            raise ValidationError({"language": _("Write a language such as en or de.")})
        check_own_address(self.url, document_id=self.pk, is_read=bool(self.read_hash or self.file))
        if self.metadata is None:
            self.metadata = {}
        if not isinstance(self.metadata, dict):
            raise ValidationError({"metadata": _('Write it as names and values, such as {"author": "Library"}.')})

    @property
    def has_own_page(self) -> bool:
        """Return whether its address is a public page here, also where the server had another address before."""
        return self.url.endswith(f"/pages/{self.pk}/") and not self.read_hash

    @property
    def is_draft(self) -> bool:
        return self.status == self.Status.DRAFT

    @property
    def choice_label(self) -> str:
        """Return how it is offered for a choice: a draft says that it is one."""
        return gettext("%(document)s (draft: no student sees it)") % {"document": self} if self.is_draft else str(self)


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
