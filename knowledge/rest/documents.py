"""Documents: read, written as in the admin, and cut into the passages that questions find."""

from datetime import datetime
from typing import Any

import django_filters
from django.db.models import QuerySet
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer, extend_schema_view
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.exceptions import PermissionDenied
from rest_framework.request import Request
from rest_framework.response import Response

from core.rest.filters import ValidityFilter, WordsFilter, before, since
from core.rest.serializers import Body, ScopedSlugField, Versioned
from core.rest.views import WrittenViewSet
from knowledge.editions.grouping import term_of
from knowledge.editions.terms import name_term
from knowledge.models import Collection, Document, Passage
from knowledge.models.courses import find_course
from knowledge.models.documents import DocumentQuerySet
from knowledge.services.documents import WRITTEN_BY_COURSE, delete_document, read_version, save_document

EXAMPLE: dict[str, Any] = {
    "collection": "site",
    "url": "https://www.uni.example/fees",
    "title": "Fees",
    "language": "en",
    "status": "published",
    "text": "# Semester contribution\n\nIt is 318.40 euros each semester.",
    "valid_from": "2026-10-01",
    "valid_until": None,
    "audience": ["regulation:2024"],
    "external_id": "",
    "metadata": {},
}
VERSION = "2026-11-21T09:30:00.123456+00:00"


def save(document: Document, values: dict[str, Any]) -> Document:
    """Save the values; raises ValidationError."""
    for name, value in values.items():
        setattr(document, name, value)
    document.validate_constraints()
    return save_document(document=document)


class DocumentSummary(serializers.ModelSerializer):
    version = serializers.SerializerMethodField(help_text="To be sent with a change.")
    collection = ScopedSlugField(
        slug_field="slug", queryset=Collection.objects.filter(for_evaluation=False), help_text="Its short name."
    )
    edition = serializers.SerializerMethodField(
        help_text="The term, year or examination regulations that it is about, as read or corrected; empty: none."
    )
    corrected_at = serializers.SerializerMethodField(
        help_text="When staff last corrected what was read from its source; null: it is as read, or written here."
    )
    passage_count = serializers.IntegerField(read_only=True)
    is_indexed = serializers.BooleanField(
        source="indexed_now", read_only=True, help_text="Whether questions are answered from its present state."
    )

    class Meta:
        model = Document
        fields = [
            "id",
            "version",
            "collection",
            "url",
            "title",
            "language",
            "status",
            "valid_from",
            "valid_until",
            "audience",
            "external_id",
            "term",
            "edition",
            "corrected_at",
            "passage_count",
            "is_indexed",
            "created_at",
            "updated_at",
        ]
        read_only_fields = ("created_at", "updated_at")
        extra_kwargs = {"audience": {"max_length": 100}}
        validators: list[Any] = []  # `Document.full_clean` has them

    def get_version(self, document: Document) -> str:
        return read_version(document)

    def get_corrected_at(self, document: Document) -> datetime | None:
        return document.correction.corrected_at if hasattr(document, "correction") else None

    def get_edition(self, document: Document) -> str:
        term = term_of(document.edition) if hasattr(document, "edition") else None
        return name_term(term, get_language() or "en") if term else ""


@extend_schema_serializer(examples=[OpenApiExample("A page", value=EXAMPLE, request_only=True)])
class DocumentDetail(Body, DocumentSummary):
    metadata = serializers.DictField(required=False, help_text="What its source said of it besides.")

    class Meta(DocumentSummary.Meta):
        fields = [*DocumentSummary.Meta.fields, "text", "metadata"]
        extra_kwargs = {**DocumentSummary.Meta.extra_kwargs, "text": {"trim_whitespace": False}}

    def create(self, values: dict[str, Any]) -> Document:
        return save(Document(), values)


@extend_schema_serializer(
    examples=[OpenApiExample("A new text", value={"version": VERSION, "text": "# Fees\n\n…"}, request_only=True)]
)
class DocumentChange(Versioned, DocumentDetail):
    def read_version(self, row: Document) -> str:
        return read_version(row)

    def to_read(self, row: Document) -> Any:
        return DocumentDetail(row, context=self.context).data

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        values = super().validate(values)
        if find_course(self.instance):
            reason = _("A course’s document is written from its record.")
            written = [name for name in self.differing(self.instance, values) if name in WRITTEN_BY_COURSE]
            if written:
                raise serializers.ValidationError(dict.fromkeys(written, reason))
        return values

    def update(self, document: Document, values: dict[str, Any]) -> Document:
        return save(document, values)


class PassageShown(serializers.ModelSerializer):
    class Meta:
        model = Passage
        fields = ["id", "position", "heading_path", "text", "page", "tokens"]


class DocumentFilters(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="collection__slug", help_text="Its short name.")
    url = django_filters.CharFilter()
    external_id = django_filters.CharFilter()
    language = django_filters.CharFilter()
    status = django_filters.ChoiceFilter(choices=Document.Status.choices)
    valid = ValidityFilter()
    updated_since = since("updated_at")
    updated_before = before("updated_at")
    search = WordsFilter()


@extend_schema_view(
    list=extend_schema(summary="Documents, without their texts"),
    retrieve=extend_schema(summary="A document"),
    create=extend_schema(summary="Add a document", description="It is indexed within seconds."),
    update=extend_schema(request=DocumentChange, responses=DocumentDetail, summary="Change a document"),
    partial_update=extend_schema(
        request=DocumentChange, responses=DocumentDetail, summary="Change some fields of a document"
    ),
    destroy=extend_schema(
        summary="Delete a document",
        description="For good, with its passages, and a course’s with its record. To take it out of answers for now, "
        "give it the status `archived`.",
    ),
)
class DocumentViewSet(WrittenViewSet):
    queryset = Document.objects.of_university()
    serializer_class = DocumentDetail
    change_class = DocumentChange
    filterset_class = DocumentFilters
    orderings = {"updated_at": ("updated_at",), "created_at": ("created_at",), "title": ("title",), "id": ()}
    default_ordering = "-updated_at"
    needs = {
        "list": ["knowledge.view_document"],
        "retrieve": ["knowledge.view_document"],
        "passages": ["knowledge.view_document"],
        "create": ["knowledge.add_document"],
        "update": ["knowledge.change_document"],
        "partial_update": ["knowledge.change_document"],
        "destroy": ["knowledge.delete_document"],
    }

    def get_queryset(self) -> "QuerySet[Document]":
        documents: DocumentQuerySet = self.own().for_list()  # type: ignore[attr-defined]
        return documents if self.action == "list" else documents.defer(None)

    def get_serializer_class(self) -> Any:
        return DocumentSummary if self.action == "list" else super().get_serializer_class()

    def locked(self) -> Document:
        """Lock the document; raises PermissionDenied if deleting it would delete a course's record."""
        document: Document = super().locked()
        is_deleted = self.action == "destroy"
        if is_deleted and find_course(document) and not self.request.user.has_perm("knowledge.delete_course"):
            raise PermissionDenied
        return document

    def perform_destroy(self, document: Document) -> None:
        delete_document(document=document)

    @extend_schema(summary="A document’s passages as cut", responses=PassageShown(many=True), filters=False)
    @action(
        detail=True,
        serializer_class=PassageShown,
        filterset_class=None,
        orderings={"position": ("position",)},
        default_ordering="position",
    )
    def passages(self, request: Request, pk: str) -> Response:
        """List the passages that questions can find, as of the last indexing."""
        document = self.get_object()
        passages = Passage.objects.live().filter(document=document.pk).defer("embedding")
        return self.paginated(self.filter_queryset(passages))
