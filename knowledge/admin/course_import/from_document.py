"""The pages on which staff accept the courses that can be read from a document, such as a handbook of modules."""

from collections.abc import Iterable, Set
from dataclasses import dataclass
from typing import Any, cast

from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe

from core.diffs import Comparison, compare
from knowledge.courses.modules import TEXTS, ReadModule
from knowledge.courses.proposals import TAKEN, URL, Change, Kind, Proposal, Proposals, propose
from knowledge.models import Course, Document
from knowledge.services.courses import (
    MOST_DOCUMENTS,
    PlanChanged,
    accept_courses,
    fingerprint_proposals,
    list_handbooks,
    may_propose,
)

#: Courses to tick that the page shows at once, and characters of a text that it shows.
SHOWN, TEXT_SHOWN = 300, 400
PERMISSIONS = ("knowledge.view_document", "knowledge.add_course", "knowledge.change_course")


def may_accept(request: HttpRequest) -> bool:
    return request.user.has_perms(PERMISSIONS)


def describe_courses(request: HttpRequest, document: Document) -> dict[str, Any]:
    """Describe, for the document's page, the courses that can be read from it, if there are any."""
    if not (may_accept(request) and may_propose(document)):
        return {}
    found = propose(document)
    waiting = found.of_kind(Kind.NEW, Kind.CHANGED, Kind.CONFLICT)
    return {"courses_described": found.count, "courses_waiting": len(waiting)} if found.count else {}


@require_safe
def documents_view(request: HttpRequest, *, model_admin: Any) -> HttpResponse:
    """List the documents that courses can be read from. Raises PermissionDenied."""
    if not may_accept(request):
        raise PermissionDenied
    handbooks = list_handbooks(Document.objects.of_university().visible_to(request.user))
    context = {"title": _("Documents that courses can be read from"), "handbooks": handbooks, "most": MOST_DOCUMENTS}
    return _render(request, model_admin, "admin/knowledge/course/documents.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def proposals_view(request: HttpRequest, document_id: int, *, model_admin: Any) -> HttpResponse:
    """Show what a document proposes; a POST writes the chosen courses. Raises PermissionDenied and Http404."""
    if not may_accept(request):
        raise PermissionDenied
    own = Document.objects.of_university().visible_to(request.user).select_related("collection")
    document = get_object_or_404(own, pk=document_id)
    if request.method == "POST":
        return _accept(request, document, model_admin)
    return _page(request, document, model_admin)


def _accept(request: HttpRequest, document: Document, model_admin: Any) -> HttpResponse:
    chosen = frozenset(request.POST.getlist("chosen"))
    if not chosen:
        messages.warning(request, gettext("Nothing was written: no course was chosen."))
        return redirect("admin:knowledge_course_proposals", document.pk)
    try:
        with transaction.atomic():
            saved = accept_courses(document=document, chosen=chosen, expected=request.POST.get("fingerprint", ""))
            new = [each.course for each in saved if each.kind == "new"]
            changed = [each.course for each in saved if each.kind != "new"]
            user, said = cast("int", request.user.pk), gettext("read from “%(document)s”") % {"document": document}
            LogEntry.objects.log_actions(user, new, ADDITION, said)
            LogEntry.objects.log_actions(user, changed, CHANGE, said)
    except PlanChanged:
        document.refresh_from_db()
        reason = gettext(
            "Nothing was written: the document or a course changed since you opened this page. Look again."
        )
        messages.warning(request, reason)
        return _page(request, document, model_admin, chosen=chosen)
    told = [
        ngettext("%d course is new.", "%d courses are new.", len(new)) % len(new),
        ngettext("%d course was changed.", "%d courses were changed.", len(changed)) % len(changed),
    ]
    messages.success(request, " ".join(told))
    return redirect("admin:knowledge_course_proposals", document.pk)


# --- what is shown ---


@dataclass(frozen=True, slots=True)
class ShownChange:
    """A change in one line, or compared line by line."""

    label: str
    is_conflict: bool
    before: str = ""
    after: str = ""
    comparison: Comparison | None = None


@dataclass(frozen=True, slots=True)
class Row:
    proposal: Proposal
    is_chosen: bool
    facts: list[tuple[str, str]]
    changes: list[ShownChange]


def _page(
    request: HttpRequest, document: Document, model_admin: Any, *, chosen: Set[str] | None = None
) -> HttpResponse:
    found = propose(document) if may_propose(document) else Proposals((), ())
    waiting = found.of_kind(Kind.NEW, Kind.CHANGED, Kind.CONFLICT)
    kinds = {kind: found.of_kind(kind) for kind in Kind}
    shown = {proposal.key for proposal in waiting[:SHOWN]}
    context = {
        "title": gettext("Courses read from “%(document)s”") % {"document": document},
        "document": document,
        "is_published": document.status == Document.Status.PUBLISHED,
        "found": found,
        "counts": {kind.value: len(proposals) for kind, proposals in kinds.items()},
        "groups": [
            (kind.value, [_row(each, chosen) for each in kinds[kind] if each.key in shown])
            for kind in (Kind.CONFLICT, Kind.CHANGED, Kind.NEW)
        ],
        "waiting": len(waiting),
        "more": len(waiting) - len(shown),
        "unchanged": kinds[Kind.UNCHANGED],
        "left": ", ".join(_left([proposal.module for proposal in found.proposals])),
        "fingerprint": fingerprint_proposals(found),
    }
    return _render(request, model_admin, "admin/knowledge/course/proposals.html", context)


def _row(proposal: Proposal, chosen: Set[str] | None) -> Row:
    """Return a row; what would replace somebody's words is ticked by nobody but staff."""
    is_chosen = proposal.kind != Kind.CONFLICT if chosen is None else proposal.key in chosen
    facts = [(_label(name), _shown(name, getattr(proposal.record, name))) for name in TAKEN[1:]]
    is_new = proposal.kind == Kind.NEW
    return Row(
        proposal,
        is_chosen,
        [(label, value) for label, value in facts if value] if is_new else [],
        [_change(change) for change in proposal.changes],
    )


def _change(change: Change) -> ShownChange:
    label = _label(change.field)
    if change.field in TEXTS and change.before:
        comparison = compare(str(change.before).replace("\r\n", "\n"), str(change.after))
        return ShownChange(label, change.is_conflict, comparison=comparison)
    before, after = (_shown(change.field, value) for value in (change.before, change.after))
    return ShownChange(label, change.is_conflict, before, after)


def _label(name: str) -> str:
    return gettext("address") if name == URL else str(Course._meta.get_field(name).verbose_name)  # type: ignore[union-attr]


def _shown(name: str, value: Any) -> str:
    if value in {None, ""}:
        return ""
    if name == "is_mandatory":
        return gettext("yes") if value else gettext("no")
    text = str(value)
    return f"{text[:TEXT_SHOWN]} …" if len(text) > TEXT_SHOWN and name in TEXTS else text


def _left(modules: Iterable[ReadModule]) -> list[str]:
    return list(dict.fromkeys(words for module in modules for words in module.left))


def _render(request: HttpRequest, model_admin: Any, template: str, context: dict[str, Any]) -> HttpResponse:
    page = {
        **model_admin.admin_site.each_context(request),
        "opts": model_admin.opts,
        "media": model_admin.media,
        **context,
    }
    return TemplateResponse(request, template, page)
