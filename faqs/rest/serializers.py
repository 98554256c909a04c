"""FAQs as JSON: with their phrasings and documents as one thing, each change of which leaves a version."""

from typing import Any

from django.core.exceptions import ValidationError
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample, extend_schema_serializer
from rest_framework import serializers

from core.access import sees_everything
from core.rest.serializers import Body, ScopedKeyField, ScopedSlugField, Versioned
from faqs.answers.changes import list_unsigned, redate, redated_message, unsigned_message
from faqs.answers.checks import list_warnings
from faqs.models import ANSWER_FIELDS, FAQ, Category, FAQSource
from faqs.services import index_saved_faq
from faqs.versions.history import Reason, recording, set_phrasings, set_sources
from faqs.versions.snapshots import fingerprint_content, read_content, read_present_answer
from knowledge.models import Collection, Document

Status = FAQ.Status
MOST_PHRASINGS, MOST_SOURCES = 200, 50
CHANGING = {"create", "update", "partial_update", "publish"}
VERSION = "5f2b6c9d1e0a47c8b3f4a6d2908e7c15"


class Phrasings(serializers.ListField):
    child = serializers.CharField(max_length=1000)

    def to_representation(self, phrasings: Any) -> list[str]:
        return [phrasing.text for phrasing in phrasings.all()]


class SourceShown(Body, serializers.ModelSerializer):
    document = serializers.IntegerField(source="document_id", min_value=1, max_value=2**63 - 1)
    title = serializers.CharField(source="document.title", read_only=True)
    url = serializers.CharField(source="document.url", read_only=True)

    class Meta:
        model = FAQSource
        fields = ["document", "title", "url", "verified_at"]
        read_only_fields = ("verified_at",)


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "A draft",
            value={
                "question": "How much is the semester contribution?",
                "phrasings": ["What do I pay each semester?"],
                "sources": [{"document": 17}],
                "language": "en",
                "collection": "site",
            },
            request_only=True,
        )
    ]
)
class FAQShown(Body, serializers.ModelSerializer):
    version = serializers.SerializerMethodField(help_text="To be sent with a change.")
    phrasings = Phrasings(required=False, max_length=MOST_PHRASINGS, help_text="Other ways to ask the same.")
    sources = SourceShown(many=True, required=False, help_text="The documents that answer it, the best first.")
    collection = ScopedSlugField(
        slug_field="slug",
        queryset=Collection.objects.filter(for_evaluation=False),
        allow_null=True,
        required=False,
        help_text="The short name of the one whose teams look after it; null: those who see everything.",
    )
    category = serializers.SlugRelatedField(
        slug_field="name", queryset=Category.objects.all(), allow_null=True, required=False, help_text="Its name."
    )
    answer_warnings = serializers.SerializerMethodField(
        help_text="After a change: what to look at again in the answers and sources; nothing was stopped by it."
    )
    translation_of = ScopedKeyField(queryset=FAQ.objects.of_university(), allow_null=True, required=False)

    class Meta:
        model = FAQ
        fields = [
            "id",
            "version",
            "question",
            "phrasings",
            "sources",
            "language",
            "status",
            "category",
            "collection",
            "valid_from",
            "valid_until",
            "reference_answer",
            *ANSWER_FIELDS,
            "answer_warnings",
            "translation_of",
            "external_id",
            "created_at",
            "updated_at",
        ]
        read_only_fields = ("status", "created_at", "updated_at")
        validators: list[Any] = []  # `FAQ.full_clean` has them

    def get_version(self, faq: FAQ) -> str:
        return fingerprint_content(read_content(faq))

    def get_answer_warnings(self, faq: FAQ) -> list[str]:
        if self.context["view"].action not in CHANGING:
            return []
        redated = ["answer_checked_on: " + redated_message()] if self.context["view"].is_redated else []
        return redated + [
            f"answer_{warned.language}: {warned.message}" if warned.language else f"sources: {warned.message}"
            for warned in list_warnings(faq)
        ]

    def validate_sources(self, sources: list[dict[str, Any]]) -> list[int]:
        """Return the documents' ids; documents that the FAQ has already may stay, archived ones too."""
        ids = list(dict.fromkeys(source["document_id"] for source in sources))
        if len(ids) > MOST_SOURCES:
            raise serializers.ValidationError(_("At most %(most)d documents.") % {"most": MOST_SOURCES})
        own = Document.objects.visible_to(self.context["request"].user).exclude(status=Document.Status.ARCHIVED)
        known = set(own.filter(pk__in=ids).values_list("pk", flat=True))
        if isinstance(self.instance, FAQ):
            known |= set(self.instance.sources.values_list("document_id", flat=True))
        if missing := [str(pk) for pk in ids if pk not in known]:
            said = _("There is no such document, or it is archived: %(ids)s.")
            raise serializers.ValidationError(said % {"ids": ", ".join(missing)})
        return ids

    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        """Require a collection of users without full access."""
        is_of_nobody = values.get("collection", self.instance and self.instance.collection) is None
        if is_of_nobody and not sees_everything(self.context["request"].user):
            raise serializers.ValidationError({"collection": _("Name the collection whose teams are responsible.")})
        return values

    def create(self, values: dict[str, Any]) -> FAQ:
        with recording([], by=self.context["request"].user, reason=Reason.API) as made:
            faq = self._save(FAQ(), values)
            made.append(faq.pk)
        return faq

    def _save(self, faq: FAQ, values: dict[str, Any]) -> FAQ:
        """Save the FAQ; call it inside `recording`. Raise ValidationError."""
        parts = {name: values.pop(name, None) for name in ("phrasings", "sources")}
        before = read_present_answer(faq)
        for name, value in values.items():
            setattr(faq, name, value)
        if unsigned := list_unsigned(faq, before):
            raise ValidationError({f"office_{language}": unsigned_message() for language in unsigned})
        self.context["view"].is_redated = redate(faq, before)
        faq.full_clean()
        faq.save()
        if parts["phrasings"] is not None:
            set_phrasings(faq, parts["phrasings"])
        if parts["sources"] is not None:
            set_sources(faq, parts["sources"])
        index_saved_faq(faq=faq)
        return faq


class OfAVersion(Versioned):
    def read_version(self, row: FAQ) -> str:
        return fingerprint_content(read_content(row))

    def to_read(self, row: FAQ) -> Any:
        return FAQShown(row, context=self.context).data

    def differing(self, row: FAQ, values: dict[str, Any]) -> list[str]:
        content = read_content(row)
        parts = {"phrasings": content["phrasings"], "sources": [source["id"] for source in content["sources"]]}
        return [
            name for name, value in values.items() if (parts[name] if name in parts else getattr(row, name)) != value
        ]


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Other phrasings",
            value={"version": VERSION, "phrasings": ["What does a semester cost?"]},
            request_only=True,
        )
    ]
)
class FAQChange(OfAVersion, FAQShown):
    def validate(self, values: dict[str, Any]) -> dict[str, Any]:
        values = super().validate(values)
        if self.initial_data.get("status", self.instance.status) != self.instance.status:
            raise serializers.ValidationError({"status": _("It is published, retired and so on at its own addresses.")})
        if self.instance.status == Status.PUBLISHED and not self._has_answer(values):
            raise serializers.ValidationError({"sources": _("A published FAQ needs a document or an answer.")})
        return values

    def _has_answer(self, values: dict[str, Any]) -> bool:
        """Return whether it would still have an answer of staff's own, or a document that is no draft."""
        texts = (values.get(name, getattr(self.instance, name)) for name in ("answer_de", "answer_en"))
        if any(text.strip() for text in texts):
            return True
        linked = values.get("sources")
        if linked is None:
            linked = self.instance.sources.values("document")
        return Document.objects.filter(pk__in=linked).exclude(status=Document.Status.DRAFT).exists()

    def update(self, faq: FAQ, values: dict[str, Any]) -> FAQ:
        with recording([faq.pk], by=self.context["request"].user, reason=Reason.API):
            return self._save(faq, values)


@extend_schema_serializer(examples=[OpenApiExample("As read", value={"version": VERSION}, request_only=True)])
class FAQVersionGiven(OfAVersion):
    """The version of the FAQ that a change is meant for."""
