"""The staff API's conversations: to be read, never changed."""

from typing import Any

import django_filters
from django.db.models import Count, OuterRef, Prefetch, QuerySet, Subquery
from drf_spectacular.utils import extend_schema, extend_schema_field, extend_schema_view
from rest_framework import mixins, serializers

from chat.conversations.filters import with_answer, with_thumbs
from chat.models import Citation, Conversation, Feedback, Message
from core.rest.filters import YesNoFilter, before, since
from core.rest.views import StaffViewSet


class CitationShown(serializers.ModelSerializer):
    document = serializers.IntegerField(source="document_id", allow_null=True)

    class Meta:
        model = Citation
        fields = ["n", "document", "title", "url", "heading", "page", "quote"]


class FeedbackShown(serializers.ModelSerializer):
    class Meta:
        model = Feedback
        fields = ["value", "reasons", "comment", "updated_at"]
        extra_kwargs = {"value": {"help_text": "1: thumbs up, -1: thumbs down."}}


class RetrievedShown(serializers.Serializer):
    # For the API’s document, and without a docstring for that: what `chat.pipeline.retrieval.trace` keeps.

    passage = serializers.IntegerField()
    document = serializers.IntegerField()
    title = serializers.CharField()
    heading = serializers.CharField()
    page = serializers.IntegerField(allow_null=True)
    rank = serializers.IntegerField(help_text="From 1.")
    score = serializers.FloatField()
    origins = serializers.DictField(child=serializers.IntegerField(), help_text="The rank that each retriever gave it.")
    given = serializers.BooleanField(help_text="Whether the answer could be made from it.")


class ReadingShown(serializers.Serializer):
    # As above.

    step = serializers.CharField(help_text="spelling, abbreviations, numbers, compounds or synonyms.")
    word = serializers.CharField(help_text="A word or phrase of the question.")
    read_as = serializers.ListField(child=serializers.CharField(), help_text="What was looked up for it.")


class MessageShown(serializers.ModelSerializer):
    text = serializers.SerializerMethodField(
        help_text="What was said; of a cry for help only to who may read it (chat.read_help_message)."
    )
    faq = serializers.IntegerField(source="faq_id", allow_null=True, help_text="The FAQ that influenced the answer.")
    readings = serializers.SerializerMethodField(help_text="How the words of the question were read.")
    retrieved = serializers.SerializerMethodField(help_text="The head of the ranking that the answer was made from.")
    is_by_staff = serializers.SerializerMethodField(
        help_text="Whether the text begins with an answer in staff's own words, shown word for word."
    )
    citations = CitationShown(many=True)
    feedback = serializers.SerializerMethodField()

    class Meta:
        model = Message
        fields = [
            "id",
            "role",
            "text",
            "language",
            "status",
            "strategy",
            "reason",
            "notice",
            "route",
            "rewritten",
            "readings",
            "flags",
            "evidence",
            "is_by_staff",
            "faq",
            "faq_similarity",
            "retrieved",
            "citations",
            "feedback",
            "profile",
            "prompt",
            "model",
            "prompt_tokens",
            "answer_tokens",
            "timings_ms",
            "created_at",
            "finished_at",
        ]

    def get_text(self, message: Message) -> str:
        return message.text_for(self.context["request"].user)

    @extend_schema_field(ReadingShown(many=True))
    def get_readings(self, message: Message) -> Any:
        return message.readings

    def get_is_by_staff(self, message: Message) -> bool:
        return message.office is not None

    @extend_schema_field(RetrievedShown(many=True))
    def get_retrieved(self, message: Message) -> Any:
        return message.retrieved

    @extend_schema_field(FeedbackShown(allow_null=True))
    def get_feedback(self, message: Message) -> Any:
        feedback = getattr(message, "feedback", None)
        return FeedbackShown(feedback).data if feedback else None


def with_parts(messages: "QuerySet[Message]") -> "QuerySet[Message]":
    """All that is shown of a message, in a constant number of queries."""
    return messages.select_related("feedback").prefetch_related("citations")


class ConversationSummary(serializers.ModelSerializer):
    assistant = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    message_count = serializers.IntegerField(source="messages_in_all")
    has_abstained = serializers.BooleanField()
    has_thumbs_down = serializers.BooleanField()

    class Meta:
        model = Conversation
        fields = [
            "id",
            "assistant",
            "stars",
            "message_count",
            "has_abstained",
            "has_thumbs_down",
            "created_at",
            "updated_at",
        ]


class ConversationDetail(ConversationSummary):
    messages = MessageShown(many=True)

    class Meta(ConversationSummary.Meta):
        fields = [*ConversationSummary.Meta.fields, "messages"]


class ConversationFilters(django_filters.FilterSet):
    assistant = django_filters.CharFilter(field_name="assistant__slug", help_text="Its short name.")
    answer = django_filters.ChoiceFilter(
        choices=Message.Status.choices, method="with_an_answer", help_text="At least one answer that became this."
    )
    is_flagged = YesNoFilter(method="with_flags", help_text="Whether it shows signs of an attack.")
    feedback = django_filters.ChoiceFilter(
        choices=[("up", "up"), ("down", "down"), ("none", "none")],
        method="with_feedback",
        help_text="At least one thumb like this, or none at all.",
    )
    stars = django_filters.NumberFilter(min_value=1, max_value=5)
    updated_since = since("updated_at")
    updated_before = before("updated_at")

    def with_an_answer(self, rows: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        return rows.filter(with_answer(role=Message.Role.ASSISTANT, status=value))

    def with_flags(self, rows: "QuerySet[Any]", name: str, value: bool) -> "QuerySet[Any]":
        flagged = with_answer(flags__len__gt=0)
        return rows.filter(flagged) if value else rows.exclude(flagged)

    def with_feedback(self, rows: "QuerySet[Any]", name: str, value: str) -> "QuerySet[Any]":
        if value == "none":
            return rows.exclude(with_thumbs(1)).exclude(with_thumbs(-1))
        return rows.filter(with_thumbs(1 if value == "up" else -1))


@extend_schema_view(
    list=extend_schema(summary="Conversations, without what was said"),
    retrieve=extend_schema(
        summary="A conversation",
        description="Each question and answer, with what the answer was made from and what the student thought of it.",
    ),
)
class ConversationViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, StaffViewSet):
    queryset = Conversation.objects.all()
    serializer_class = ConversationDetail
    filterset_class = ConversationFilters
    orderings = {"updated_at": ("updated_at",)}
    default_ordering = "-updated_at"
    lookup_value_regex = "[0-9a-f-]{36}"
    needs = {"list": ["chat.view_conversation"], "retrieve": ["chat.view_conversation"]}

    def get_serializer_class(self) -> Any:
        return ConversationSummary if self.action == "list" else super().get_serializer_class()

    def get_queryset(self) -> "QuerySet[Conversation]":
        counted = Message.objects.filter(conversation=OuterRef("pk")).order_by().values("conversation")
        conversations: QuerySet[Conversation] = (
            self.own()
            .select_related("assistant")
            .annotate(
                messages_in_all=Subquery(counted.annotate(count=Count("pk")).values("count")),
                has_abstained=with_answer(status=Message.Status.ABSTAINED),
                has_thumbs_down=with_thumbs(-1),
            )
        )
        if self.action == "list":
            return conversations
        return conversations.prefetch_related(Prefetch("messages", with_parts(Message.objects.order_by("pk"))))
