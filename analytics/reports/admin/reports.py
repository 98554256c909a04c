"""The admin of reports: staff choose answers and columns, preview them, save the report, and export it."""

import logging
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import DELETION, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from analytics.dashboard.formatting import day_name
from analytics.models import Report, StoredReport
from analytics.reports.admin.download import attachment, opened
from analytics.reports.admin.form import ReportForm, as_data, asked_data, check_name, initial_values, moved
from analytics.reports.admin.lists import file_row, lists_for
from analytics.reports.admin.preview import Preview, build_preview, column_choices
from analytics.reports.audit import log, log_broken_off, log_download
from analytics.reports.by_mail.schedule import next_mail
from analytics.reports.definition import Definition, Format, names_for
from analytics.reports.files import file_path
from analytics.reports.permissions import EXPORT, rights_for
from analytics.reports.services import cancel_export, delete_export, export_now, queue_export, save_report

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    ReportModelAdmin = admin.ModelAdmin[Report]
else:
    ReportModelAdmin = admin.ModelAdmin


logger = logging.getLogger(__name__)


def signed_in_user(request: HttpRequest) -> "User":
    return cast("User", request.user)


def _saved_text(report: Report) -> str:
    saved = _("“%(name)s” is saved.") % {"name": report}
    if not report.rhythm:
        return saved
    first = _("The first e-mail comes on %(day)s.") % {"day": day_name(next_mail(report.rhythm, timezone.localdate()))}
    return f"{saved} {first}"


@admin.register(Report)
class ReportAdmin(ReportModelAdmin):
    search_fields = ["name"]

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "analytics/admin.css", "analytics/reports.css"]}

    def get_urls(self) -> list[URLPattern]:
        def view(route: str, function: Any, name: str) -> URLPattern:
            wrapped: URLPattern = path(route, self.admin_site.admin_view(function), name=f"analytics_report_{name}")
            return wrapped

        return [
            view("files/progress/", require_safe(self.progress_view), "progress"),
            view("files/<int:stored_id>/", require_safe(self.download_view), "download"),
            view("files/<int:stored_id>/stop/", require_POST(self.stop_view), "stop"),
            view("files/<int:stored_id>/delete/", require_POST(self.delete_file_view), "delete_file"),
            *super().get_urls(),
        ]

    # --- who may ---

    def has_module_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(EXPORT)

    def has_view_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return request.user.has_perm(EXPORT)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(EXPORT)

    def has_change_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        """Return whether the report is the user's own: a colleague's can be run, or saved as a copy."""
        return request.user.has_perm(EXPORT) and (obj is None or obj.owner_id == request.user.pk)

    def has_delete_permission(self, request: HttpRequest, obj: Report | None = None) -> bool:
        return self.has_change_permission(request, obj)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Report]:
        return Report.objects.visible_to(request.user)

    # --- one's reports and files ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        context = self._context(request, _("Reports")) | lists_for(signed_in_user(request), request.GET.get("p"))
        return TemplateResponse(request, "admin/analytics/report/list.html", context)

    def progress_view(self, request: HttpRequest) -> JsonResponse:
        """Return the progress of active exports; the page asks every two seconds."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        user = signed_in_user(request)
        names = names_for(user)
        active = StoredReport.objects.visible_to(user).active()
        rows = (file_row(stored, names, user) for stored in active)
        said = {row.stored.pk: {"state": row.stored.get_state_display(), "percent": row.percent} for row in rows}
        return JsonResponse({"active": said}, headers={"Cache-Control": "no-store"})

    def download_view(self, request: HttpRequest, stored_id: int) -> HttpResponseBase:
        """Send the file, unless the user's rights no longer cover what it may hold."""
        user = signed_in_user(request)
        stored = self._stored(request, stored_id)
        if not file_row(stored, names_for(user), user).may_open:
            raise PermissionDenied
        try:
            file, size = opened(file_path(stored))
        except FileNotFoundError as error:
            logger.error("file of a report is missing report=%d", stored.pk)
            raise Http404 from error
        log_download(stored, user)
        return attachment(
            request,
            file,
            size,
            name=stored.name,
            kind=Format(stored.definition["format"]),
            broken_off=lambda sent: log_broken_off(stored, user, sent, size),
        )

    def stop_view(self, request: HttpRequest, stored_id: int) -> HttpResponse:
        stored = self._stored(request, stored_id)
        if cancel_export(stored=stored):
            log(stored, signed_in_user(request), _("stopped"))
            self.message_user(request, _("Stopped. There is no file."))
        return redirect("admin:analytics_report_changelist")

    def delete_file_view(self, request: HttpRequest, stored_id: int) -> HttpResponse:
        stored = self._stored(request, stored_id)
        LogEntry.objects.log_actions(signed_in_user(request).pk, cast("Any", [stored]), DELETION, "")
        delete_export(stored=stored)
        self.message_user(request, _("The file of “%(name)s” is deleted.") % {"name": stored.name})
        return redirect("admin:analytics_report_changelist")

    def _stored(self, request: HttpRequest, stored_id: int) -> StoredReport:
        if not self.has_view_permission(request):
            raise PermissionDenied
        found = StoredReport.objects.visible_to(signed_in_user(request)).select_related("requested_by")
        return get_object_or_404(found, pk=stored_id)

    # --- one report ---

    def add_view(  # type: ignore[override]
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        if not self.has_add_permission(request):
            raise PermissionDenied
        return self._edit(request, None)

    def change_view(  # type: ignore[override]
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponseBase:
        if not self.has_view_permission(request):
            raise PermissionDenied
        report = self.get_object(request, object_id)
        if report is None:
            raise Http404
        return self._edit(request, report)

    def _edit(self, request: HttpRequest, report: Report | None) -> HttpResponseBase:
        user = signed_in_user(request)
        saved = Definition.load(report.definition) if report else None
        if request.method != "POST":
            first = {name: getattr(report, name) for name in ("name", "is_shared")} if report else {}
            if report and report.owner_id == user.pk:
                first["rhythm"] = report.rhythm
            # What it would bring, unless it names assistants or a site of others.
            tried = ReportForm(as_data(saved) if saved else asked_data(request.GET), user=user)
            shown = tried.definition if tried.is_valid() else saved
            form = ReportForm(initial={**initial_values(shown), **first}, user=user)
            if not tried.is_valid():
                messages.warning(
                    request,
                    _("This report names assistants, a page with the chat or topics that you do not look after."),
                )
            return self._page(request, report, form, build_preview(shown, user) if shown and tried.is_valid() else None)
        data = request.POST.copy()
        if "move" in data:
            data.setlist("order", moved(data.getlist("order"), request.POST["move"]))
        form = ReportForm(data, user=user)
        if not form.is_valid():
            return self._page(request, report, form, None)
        try:
            if "save" in data:
                return self._save(request, report, form)
            if "export" in data:
                return self._export(request, report, form)
        except ValidationError as error:
            form.add_error(None, error)
        return self._page(request, report, form, build_preview(form.definition, user))

    def _save(self, request: HttpRequest, report: Report | None, form: ReportForm) -> HttpResponse:
        """Save the report; a colleague's becomes the user's own. Raise ValidationError."""
        user = signed_in_user(request)
        is_new = report is None or not self.has_change_permission(request, report)
        kept = Report(owner=user) if is_new or report is None else report
        kept.name, kept.is_shared = check_name(form.cleaned_data["name"]), form.cleaned_data["is_shared"]
        save_report(report=kept, definition=form.definition, rhythm=form.cleaned_data["rhythm"])
        if is_new:
            self.log_addition(request, kept, [{"added": {}}])
        else:
            self.log_change(request, kept, [{"changed": {"fields": ["definition"]}}])
        self.message_user(request, _saved_text(kept), messages.SUCCESS)
        return redirect("admin:analytics_report_change", kept.pk)

    def _export(self, request: HttpRequest, report: Report | None, form: ReportForm) -> HttpResponseBase:
        """Send a short file at once, or queue a long one. Raise ValidationError."""
        user, definition = signed_in_user(request), form.definition
        name = form.cleaned_data["name"] or (report.name if report else _("Answers"))
        preview = build_preview(definition, user)
        if preview.problem:
            raise ValidationError(preview.problem)
        if preview.is_long:
            queue_export(name=name, definition=definition, by=user)
            said = _("“%(name)s” is being made. It will be in the list of files below.")
            self.message_user(request, said % {"name": name}, messages.SUCCESS)
            return redirect("admin:analytics_report_changelist")
        row = report or Report(name=name, owner=user)
        try:
            export = export_now(report=row, definition=definition, by=user)
        except OSError as error:
            logger.error("report not written reason=%s", error.strerror or type(error).__name__)
            raise ValidationError(
                _("The server could not write the file: its disk may be full. Nothing was kept.")
            ) from error
        return attachment(
            request,
            export.file,
            export.size,
            name=name,
            kind=definition.format,
            broken_off=lambda sent: log_broken_off(row, user, sent, export.size),
        )

    def _page(
        self, request: HttpRequest, report: Report | None, form: ReportForm, preview: Preview | None
    ) -> HttpResponse:
        user = signed_in_user(request)
        context = {
            **self._context(request, str(report) if report else _("New report")),
            "report": report,
            "form": form,
            "preview": preview,
            "columns": column_choices(form, rights_for(user)),
            "is_own": report is None or self.has_change_permission(request, report),
        }
        return TemplateResponse(request, "admin/analytics/report/report.html", context)

    def _context(self, request: HttpRequest, title: str) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": title,
            "opts": self.opts,
            "media": self.media,
        }
