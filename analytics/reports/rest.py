"""Saved reports, and the files that workers make of them."""

import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast

import django_filters
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_serializer, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.models import Report, StoredReport
from analytics.reports.admin.download import attachment, opened
from analytics.reports.admin.form import STATUSES, ReportForm, as_data, check_name
from analytics.reports.audit import log, log_broken_off, log_download
from analytics.reports.columns import COLUMNS
from analytics.reports.definition import Definition, Format, Span, Thumbs
from analytics.reports.files import path_of
from analytics.reports.formats import CONTENT_TYPES
from analytics.reports.permissions import EXPORT, may_open
from analytics.reports.services import cancel_export, check_export, queue_export, save_report
from chat.models.assistants import Language
from core.rest.filters import before, since
from core.rest.serializers import Body, ScopedKeyField
from core.rest.views import StaffViewSet

if TYPE_CHECKING:
    from django.contrib.auth.models import User

MOST_ASSISTANTS = 1_000
#: What `Definition` has of what JSON has otherwise.
TYPES = {"columns": tuple, "assistants": tuple, "statuses": tuple, "format": Format, "span": Span}


class DefinitionShown(serializers.Serializer):
    columns = serializers.ListField(child=serializers.ChoiceField(choices=list(COLUMNS)))
    format = serializers.ChoiceField(choices=[each.value for each in Format])
    span = serializers.ChoiceField(choices=[each.value for each in Span])
    first = serializers.DateField(allow_null=True, help_text="Of a fixed span, as `last`; both days are in it.")
    last = serializers.DateField(allow_null=True)
    assistants = serializers.ListField(child=serializers.IntegerField(), help_text="Their ids; none: all.")
    site = serializers.IntegerField(allow_null=True, help_text="Its id.")
    language = serializers.CharField(help_text="Of the question; empty: all.")
    statuses = serializers.ListField(child=serializers.CharField(), help_text="How answers ended; none: all.")
    thumbs = serializers.CharField(help_text="`up`, `down`, or `none`; empty: all.")
    verdict = serializers.CharField(help_text="Of the review, or `none`; empty: all.")


class Key(serializers.IntegerField):
    def __init__(self, **options: Any) -> None:
        super().__init__(min_value=1, max_value=2**63 - 1, **options)


class DefinitionChange(Body):
    columns = serializers.ListField(
        child=serializers.ChoiceField(choices=list(COLUMNS)),
        allow_empty=False,
        max_length=len(COLUMNS),
        required=False,
        help_text="In the order of the file.",
    )
    format = serializers.ChoiceField(choices=[each.value for each in Format], required=False)
    span = serializers.ChoiceField(choices=[each.value for each in Span], required=False)
    first = serializers.DateField(
        allow_null=True, required=False, help_text="Of a fixed span, as `last`; both days are in it."
    )
    last = serializers.DateField(allow_null=True, required=False)
    assistants = serializers.ListField(
        child=Key(), max_length=MOST_ASSISTANTS, required=False, help_text="Their ids; none: all."
    )
    site = Key(allow_null=True, required=False, help_text="Its id.")
    language = serializers.ChoiceField(
        choices=Language.choices, allow_blank=True, required=False, help_text="Of the question; empty: all."
    )
    statuses = serializers.ListField(
        child=serializers.ChoiceField(choices=[status for status, _label in STATUSES]),
        max_length=len(STATUSES),
        required=False,
        help_text="How answers ended; none: all.",
    )
    thumbs = serializers.ChoiceField(
        choices=[each.value for each in Thumbs], allow_blank=True, required=False, help_text="Empty: all."
    )
    verdict = serializers.CharField(
        max_length=30, allow_blank=True, required=False, help_text="Of the review, or `none`; empty: all."
    )


class DefinitionGiven(DefinitionChange):
    """What is left out is as in a new report."""

    def get_fields(self) -> dict[str, Any]:
        fields: dict[str, Any] = super().get_fields()
        fields["columns"].required = True
        return fields


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
    definition = DefinitionGiven()


@extend_schema_serializer(
    examples=[OpenApiExample("As Excel", value={"definition": {"format": "xlsx"}}, request_only=True)]
)
class ReportChange(Body):
    name = serializers.CharField(max_length=100, required=False, help_text="No two of one’s own have the same.")
    is_shared = serializers.BooleanField(required=False, help_text="With colleagues; they get what they may see.")
    definition = DefinitionChange(required=False, help_text="What is left out stays as it is.")


class ReportShown(serializers.ModelSerializer):
    owner = serializers.CharField(source="owner.username")
    definition = DefinitionShown()

    class Meta:
        model = Report
        fields = ["id", "name", "owner", "is_shared", "definition", "updated_at"]


def checked_definition(given: Mapping[str, Any], *, kept: Definition, by: "User") -> Definition:
    """Return `kept` with what is given in its place. Raise ValidationError."""
    values = dict(given)
    for name, typed in TYPES.items():
        if name in values:
            values[name] = typed(values[name])
    form = ReportForm(as_data(replace(kept, **values)), user=by)
    if not form.is_valid():
        raise serializers.ValidationError({"definition": {name: list(said) for name, said in form.errors.items()}})
    return form.definition


logger = logging.getLogger(__name__)
#: What of a saved report is written.
WRITTEN = ("name", "is_shared", "definition")
#: So that who asks for a file's own type gets it; problems are JSON all the same.
FILE_TYPES = [kind.partition(";")[0] for kind in CONTENT_TYPES.values()]
RENDERERS = [JSONRenderer, *(type("FileRenderer", (JSONRenderer,), {"media_type": kind}) for kind in FILE_TYPES)]


class ExportShown(serializers.ModelSerializer):
    requested_by = serializers.CharField(source="requested_by.username")
    definition = DefinitionShown()
    message = serializers.SerializerMethodField(help_text="Why it failed.")
    left_out = serializers.SerializerMethodField(
        help_text="Rows of too few visitors. null: their number would tell of them."
    )

    class Meta:
        model = StoredReport
        fields = [
            "id",
            "name",
            "definition",
            "requested_by",
            "state",
            "message",
            "done",
            "total",
            "left_out",
            "size",
            "is_masked",
            "smallest",
            "created_at",
            "finished_at",
            "expires_at",
        ]
        extra_kwargs = {
            "done": {"help_text": "Rows that are written."},
            "size": {"help_text": "Bytes."},
            "smallest": {"help_text": "Visitors that a group in it has at least."},
        }

    def get_message(self, stored: StoredReport) -> str:
        return _(stored.message) if stored.message else ""

    def get_left_out(self, stored: StoredReport) -> int | None:
        return None if stored.smallest > 1 else 0


class ExportGiven(Body):
    report = ScopedKeyField(queryset=Report.objects.all(), help_text="The id of a saved report.")


class ReportFilters(django_filters.FilterSet):
    search = django_filters.CharFilter(field_name="name", lookup_expr="icontains", max_length=200)


class ExportFilters(django_filters.FilterSet):
    state = django_filters.MultipleChoiceFilter(choices=StoredReport.State.choices)
    created_since = since("created_at")
    created_before = before("created_at")


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
        return self._change(report, {"is_shared": False, **given.validated_data}, kept=Definition(columns=()))

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
        save_report(report=report, definition=definition)


@extend_schema_view(
    list=extend_schema(summary="Files of reports, the latest first"),
    retrieve=extend_schema(summary="A file of a report, and how far it is"),
)
class ReportExportViewSet(mixins.ListModelMixin, mixins.RetrieveModelMixin, StaffViewSet):
    queryset = StoredReport.objects.all()
    serializer_class = ExportShown
    filterset_class = ExportFilters
    orderings = {"id": ()}
    default_ordering = "-id"
    needs = {"list": [EXPORT], "retrieve": [EXPORT], "create": [EXPORT], "cancel": [EXPORT], "file": [EXPORT]}

    def get_queryset(self) -> "QuerySet[StoredReport]":
        return self.own().select_related("requested_by")

    @extend_schema(
        summary="Have a file made of a saved report",
        request=ExportGiven,
        responses={201: ExportShown},
        examples=[OpenApiExample("A report", value={"report": 7}, request_only=True)],
        filters=False,
    )
    @transaction.atomic
    def create(self, request: Request) -> Response:
        """Where the same is being made already, that one. Where there is nothing to tell, or so little that it would
        tell of few visitors, none."""
        given = ExportGiven(data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        report: Report = given.validated_data["report"]
        form = ReportForm(as_data(Definition.load(report.definition)), user=request.user)
        if not form.is_valid():
            said = _("This report names assistants or a site that you do not look after.")
            raise serializers.ValidationError({"report": said})
        try:
            check_export(definition=form.definition, by=request.user)
        except ValidationError as error:
            raise serializers.ValidationError({"report": error.messages}) from error
        stored = queue_export(name=report.name, definition=form.definition, by=request.user)
        self.log_added(stored)
        return Response(self.get_serializer(stored).data, status=201)

    @extend_schema(summary="Stop making a file", request=None, responses=ExportShown, filters=False)
    @action(detail=True, methods=["post"], filterset_class=None)
    @transaction.atomic
    def cancel(self, request: Request, pk: str) -> Response:
        """One that has ended stays as it is."""
        Body(data=request.data).is_valid(raise_exception=True)
        stored = self.get_object()
        if cancel_export(stored=stored):
            log(stored, request.user, _("stopped"))
        return self.as_it_is_now()

    @extend_schema(
        summary="The file of a report",
        responses={(200, kind): OpenApiTypes.BINARY for kind in FILE_TYPES},
        filters=False,
    )
    @action(detail=True, filterset_class=None, renderer_classes=RENDERERS)
    def file(self, request: Request, pk: str) -> HttpResponseBase:
        """Refused where somebody’s rights no longer hold for what the file may hold."""
        stored: StoredReport = self.get_object()
        user = request.user
        is_over = stored.expires_at is not None and stored.expires_at <= timezone.now()
        if stored.state != StoredReport.State.FINISHED or is_over:
            raise Http404
        if not may_open(stored, user):
            raise PermissionDenied
        try:
            file, size = opened(path_of(stored))
        except FileNotFoundError as error:
            logger.error("file of a report is missing report=%d", stored.pk)
            raise Http404 from error
        log_download(stored, user)
        return attachment(
            cast("HttpRequest", request._request),
            file,
            size,
            name=stored.name,
            kind=Format(stored.definition["format"]),
            broken_off=lambda sent: log_broken_off(stored, user, sent, size),
        )
