"""Exports of reports in the staff API."""

import logging
from typing import cast

import django_filters
from django.core.exceptions import PermissionDenied, ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponseBase
from django.utils import timezone
from django.utils.translation import gettext as _
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiExample, extend_schema, extend_schema_view
from rest_framework import mixins, serializers
from rest_framework.decorators import action
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from analytics.models import Report, StoredReport
from analytics.reports.admin.download import attachment, opened
from analytics.reports.admin.form import ReportForm, as_data
from analytics.reports.audit import log, log_broken_off, log_download
from analytics.reports.definition import Definition, Format
from analytics.reports.files import file_path
from analytics.reports.formats.writers import CONTENT_TYPES
from analytics.reports.permissions import EXPORT, may_open
from analytics.reports.rest.definitions import DefinitionShown
from analytics.reports.services import cancel_export, check_export, queue_export
from core.rest.filters import before, since
from core.rest.serializers import Body, ScopedKeyField
from core.rest.views import StaffViewSet

logger = logging.getLogger(__name__)
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


class ExportFilters(django_filters.FilterSet):
    state = django_filters.MultipleChoiceFilter(choices=StoredReport.State.choices)
    created_since = since("created_at")
    created_before = before("created_at")


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
        """Begin an export; return the one that is being made already if it is the same.

        None is made if there is nothing to tell, or so little that it would tell of few visitors.
        """
        given = ExportGiven(data=request.data, context=self.get_serializer_context())
        given.is_valid(raise_exception=True)
        report: Report = given.validated_data["report"]
        form = ReportForm(as_data(Definition.load(report.definition)), user=request.user)
        if not form.is_valid():
            said = _("This report names assistants, a page with the chat or topics that you do not look after.")
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
            file, size = opened(file_path(stored))
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
