"""Topics over the staff API: their figures in a period, under the page's limits, and what staff make of them."""

from typing import Any

from django.db import transaction
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer
from rest_framework import serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.dashboard.rest import HIDDEN, PARAMETERS, PeriodShown, read_choices
from analytics.models import Topic
from analytics.topics.admin.pages import TopicForm
from analytics.topics.listing import compare_topics, topics_in
from analytics.topics.services import merge_topic, pin_topic, rename_topic, split_topic
from core.rest.serializers import Body, ScopedKeyField
from core.rest.views import StaffViewSet


class TopicShown(serializers.ModelSerializer):
    assistant = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    name = serializers.CharField(help_text="Empty where the question that it was named after is deleted.")

    class Meta:
        model = Topic
        fields = ["id", "name", "assistant", "language", "is_pinned"]


class TopicSharesShown(serializers.Serializer):
    answers = serializers.IntegerField(source="ranked.answers", help_text="Questions with a reply.")
    answered_share = serializers.FloatField(allow_null=True, help_text="From 0 to 1.")
    liked_share = serializers.FloatField(allow_null=True, help_text="Of all thumbs, from 0 to 1.")
    handed_over = serializers.IntegerField(allow_null=True, help_text=HIDDEN)


class TopicListed(TopicSharesShown):
    topic = TopicShown()
    answers_before = serializers.IntegerField(source="ranked.before", allow_null=True, help_text=HIDDEN)
    beside = TopicSharesShown(allow_null=True, help_text="The same topic in what is compared.")


@extend_schema_serializer(many=False)
class TopicsShown(serializers.Serializer):
    period = PeriodShown()
    before = PeriodShown(help_text="As many days right before, or those of what is compared.")
    smallest_group = serializers.IntegerField(help_text="The fewest visitors that a topic may be about.")
    topics = TopicListed(many=True, help_text="The 200 that most was asked of, pinned ones first.")


class TopicChange(Body):
    name = serializers.CharField(max_length=200, required=False, help_text="It stays from then on.")
    is_pinned = serializers.BooleanField(required=False)


class JoinGiven(Body):
    into = ScopedKeyField(queryset=Topic.objects.filter(merged_into=None), help_text="The id of the other topic.")


class SplitGiven(Body):
    joined = ScopedKeyField(
        queryset=Topic.objects.exclude(merged_into=None), help_text="The id of the topic that was joined to this one."
    )


class TopicViewSet(StaffViewSet):
    queryset = Topic.objects.filter(merged_into=None)
    serializer_class = TopicShown
    pagination_class: Any = None
    filter_backends: Any = ()
    needs = {
        "list": ["analytics.view_topic"],
        "partial_update": ["analytics.change_topic"],
        "join": ["analytics.change_topic"],
        "split": ["analytics.change_topic"],
    }

    def get_queryset(self) -> Any:
        return self.own().select_related("assistant").defer("centroid")

    @extend_schema(
        summary="The topics of a period",
        parameters=[each for each in PARAMETERS if each.name != "step"],
        responses=TopicsShown,
    )
    def list(self, request: Request) -> Response:
        form, _ = read_choices(request, TopicForm, without=("step",))
        view, other = form.sides(request.user)
        rows = topics_in(view)
        shown = {
            "period": view.period,
            "before": other.view.period if other else view.period.before,
            "smallest_group": view.least,
            "topics": compare_topics(rows, other.view) if other else rows,
        }
        return Response(TopicsShown(shown).data)

    @extend_schema(
        summary="Rename or pin a topic",
        request=TopicChange,
        responses=TopicShown,
        examples=[OpenApiExample("Pinned", value={"is_pinned": True}, request_only=True)],
    )
    @transaction.atomic
    def partial_update(self, request: Request, pk: str) -> Response:
        topic, given = self.locked(), TopicChange(data=request.data)
        given.is_valid(raise_exception=True)
        values, changed = given.validated_data, []
        if values.get("name", topic.name) != topic.name:
            topic = rename_topic(topic=topic, version=topic.version, name=values["name"])
            changed.append("name")
        if values.get("is_pinned", topic.is_pinned) != topic.is_pinned:
            topic = pin_topic(topic=topic, version=topic.version, is_pinned=values["is_pinned"])
            changed.append("is_pinned")
        if changed:
            self.log_changed(topic, changed)
        return self.as_it_is_now()

    @extend_schema(
        summary="Join a topic to another one of its assistant",
        description="Its figures of all days go along.",
        request=JoinGiven,
        responses=TopicShown,
        examples=[OpenApiExample("Into another", value={"into": 17}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    @transaction.atomic
    def join(self, request: Request, pk: str) -> Response:
        topic, given = self.locked(), JoinGiven(data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        into = merge_topic(topic=topic, version=topic.version, into=given.validated_data["into"])
        self.log_changed(topic, ["merged_into"])
        return Response(self.get_serializer(into).data)

    @extend_schema(
        summary="Split off a topic that was joined to this one",
        description="It gets back its questions, and its figures of all days but those frozen since.",
        request=SplitGiven,
        responses=TopicShown,
        examples=[OpenApiExample("The one that was joined", value={"joined": 18}, request_only=True)],
    )
    @action(detail=True, methods=["post"])
    @transaction.atomic
    def split(self, request: Request, pk: str) -> Response:
        topic, given = self.locked(), SplitGiven(data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        split = split_topic(topic=topic, version=topic.version, joined=given.validated_data["joined"])
        self.log_changed(topic, ["merged"])
        return Response(self.get_serializer(split).data)
