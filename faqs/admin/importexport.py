"""Import of FAQs with a preview, and export of the list."""

import json
import re
import uuid
from dataclasses import dataclass
from typing import Any, cast

import tablib
from django import forms
from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.admin.options import IncorrectLookupParameters
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.db import DataError, transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from core.diffs import Comparison, compare
from core.tables.cells import neutralise
from faqs.admin.warnings import warn_of_faqs
from faqs.importexport.files import MOST_BYTES, BadTable, printable, read_table
from faqs.importexport.resource import FAQResource, PlannedRow, fingerprint_plan
from faqs.models import FAQ
from faqs.services import import_planned
from faqs.versions.snapshots import as_text

FORMATS = ("xlsx", "csv", "json")
#: How long a checked file is kept until somebody confirms its import.
KEPT_SECONDS = 3600
FILE_KEY = re.compile("[0-9a-f]{32}")
#: Rows of each kind that a page shows.
SHOWN = 100


class FileForm(forms.Form):
    file = forms.FileField(
        label=_("File"), widget=forms.ClearableFileInput(attrs={"accept": ".xlsx,.csv,.json"}), allow_empty_file=True
    )


@dataclass(frozen=True, slots=True)
class PreviewRow:
    """A planned row as the page shows it."""

    planned: PlannedRow
    comparison: Comparison | None
    text: str


@require_http_methods(["GET", "HEAD", "POST"])
def import_view(request: HttpRequest, *, model_admin: Any) -> HttpResponse:
    """Preview what a file would change; `confirmed` imports it if the changes would still be the same."""
    if not (model_admin.has_add_permission(request) and model_admin.has_change_permission(request)):
        raise PermissionDenied
    form = FileForm(request.POST, request.FILES) if request.method == "POST" else FileForm()
    context: dict[str, Any] = {"form": form}
    if "confirmed" in request.POST:
        key = request.POST.get("file_key", "")
        kept = cache.get(_key(request, key)) if FILE_KEY.fullmatch(key) else None
        if kept is None:
            messages.error(request, gettext("The file is no longer kept: choose it once more."))
            return redirect("admin:faqs_faq_import")
        return _confirmed(request, model_admin, *kept)
    if request.method == "POST" and form.is_valid():
        file = form.cleaned_data["file"]
        context |= _preview(request, file.name, file.read(MOST_BYTES + 1))
    return _page(request, model_admin, context)


@require_safe
def template_view(request: HttpRequest, name: str, *, model_admin: Any) -> HttpResponse:
    """Download a file with every column and one example."""
    if name not in FORMATS or not model_admin.has_view_or_change_permission(request):
        raise Http404
    resource = FAQResource.for_staff(request.user)
    example = {
        "id": "",
        "question": gettext("When is the re-registration deadline?"),
        "phrasings": [gettext("Until when must I re-register?"), gettext("Last day to re-register?")],
        "sources": ["https://www.uni.example/re-registration"],
        "category": gettext("Studies"),
        "language": request.LANGUAGE_CODE,
        "status": FAQ.Status.DRAFT.value,
        "valid_until": f"{timezone.localdate().year + 1}-03-31",
    }
    dataset = tablib.Dataset(headers=resource.get_export_headers())
    dataset.append([example.get(column, "") for column in dataset.headers])
    return _as_file(dataset, name, gettext("faqs-template"))


@require_safe
def export_view(request: HttpRequest, *, model_admin: Any) -> HttpResponse:
    """Ask for the kind of file; the list's filters stay in the address."""
    if not model_admin.has_view_or_change_permission(request):
        raise PermissionDenied
    if (chosen := _chosen(request, model_admin)) is None:
        return _to_the_list(request)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Export FAQs"),
        "opts": model_admin.opts,
        "count": chosen.count(),
        "is_filtered": bool(request.GET),
        "media": model_admin.media,
    }
    return TemplateResponse(request, "admin/faqs/faq/export.html", context)


@require_safe
def download_view(request: HttpRequest, name: str, *, model_admin: Any) -> HttpResponse:
    """Download the list, filtered and searched as in the address, as a file that can be imported again."""
    if name not in FORMATS or not model_admin.has_view_or_change_permission(request):
        raise Http404
    if (chosen := _chosen(request, model_admin)) is None:
        return _to_the_list(request)
    dataset = FAQResource.for_staff(request.user).export(chosen)
    return _as_file(dataset, name, gettext("faqs-%(day)s") % {"day": timezone.localdate().isoformat()})


def _chosen(request: HttpRequest, model_admin: Any) -> Any:
    """Return the FAQs that the list would show with this address, without data sets'; None if its filters mean nothing.

    Some values fail only once the database is asked: a number without end, a year 0.
    """
    try:
        with transaction.atomic():
            rows = model_admin.get_changelist_instance(request).get_queryset(request).of_university()
            rows.exists()
    except (IncorrectLookupParameters, DataError, ArithmeticError, LookupError, ValueError):
        return None
    return rows


def _to_the_list(request: HttpRequest) -> HttpResponse:
    messages.error(request, gettext("The filters in this address cannot be read: choose them anew, then export."))
    return redirect("admin:faqs_faq_changelist")


def _preview(request: HttpRequest, name: str, content: bytes) -> dict[str, Any]:
    resource = FAQResource.for_staff(request.user)
    try:
        planned = resource.plan(table := read_table(name, content))
    except BadTable as error:
        return {"problem": str(error)}
    key = uuid.uuid4().hex
    cache.set(_key(request, key), (name, content), KEPT_SECONDS)
    kinds = {kind: [each for each in planned if each.kind == kind] for kind in ("wrong", "new", "changed", "unchanged")}
    checks = [each for each in planned if each.notices]
    return {
        "file_name": name,
        "file_key": key,
        "file_kind": name.lower().rpartition(".")[2],
        "fingerprint": fingerprint_plan(planned),
        "unread": ", ".join(resource.list_unread(table)),
        "counts": {kind: len(rows) for kind, rows in kinds.items()},
        "writes": len(kinds["new"]) + len(kinds["changed"]),
        "wrong": [{"row": each, "remarks": each.problems} for each in kinds["wrong"][: 2 * SHOWN]],
        "checks": [{"row": each, "remarks": each.notices} for each in checks[: 2 * SHOWN]],
        "new": [_show(each) for each in kinds["new"][:SHOWN]],
        "changed": [_show(each) for each in kinds["changed"][:SHOWN]],
        "more": {
            "wrong": max(0, len(kinds["wrong"]) - 2 * SHOWN),
            "checks": max(0, len(checks) - 2 * SHOWN),
            "new": max(0, len(kinds["new"]) - SHOWN),
            "changed": max(0, len(kinds["changed"]) - SHOWN),
        },
    }


def _confirmed(request: HttpRequest, model_admin: Any, name: str, content: bytes) -> HttpResponse:
    with transaction.atomic():
        # Whoever saves one of its FAQs meanwhile waits, so that what is written is what was shown.
        planned = FAQResource.for_staff(request.user).plan(read_table(name, content), lock=True)
        if fingerprint_plan(planned) != request.POST.get("fingerprint"):
            messages.warning(request, gettext("Something changed since the file was checked: please look once more."))
            return _page(request, model_admin, {"form": FileForm(), **_preview(request, name, content)})
        new, changed = import_planned(planned=planned, by=request.user)
        user = cast("int", request.user.pk)
        for faqs, flag, message in (
            (new, ADDITION, [{"added": {}}]),
            (changed, CHANGE, [{"changed": {"fields": [gettext("imported from a file")]}}]),
        ):
            LogEntry.objects.log_actions(user, faqs, flag, message)
    cache.delete(_key(request, request.POST.get("file_key", "")))
    said = [
        ngettext("%d FAQ is new.", "%d FAQs are new.", len(new)) % len(new),
        ngettext("%d FAQ was changed.", "%d FAQs were changed.", len(changed)) % len(changed),
    ]
    if wrong := sum(each.kind == "wrong" for each in planned):
        said.append(ngettext("%d wrong row was left out.", "%d wrong rows were left out.", wrong) % wrong)
    messages.success(request, " ".join(said))
    warn_of_faqs(request, [each.faq for each in planned if each.rewords_answer])
    return redirect("admin:faqs_faq_changelist")


def _page(request: HttpRequest, model_admin: Any, context: dict[str, Any]) -> HttpResponse:
    page = {
        **model_admin.admin_site.each_context(request),
        "title": _("Import FAQs"),
        "opts": model_admin.opts,
        "media": model_admin.media,
        "columns": FAQResource.for_staff(request.user).get_export_headers(),
        **context,
    }
    return TemplateResponse(request, "admin/faqs/faq/import.html", page)


def _show(planned: PlannedRow) -> PreviewRow:
    before, after = (as_text(content) if content else "" for content in (planned.before, planned.after))
    return PreviewRow(planned, compare(before, after) if before else None, after)


def _key(request: HttpRequest, key: str) -> str:
    """Return the cache key of a file that one member of staff chose; nobody else's key finds it."""
    return f"faq-import:{request.user.pk}:{key}"


def _as_file(dataset: Any, name: str, title: str) -> HttpResponse:
    from import_export.formats.base_formats import CSV, JSON, XLSX  # they load openpyxl

    kind = {"xlsx": XLSX, "csv": CSV, "json": JSON}[name]()
    if name == "json":
        content = json.dumps(
            [dict(zip(dataset.headers, row, strict=True)) for row in dataset], ensure_ascii=False, indent=1
        )
    else:
        table = tablib.Dataset(headers=dataset.headers, title="FAQs")
        for row in dataset:
            table.append([neutralise(printable(_in_cell(value))) for value in row])
        content = kind.export_data(table)
    body = content.encode("utf-8-sig" if name == "csv" else "utf-8") if isinstance(content, str) else content
    response = HttpResponse(body, content_type=kind.get_content_type())
    response["Content-Disposition"] = f'attachment; filename="{title}.{name}"'
    return response


def _in_cell(value: Any) -> str:
    return "\n".join(value) if isinstance(value, list) else str(value)
