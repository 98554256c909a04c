"""The review queue: answers that went wrong, and what staff found."""

from typing import Any

import django_filters
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Prefetch, QuerySet
from django.utils.translation import gettext as _
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.inbox.items import OutOfDate
from analytics.inbox.services import COMMENT_CHARACTERS, add_comment, assign
from analytics.models import Comment, Review
from analytics.reviews.services import judge_review
from chat.models import Message
from chat.models.assistants import Language
from chat.rest.conversations import MessageShown, with_parts
from core.rest.filters import before, since
from core.rest.permissions import may
from core.rest.serializers import Body, Conflict
from core.rest.views import StaffViewSet

NOBODY = "nobody"


def username(source: str) -> serializers.CharField:
    return serializers.CharField(source=f"{source}.username", read_only=True, allow_null=True, default=None)


class CommentShown(serializers.ModelSerializer):
    by = username("by")

    class Meta:
        model = Comment
        fields = ["id", "by", "note", "text", "created_at"]


class ReviewSummary(serializers.ModelSerializer):
    assistant = serializers.SlugRelatedField(slug_field="slug", read_only=True, allow_null=True)
    assigned_to = username("assigned_to")
    done_by = username("done_by")

    class Meta:
        model = Review
        fields = [
            "id",
            "version",
            "assistant",
            "language",
            "asked_at",
            "reasons",
            "state",
            "verdict",
            "assigned_to",
            "due_on",
            "gap",
            "done_by",
            "done_at",
        ]


class MeantShown(serializers.Serializer):
    faq = serializers.IntegerField(source="faq_id", allow_null=True, help_text="Null: no FAQ is about it.")
    by_verdict = serializers.BooleanField(
        source="review.confirmed_by_verdict", help_text="True: it was learned from the verdict, and goes with it."
    )


class ReviewDetail(ReviewSummary):
    conversation = serializers.UUIDField(source="message.conversation_id")
    question = serializers.CharField(source="message.question.text", allow_null=True, default=None)
    answer = MessageShown(source="message")
    meant = MeantShown(
        source="confirmed",
        allow_null=True,
        help_text="The FAQ that the question means, as staff confirmed it; FAQs are matched to like questions so.",
    )
    comments = CommentShown(many=True)

    class Meta(ReviewSummary.Meta):
        fields = [*ReviewSummary.Meta.fields, "conversation", "question", "answer", "meant", "comments"]


class ReviewVersion(Body):
    version = serializers.IntegerField(
        min_value=0, max_value=2**31 - 1, help_text="As it was read; where it has another by now: 409."
    )


class JudgmentGiven(ReviewVersion):
    verdict = serializers.ChoiceField(choices=Review.Verdict.choices, allow_blank=True)
    comment = serializers.CharField(max_length=COMMENT_CHARACTERS, allow_blank=True, required=False, default="")
    done = serializers.BooleanField(help_text="True puts it away, false leaves it open, or opens it again.")


class AssignmentGiven(ReviewVersion):
    to = serializers.CharField(max_length=150, allow_null=True, help_text="A username; null: nobody’s.")
    due_on = serializers.DateField(allow_null=True, required=False, help_text="Left out, it stays as it is.")


class CommentGiven(Body):
    text = serializers.CharField(max_length=COMMENT_CHARACTERS)


class ReviewFilters(django_filters.FilterSet):
    assistant = django_filters.CharFilter(field_name="assistant__slug", help_text="Its short name.")
    language = django_filters.ChoiceFilter(choices=Language.choices)
    state = django_filters.ChoiceFilter(choices=Review.State.choices)
    reason = django_filters.ChoiceFilter(choices=Review.Reason.choices, method="with_reason")
    verdict = django_filters.ChoiceFilter(
        choices=Review.Verdict.choices, null_value="none", null_label="none", method="with_verdict"
    )
    assigned_to = django_filters.CharFilter(method="of_member", help_text=f"A username, or `{NOBODY}`.")
    asked_since = since("asked_at")
    asked_before = before("asked_at")

    def with_reason(self, rows: "QuerySet[Review]", name: str, value: str) -> "QuerySet[Review]":
        return rows.filter(reasons__contains=[value])

    def with_verdict(self, rows: "QuerySet[Review]", name: str, value: str) -> "QuerySet[Review]":
        return rows.filter(verdict="" if value == "none" else value)

    def of_member(self, rows: "QuerySet[Review]", name: str, value: str) -> "QuerySet[Review]":
        return rows.filter(assigned_to=None) if value == NOBODY else rows.filter(assigned_to__username=value)


@extend_schema_view(
    list=extend_schema(summary="Answers to review, to do first"),
    retrieve=extend_schema(
        summary="An answer to review", description="With the question, what the answer was made from, and comments."
    ),
)
class ReviewViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, StaffViewSet):
    queryset = Review.objects.all()
    serializer_class = ReviewDetail
    filterset_class = ReviewFilters
    orderings = {"state": ("state", "asked_at"), "asked_at": ("asked_at",), "id": ()}
    default_ordering = "-state"
    needs = {
        "list": ["analytics.view_review"],
        "retrieve": ["analytics.view_review"],
        "judge": ["analytics.change_review"],
        "assign": ["analytics.change_review"],
        "comment": ["analytics.change_review"],
    }

    def get_serializer_class(self) -> Any:
        return ReviewSummary if self.action == "list" else super().get_serializer_class()

    def get_queryset(self) -> "QuerySet[Review]":
        reviews = self.own().select_related("assistant", "assigned_to", "done_by")
        if self.action == "list":
            return reviews
        answers = with_parts(Message.objects.select_related("question"))
        return reviews.select_related("confirmed").prefetch_related(
            Prefetch("message", answers), Prefetch("comments", Comment.objects.select_related("by"))
        )

    @extend_schema(
        summary="Say what was wrong with an answer",
        description=(
            "From `correct_answer` the matching of FAQs learns which FAQ the question means (`meant`), if the answer "
            "surely relied on one and you may publish FAQs. Another verdict takes that back."
        ),
        request=JudgmentGiven,
        examples=[
            OpenApiExample(
                "Done", value={"version": 3, "verdict": "missing_knowledge", "done": True}, request_only=True
            )
        ],
    )
    @action(detail=True, methods=["post"], filterset_class=None)
    @transaction.atomic
    def judge(self, request: Request, pk: str) -> Response:
        review, values = self._asked(JudgmentGiven)
        done = Review.State.DONE if values["done"] else Review.State.OPEN
        wanted = {"verdict": values["verdict"], "state": done}
        changed = [name for name, value in wanted.items() if getattr(review, name) != value]
        try:
            saved = judge_review(review=review, by=request.user, **values)
        except OutOfDate as error:
            raise Conflict(current=self._now(), changed=changed) from error
        changed += ["confirmed"] if saved.confirmed_id != review.confirmed_id else []
        self.log_changed(review, [*changed, *(["comment"] if values["comment"].strip() else [])])
        return self.as_it_is_now()

    @extend_schema(
        summary="Assign an answer to a member of staff",
        request=AssignmentGiven,
        examples=[OpenApiExample("Given back", value={"version": 3, "to": None}, request_only=True)],
    )
    @action(detail=True, methods=["post"], filterset_class=None)
    @transaction.atomic
    def assign(self, request: Request, pk: str) -> Response:
        review, values = self._asked(AssignmentGiven)
        to = None if values["to"] is None else self._reviewer(review, values["to"])
        try:
            due_on = values.get("due_on", review.due_on)
            assign(item=review, version=values["version"], to=to, due_on=due_on, by=request.user)
        except OutOfDate as error:
            raise Conflict(current=self._now(), changed=["assigned_to", "due_on"]) from error
        self.log_changed(review, ["assigned_to", "due_on"])
        return self.as_it_is_now()

    @extend_schema(
        summary="Comment on an answer",
        request=CommentGiven,
        responses={201: ReviewDetail},
        examples=[OpenApiExample("A comment", value={"text": "The library knows."}, request_only=True)],
    )
    @action(detail=True, methods=["post"], url_path="comments", filterset_class=None)
    @transaction.atomic
    def comment(self, request: Request, pk: str) -> Response:
        review, values = self._asked(CommentGiven)
        add_comment(item=review, by=request.user, text=values["text"])
        self.log_changed(review, ["comment"])
        return self.as_it_is_now(201)

    def _asked(self, serializer: type[serializers.Serializer]) -> tuple[Review, dict[str, Any]]:
        review = self.get_object()
        given = serializer(data=self.request.data)
        given.is_valid(raise_exception=True)
        return review, given.validated_data

    def _now(self) -> Any:
        return self.get_serializer(self.get_object()).data

    def _reviewer(self, review: Review, name: str) -> User:
        """Return the member. Raise ValidationError if they could not open the review."""
        member = User.objects.filter(username=name, is_active=True, is_staff=True).first()
        if (
            member is None
            or not may(member, "analytics.change_review")
            or not Review.objects.visible_to(member).filter(pk=review.pk).exists()
        ):
            raise serializers.ValidationError({"to": _("Nobody of this name reviews answers of this assistant.")})
        return member
