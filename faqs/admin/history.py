"""The versions of an FAQ: what changed between any two, and the way back to one."""

from typing import Any

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Window
from django.db.models.functions import RowNumber
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.diffs import compare
from faqs.admin.warnings import warn_of_faqs
from faqs.models import FAQ, FAQVersion
from faqs.permissions import may_make
from faqs.services import confirm_faq, restore_version
from faqs.versions.snapshots import as_text, fingerprint_content, read_content

SHOWN = 100
#: In the address: the FAQ as it is now.
PRESENT = "now"


@require_safe
def versions_view(request: HttpRequest, faq_id: int, *, model_admin: Any) -> HttpResponse:
    """Show the list, and below it the changes from the version `old` to the version `new` (default: its successor)."""
    get_object_or_404(model_admin.get_queryset(request), pk=faq_id)
    faq = FAQ.objects.with_parts().get(pk=faq_id)
    if not model_admin.has_view_or_change_permission(request, faq):
        raise PermissionDenied
    numbered = faq.versions.annotate(number=Window(RowNumber(), order_by="pk"))
    found = list(numbered.select_related("made_by")[: SHOWN + 1])
    content = read_content(faq)
    present = fingerprint_content(content)
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Versions of “%(question)s”") % {"question": faq},
        "opts": model_admin.opts,
        "faq": faq,
        "versions": found[:SHOWN],
        "present": present,
        "preset": next((version for version in found if version.fingerprint != present), None),
        "is_cut": len(found) > SHOWN,
        "may_restore": model_admin.has_change_permission(request, faq),
        "media": model_admin.media,
    }
    if asked := request.GET.get("old"):
        old = _version(faq, asked)
        new = _version(faq, request.GET.get("new") or _successor(faq, old))
        texts = [as_text(version.content if version else content) for version in (old, new)]
        context |= {"old": old, "new": new, "comparison": compare(*texts), "compares": True}
    return TemplateResponse(request, "admin/faqs/faq/versions.html", context)


@require_POST
def restore_view(request: HttpRequest, faq_id: int, version_id: int, *, model_admin: Any) -> HttpResponse:
    faq = get_object_or_404(model_admin.get_queryset(request), pk=faq_id)
    version = get_object_or_404(FAQVersion, pk=version_id, faq=faq_id)
    if not model_admin.has_change_permission(request, faq):
        raise PermissionDenied
    try:
        restored = restore_version(version=version, by=request.user)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("admin:faqs_faq_versions", faq_id)
    model_admin.log_change(request, restored, [{"changed": {"fields": ["question", "phrasings", "documents"]}}])
    messages.success(request, _("The earlier version is back. The one that it replaced is kept in this list."))
    warn_of_faqs(request, [restored])
    return redirect("admin:faqs_faq_versions", faq_id)


@require_POST
def confirm_view(request: HttpRequest, faq_id: int, *, model_admin: Any) -> HttpResponse:
    """Record that the FAQ is right with its documents and its original as they are now."""
    faq = get_object_or_404(model_admin.get_queryset(request), pk=faq_id)
    if not model_admin.has_change_permission(request, faq) or not may_make(request.user, faq.status):
        raise PermissionDenied
    confirm_faq(faq=faq, by=request.user)
    model_admin.log_change(request, faq, _("Found still right."))
    messages.success(request, _("Noted: “%(question)s” is still right.") % {"question": faq})
    return redirect("admin:faqs_faq_change", faq_id)


def _version(faq: FAQ, asked: str) -> FAQVersion | None:
    """Return the version asked for; None stands for the present one."""
    if asked == PRESENT:
        return None
    if not asked.isdecimal() or len(asked) > 18:
        raise Http404
    return get_object_or_404(FAQVersion, pk=int(asked), faq=faq)


def _successor(faq: FAQ, version: FAQVersion | None) -> str:
    """Return the version that replaced it."""
    if version is None:
        return PRESENT
    newer = faq.versions.filter(pk__gt=version.pk).order_by("pk").values_list("pk", flat=True).first()
    return str(newer) if newer else PRESENT
