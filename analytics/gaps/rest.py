"""Gaps, and what staff make of them, over the staff API."""

from typing import Any

import django_filters
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.gaps.services import draft_faq, rename_gap
from analytics.inbox.services import set_topic_state
from analytics.models import Gap, GapQuestion
from chat.models.assistants import Language
from core.rest.filters import YesNoFilter, before, since
from core.rest.serializers import Body
from core.rest.views import StaffViewSet

MOST_ROWS = 200


class GapShown(serializers.ModelSerializer):
    assistant = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    assigned_to = serializers.CharField(
        source="assigned_to.username", read_only=True, allow_null=True, default=None, help_text="A username."
    )

    class Meta:
        model = Gap
        fields = [
            "id",
            "name",
            "state",
            "assigned_to",
            "due_on",
            "assistant",
            "language",
            "weight",
            "visitors",
            "this_week",
            "week_before",
            "question_count",
            "first_asked",
            "last_asked",
            "answered_since",
            "answered_by_faq",
            "answered_by_document",
            "faq",
            "created_at",
        ]
        read_only_fields = tuple(name for name in fields if name not in {"name", "state"})


class GapChange(Body):
    name = serializers.CharField(max_length=200, required=False, help_text="It stays from then on.")
    state = serializers.ChoiceField(choices=Gap.State.choices, required=False)


class Keys(serializers.ListField):
    child = serializers.IntegerField(min_value=1, max_value=2**63 - 1)


class DraftGiven(Body):
    question = serializers.CharField(max_length=1000, help_text="What the FAQ answers.")
    phrasings = Keys(required=False, max_length=MOST_ROWS, help_text="Ids of the gap’s questions that ask the same.")
    documents = Keys(
        required=False, max_length=MOST_ROWS, help_text="Ids of published documents that answer it, the best first."
    )


class DraftMade(serializers.Serializer):
    faq = serializers.IntegerField(help_text="The id of the FAQ.")


class GapQuestionShown(serializers.ModelSerializer):
    text = serializers.CharField(source="message.text")
    rewritten = serializers.CharField(source="message.answer.rewritten", help_text="As it was looked up.")
    answer_status = serializers.CharField(source="message.answer.status")
    conversation = serializers.UUIDField(source="message.conversation_id")
    asked_at = serializers.DateTimeField(source="message.created_at")

    class Meta:
        model = GapQuestion
        fields = ["id", "text", "rewritten", "language", "answer_status", "conversation", "asked_at", "centrality"]


class GapFilters(django_filters.FilterSet):
    assistant = django_filters.CharFilter(field_name="assistant__slug", help_text="Its short name.")
    language = django_filters.ChoiceFilter(choices=Language.choices)
    state = django_filters.MultipleChoiceFilter(choices=Gap.State.choices)
    is_answered = YesNoFilter(
        field_name="answered_since", lookup_expr="isnull", exclude=True, help_text="Whether something covers it now."
    )
    asked_since = since("last_asked")
    asked_before = before("last_asked")
    search = django_filters.CharFilter(field_name="name", lookup_expr="icontains", max_length=200)


@extend_schema_view(list=extend_schema(summary="Gaps, by priority"), retrieve=extend_schema(summary="A gap"))
class GapViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, StaffViewSet):
    queryset = Gap.objects.filter(merged_into=None)
    serializer_class = GapShown
    filterset_class = GapFilters
    orderings = {"weight": ("weight",), "last_asked": ("last_asked",), "id": ()}
    default_ordering = "-weight"
    needs = {
        "list": ["analytics.view_gap"],
        "retrieve": ["analytics.view_gap"],
        "questions": ["analytics.view_gap"],
        "partial_update": ["analytics.change_gap"],
        "draft": ["analytics.change_gap", "faqs.add_faq"],
    }

    def get_queryset(self) -> "QuerySet[Gap]":
        return self.own().select_related("assistant", "assigned_to").defer("centroid")

    @extend_schema(
        summary="Rename a gap, or say how far it is",
        request=GapChange,
        responses=GapShown,
        examples=[OpenApiExample("Taken on", value={"state": "in_work"}, request_only=True)],
    )
    @transaction.atomic
    def partial_update(self, request: Request, pk: str) -> Response:
        gap = self.locked()
        change = GapChange(data=request.data)
        change.is_valid(raise_exception=True)
        values, changed = change.validated_data, []
        if (
            "name" in values
            and rename_gap(gap=gap, version=gap.version, name=values["name"], by=request.user).name != gap.name
        ):
            changed.append("name")
            gap.refresh_from_db()
        if "state" in values and set_topic_state(gaps=[gap], state=values["state"], by=request.user):
            changed.append("state")
        if changed:
            self.log_changed(gap, changed)
        return self.as_it_is_now()

    @extend_schema(
        summary="Make a draft FAQ of a gap",
        request=DraftGiven,
        responses={201: DraftMade},
        examples=[
            OpenApiExample(
                "A draft",
                value={"question": "Where do I park?", "phrasings": [311, 314], "documents": [17]},
                request_only=True,
            )
        ],
    )
    @action(detail=True, methods=["post"], filterset_class=None)
    @transaction.atomic
    def draft(self, request: Request, pk: str) -> Response:
        """Draft an FAQ in the collection of its first document; the gap is in work then."""
        gap = self.locked()
        given = DraftGiven(data=request.data)
        given.is_valid(raise_exception=True)
        wanted: dict[str, Any] = {"phrasings": [], "documents": [], **given.validated_data}
        faq = draft_faq(by=request.user, gap=gap, **wanted)
        self.log_changed(gap, ["FAQ"])
        self.log_added(faq)
        return Response({"faq": faq.pk}, status=201)

    @extend_schema(
        summary="What was asked of a gap, the most central first", responses=GapQuestionShown(many=True), filters=False
    )
    @action(
        detail=True,
        serializer_class=GapQuestionShown,
        filterset_class=None,
        orderings={"centrality": ("centrality",)},
        default_ordering="-centrality",
    )
    def questions(self, request: Request, pk: str) -> Response:
        gap = self.get_object()
        asked = GapQuestion.objects.filter(gap=gap.pk).select_related("message__answer").defer("embedding")
        return self.paginated(self.filter_queryset(asked))
