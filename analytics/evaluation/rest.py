"""Evaluation sets, and runs of profiles on them."""

from typing import Any

import django_filters
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.evaluation.admin.sets import counts
from analytics.evaluation.answers.options import AnswerOptions
from analytics.evaluation.services import start_runs
from analytics.models import EvaluationRun, EvaluationSet, QuestionResult
from core.rest.filters import before, since
from core.rest.serializers import Body, ScopedKeyField
from core.rest.views import StaffViewSet

MOST_PROFILES = 20


class SetShown(serializers.ModelSerializer):
    collections = serializers.SlugRelatedField(slug_field="slug", many=True, read_only=True)
    question_count = serializers.IntegerField()
    answerable_count = serializers.IntegerField()
    unanswerable_count = serializers.IntegerField()
    judged_count = serializers.IntegerField(help_text="Questions of which it is known which documents answer them.")

    class Meta:
        model = EvaluationSet
        fields = [
            "id",
            "name",
            "collections",
            "question_count",
            "answerable_count",
            "unanswerable_count",
            "judged_count",
            "created_at",
        ]


class RunSummary(serializers.ModelSerializer):
    requested_by = serializers.CharField(source="requested_by.username", read_only=True, allow_null=True, default=None)
    has_answers = serializers.SerializerMethodField(help_text="Whether the questions are answered too.")

    class Meta:
        model = EvaluationRun
        fields = [
            "id",
            "evaluation_set",
            "profile",
            "state",
            "done",
            "total",
            "message",
            "has_answers",
            "requested_by",
            "created_at",
            "finished_at",
        ]

    def get_has_answers(self, run: EvaluationRun) -> bool:
        return run.answering is not None


class RunDetail(RunSummary):
    results = serializers.DictField(help_text="What was measured, by its names.")

    class Meta(RunSummary.Meta):
        fields = [*RunSummary.Meta.fields, "results"]


class RunsGiven(Body):
    evaluation_set = ScopedKeyField(queryset=EvaluationSet.objects.all())
    profiles = serializers.ListField(
        child=serializers.CharField(max_length=100), min_length=1, max_length=MOST_PROFILES, help_text="Their names."
    )
    answers = serializers.BooleanField(default=False, help_text="Also answer the questions, and measure the answers.")


class RunsMade(serializers.Serializer):
    runs = RunSummary(many=True)


class ResultShown(serializers.ModelSerializer):
    text = serializers.CharField(source="question.text")
    answerable = serializers.BooleanField(source="question.answerable", allow_null=True)
    ranking = serializers.ListField(
        child=serializers.IntegerField(), help_text="Ids of the first documents, the best first."
    )
    measures = serializers.DictField(child=serializers.FloatField(), help_text="Empty where nothing is judged.")
    answer = serializers.DictField(allow_null=True, help_text="Its replies with their measures; null: not asked.")

    class Meta:
        model = QuestionResult
        fields = ["id", "question", "text", "answerable", "ranking", "measures", "evidence", "seconds", "answer"]


class SetFilters(django_filters.FilterSet):
    collection = django_filters.CharFilter(field_name="collections__slug", help_text="Its short name.")
    search = django_filters.CharFilter(field_name="name", lookup_expr="icontains", max_length=200)


class RunFilters(django_filters.FilterSet):
    evaluation_set = django_filters.NumberFilter(min_value=1, max_value=2**63 - 1)
    profile = django_filters.CharFilter()
    state = django_filters.MultipleChoiceFilter(choices=EvaluationRun.State.choices)
    created_since = since("created_at")
    created_before = before("created_at")


@extend_schema_view(list=extend_schema(summary="Evaluation sets"), retrieve=extend_schema(summary="An evaluation set"))
class EvaluationSetViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, StaffViewSet):
    queryset = EvaluationSet.objects.all()
    serializer_class = SetShown
    filterset_class = SetFilters
    orderings = {"name": ("name",), "id": ()}
    default_ordering = "name"
    needs = {"list": ["analytics.view_evaluationset"], "retrieve": ["analytics.view_evaluationset"]}

    def get_queryset(self) -> "QuerySet[EvaluationSet]":
        sets: QuerySet[EvaluationSet] = self.own().annotate(**counts()).prefetch_related("collections")
        return sets


@extend_schema_view(
    list=extend_schema(summary="Runs of evaluations, the latest first"),
    retrieve=extend_schema(summary="A run and what it measured"),
)
class EvaluationRunViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, StaffViewSet):
    queryset = EvaluationRun.objects.all()
    serializer_class = RunDetail
    filterset_class = RunFilters
    orderings = {"id": ()}
    default_ordering = "-id"
    needs = {
        "list": ["analytics.view_evaluationrun"],
        "retrieve": ["analytics.view_evaluationrun"],
        "results": ["analytics.view_evaluationrun"],
        "create": ["analytics.add_evaluationrun"],
    }

    def get_serializer_class(self) -> Any:
        return RunSummary if self.action == "list" else super().get_serializer_class()

    def get_queryset(self) -> "QuerySet[EvaluationRun]":
        runs = self.own().select_related("requested_by")
        return runs.defer("results") if self.action == "list" else runs

    @extend_schema(
        summary="Run profiles on an evaluation set",
        request=RunsGiven,
        responses={201: RunsMade},
        examples=[
            OpenApiExample("Two", value={"evaluation_set": 3, "profiles": ["default", "words"]}, request_only=True)
        ],
        filters=False,
    )
    @transaction.atomic
    def create(self, request: Request) -> Response:
        """Start one run a profile, unless one waits or runs already."""
        given = RunsGiven(data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        values = given.validated_data
        runs = start_runs(
            evaluation_set=values["evaluation_set"],
            profiles=values["profiles"],
            answers=AnswerOptions() if values["answers"] else None,
            by=request.user,
        )
        for run in runs:
            self.log_added(run)
        return Response(RunsMade({"runs": runs}).data, status=201)

    @extend_schema(summary="How each question of a run went", responses=ResultShown(many=True), filters=False)
    @action(
        detail=True,
        serializer_class=ResultShown,
        filterset_class=None,
        orderings={"question": ("question",)},
        default_ordering="question",
    )
    def results(self, request: Request, pk: str) -> Response:
        run = self.get_object()
        results = QuestionResult.objects.filter(run=run.pk).select_related("question")
        return self.paginated(self.filter_queryset(results))
