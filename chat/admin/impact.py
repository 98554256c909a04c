"""A list of FAQs and answers that relied on pages that changed."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from chat.conversations.impact import RECENT, find_impact, mark_verified, stale_documents
from knowledge.models import Document

PER_PAGE = 50
#: A page that thousands of answers cited would not open on a phone.
ANSWERS_SHOWN = 100


def may_see(request: HttpRequest) -> bool:
    return request.user.has_perm("knowledge.view_document") or request.user.has_perm("knowledge.change_document")


@require_safe
def impact_list_view(request: HttpRequest) -> HttpResponse:
    """To be wrapped in `admin.site.admin_view`; raises PermissionDenied."""
    if not may_see(request):
        raise PermissionDenied
    page = Paginator(stale_documents().visible_to(request.user), PER_PAGE).get_page(request.GET.get("page"))
    context = {
        **admin.site.each_context(request),
        "title": _("Pages that changed"),
        "page": page,
        "days": RECENT.days,
    }
    return TemplateResponse(request, "admin/chat/impact/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def impact_document_view(request: HttpRequest, document_id: int) -> HttpResponse:
    """One document; a POST says that what relied on it is right. To be wrapped as above; raises PermissionDenied."""
    if not may_see(request):
        raise PermissionDenied
    document = get_object_or_404(Document.objects.visible_to(request.user).select_related("collection"), pk=document_id)
    may_confirm = request.user.has_perm("knowledge.change_document")
    if request.method == "POST":
        if not may_confirm:
            raise PermissionDenied
        mark_verified(document=document)
        messages.success(request, _("Noted: what relied on “%(title)s” is right.") % {"title": document})
        return HttpResponseRedirect(reverse("impact"))
    impact = find_impact(document)
    answers = impact.answers.count()
    context: dict[str, Any] = {
        **admin.site.each_context(request),
        "title": _("What relied on “%(title)s”") % {"title": document},
        "document": document,
        "faqs": list(impact.faqs),
        "answer_count": answers,
        "answers": list(impact.answers[:ANSWERS_SHOWN]) if request.user.has_perm("chat.view_conversation") else [],
        "more": max(0, answers - ANSWERS_SHOWN),
        "days": RECENT.days,
        "may_confirm": may_confirm,
        "may_see_answers": request.user.has_perm("chat.view_conversation"),
        "may_see_faqs": request.user.has_perm("faqs.view_faq") or request.user.has_perm("faqs.change_faq"),
    }
    return TemplateResponse(request, "admin/chat/impact/document.html", context)
