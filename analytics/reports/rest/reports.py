"""Saved reports in the staff API."""

from collections.abc import Mapping
from typing import Any

import django_filters
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.db.models import QuerySet
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.models import Report
from analytics.reports.admin.form import check_name
from analytics.reports.definition import Definition
from analytics.reports.permissions import EXPORT
from analytics.reports.rest.definitions import DefinitionChange, DefinitionGiven, DefinitionShown, checked_definition
from analytics.reports.services import save_report
from core.rest.serializers import Body
from core.rest.views import StaffViewSet

#: What of a saved report is written.
WRITTEN = ("name", "is_shared", "rhythm", "definition")


@extend_schema_serializer(
    examples=[
        OpenApiExample(
            "Last month’s thumbs down",
            value={
                "name": "Thumbs down",
                "is_shared": True,
                "definition": {
                    "columns": ["asked_at", "question", "answer", "comment"],
                    "format": "csv",
                    "span": "last_month",
                    "thumbs": "down",
                },
            },
            request_only=True,
        )
    ]
)
class ReportGiven(Body):
    name = serializers.CharField(max_length=100, help_text="No two of one’s own have the same.")
    is_shared = serializers.BooleanField(required=False, help_text="With colleagues; they get what they may see.")
    rhythm = serializers.ChoiceField(
        choices=Report.Rhythm.choices, required=False, help_text="When its owner gets it by e-mail; empty: never."
    )
    definition = DefinitionGiven()


@extend_schema_serializer(
    examples=[OpenApiExample("As Excel", value={"definition": {"format": "xlsx"}}, request_only=True)]
)
class ReportChange(Body):
    name = serializers.CharField(max_length=100, required=False, help_text="No two of one’s own have the same.")
    is_shared = serializers.BooleanField(required=False, help_text="With colleagues; they get what they may see.")
    rhythm = serializers.ChoiceField(
        choices=Report.Rhythm.choices, required=False, help_text="When its owner gets it by e-mail; empty: never."
    )
    definition = DefinitionChange(required=False, help_text="What is left out stays as it is.")


class ReportShown(serializers.ModelSerializer):
    owner = serializers.CharField(source="owner.username")
    definition = DefinitionShown()

    class Meta:
        model = Report
        fields = ["id", "name", "owner", "is_shared", "rhythm", "definition", "updated_at"]


class ReportFilters(django_filters.FilterSet):
    search = django_filters.CharFilter(field_name="name", lookup_expr="icontains", max_length=200)


@extend_schema_view(
    list=extend_schema(summary="Saved reports: one’s own, and those that colleagues share"),
    retrieve=extend_schema(summary="A saved report"),
)
class ReportViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, StaffViewSet):
    queryset = Report.objects.all()
    serializer_class = ReportShown
    filterset_class = ReportFilters
    orderings = {"name": ("name",), "id": ()}
    default_ordering = "name"
    needs = {
        "list": [EXPORT],
        "retrieve": [EXPORT],
        "create": [EXPORT],
        "update": [EXPORT],
        "partial_update": [EXPORT],
        "destroy": [EXPORT],
    }

    def get_queryset(self) -> "QuerySet[Report]":
        return self.own().select_related("owner")

    def locked(self) -> Report:
        """Lock one's own report. Raise PermissionDenied for a colleague's, which can be run or saved as a copy."""
        report: Report = super().locked()
        if report.owner_id != self.request.user.pk:
            raise PermissionDenied
        return report

    @extend_schema(summary="Save a report", request=ReportGiven, responses={201: ReportShown}, filters=False)
    @transaction.atomic
    def create(self, request: Request) -> Response:
        given = ReportGiven(data=request.data)
        given.is_valid(raise_exception=True)
        report = Report(owner=request.user)
        self._save(report, given.validated_data, kept=Definition(columns=()))
        self.log_added(report)
        self.kwargs["pk"] = report.pk
        return self.as_it_is_now(201)

    @extend_schema(summary="Change a saved report of one’s own", request=ReportGiven, responses=ReportShown)
    @transaction.atomic
    def update(self, request: Request, pk: str) -> Response:
        report = self.locked()
        given = ReportGiven(data=request.data)
        given.is_valid(raise_exception=True)
        return self._change(
            report, {"is_shared": False, "rhythm": "", **given.validated_data}, kept=Definition(columns=())
        )

    @extend_schema(
        summary="Change some fields of a saved report of one’s own", request=ReportChange, responses=ReportShown
    )
    @transaction.atomic
    def partial_update(self, request: Request, pk: str) -> Response:
        report = self.locked()
        given = ReportChange(data=request.data)
        given.is_valid(raise_exception=True)
        return self._change(report, given.validated_data, kept=Definition.load(report.definition))

    @extend_schema(summary="Delete a saved report of one’s own", description="Files that were made of it stay.")
    @transaction.atomic
    def destroy(self, request: Request, pk: str) -> Response:
        report = self.locked()
        self.log_deleted(report)
        report.delete()
        return Response(status=204)

    def _change(self, report: Report, values: Mapping[str, Any], *, kept: Definition) -> Response:
        former = {name: getattr(report, name) for name in WRITTEN}
        self._save(report, values, kept=kept)
        report.refresh_from_db()
        if changed := [name for name, value in former.items() if getattr(report, name) != value]:
            self.log_changed(report, changed)
        return self.as_it_is_now()

    def _save(self, report: Report, values: Mapping[str, Any], *, kept: Definition) -> None:
        """Check and save the report. Raise ValidationError."""
        if "name" in values:
            report.name = check_name(values["name"])
        report.is_shared = values.get("is_shared", report.is_shared)
        definition = checked_definition(values.get("definition", {}), kept=kept, by=self.request.user)
        save_report(report=report, definition=definition, rhythm=values.get("rhythm", report.rhythm))
