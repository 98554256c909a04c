"""Versions of a document: differences between any two, and restoring one."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.contrib import messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import OuterRef, QuerySet, Subquery, Window
from django.db.models.functions import RowNumber
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST, require_safe

from core.admin.edit_conflicts import GONE, HASHED, Conflict, changed_meanwhile, initial_form_values, opened
from core.diffs import Comparison, compare
from knowledge.models import Document, DocumentRevision
from knowledge.models.courses import find_course
from knowledge.services.documents import read_version, restore_revision

if TYPE_CHECKING:
    from django.forms import BaseForm, BoundField

    from core.access import Staff

VERSIONS_SHOWN = 100
#: A save by staff is in the audit log within this time; a crawl's is not.
LOGGED_WITHIN = timedelta(seconds=10)
#: In the address: the document as it is now.
PRESENT = "now"


@require_safe
def versions_view(request: HttpRequest, document_id: int, *, model_admin: Any) -> HttpResponse:
    """Show the list of versions, and below it the changes from version `old` to `new` (else: its successor)."""
    document = get_object_or_404(Document.objects.visible_to(request.user).select_related("collection"), pk=document_id)
    if not model_admin.has_view_or_change_permission(request, document):
        raise PermissionDenied
    revisions = number_versions(document)
    count = revisions.count()
    since = document.altered_at or document.created_at
    context = {
        **model_admin.admin_site.each_context(request),
        "title": _("Versions of “%(title)s”") % {"title": document},
        "opts": model_admin.opts,
        "document": document,
        "present": {
            "number": count + 1,
            "made_at": since,
            "made_by": select_editors(document).filter(action_time__range=(since, since + LOGGED_WITHIN)).first(),
        },
        "versions": revisions[:VERSIONS_SHOWN],
        "preset": revisions.first(),
        "more": max(0, count - VERSIONS_SHOWN),
        "may_restore": may_restore(model_admin, request, document),
        "media": model_admin.media,
    }
    if asked := request.GET.get("old"):
        old = _version(document, asked)
        new = _version(document, request.GET.get("new") or _successor(document.revisions.all(), old))
        context |= {
            "old": old,
            "new": new,
            "title_comparison": compare(old.title, new.title),
            "comparison": compare(old.text, new.text),
        }
    return TemplateResponse(request, "admin/knowledge/document/versions.html", context)


@require_POST
def restore_view(request: HttpRequest, document_id: int, revision_id: int, *, model_admin: Any) -> HttpResponse:
    own = Document.objects.visible_to(request.user).filter(pk=document_id)
    revision = get_object_or_404(
        DocumentRevision.objects.select_related("document"), pk=revision_id, document__in=own.values("pk")
    )
    if not may_restore(model_admin, request, revision.document):
        raise PermissionDenied
    try:
        document = restore_revision(revision=revision)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
        return redirect("admin:knowledge_document_versions", document_id)
    model_admin.log_change(request, document, [{"changed": {"fields": ["title", "text"]}}])
    messages.success(request, _("The earlier version was restored. The replaced one stays in this list."))
    return redirect("admin:knowledge_document_versions", document_id)


def number_versions(document: Document) -> QuerySet[DocumentRevision]:
    """Select a document's versions, newest first, with their numbers and the staff who made them, if any."""
    made = OuterRef("made_at")
    within = select_editors(document).filter(
        action_time__gte=made, action_time__lte=made + LOGGED_WITHIN, action_time__lt=OuterRef("replaced_at")
    )
    return document.revisions.defer("text").annotate(
        number=Window(RowNumber(), order_by=["replaced_at", "pk"]), made_by=Subquery(within[:1])
    )


def select_editors(document: Document) -> QuerySet[LogEntry, str]:
    """Select the names of the staff who changed a document, the first one first."""
    kind = ContentType.objects.get_for_model(Document)
    entries = LogEntry.objects.filter(content_type=kind, object_id=str(document.pk))
    return entries.order_by("pk").values_list("user__username", flat=True)


def may_restore(model_admin: Any, request: HttpRequest, document: Document) -> bool:
    """Allow restoring, except for a course: its text is written from its record, which would overwrite it."""
    return bool(model_admin.has_change_permission(request, document)) and find_course(document) is None


def _version(document: Document, asked: str) -> Document | DocumentRevision:
    if asked == PRESENT:
        return document
    if not asked.isdecimal() or len(asked) > 18:
        raise Http404
    return get_object_or_404(DocumentRevision, pk=int(asked), document=document)


def _successor(revisions: QuerySet[DocumentRevision], version: Document | DocumentRevision) -> str:
    """Return the version that replaced this one."""
    if isinstance(version, Document):
        return PRESENT
    newer = revisions.filter(pk__gt=version.pk).order_by("pk").values_list("pk", flat=True).first()
    return str(newer) if newer else PRESENT


def find_conflict(document: Document, *, data: Mapping[str, Any], form: "BaseForm", user: "Staff") -> Conflict | None:
    """Find what was saved since the submitted form was opened; `form` has the document as it is now.

    A save that changed none of the form's fields is no conflict.
    """
    version, seen = read_version(document), data.get("seen", "")
    names = changed_meanwhile(data, form)
    if version == seen or (opened(data) and not names):
        return None
    replaced = _replaced_since(document, seen)
    makers = _makers(document, replaced.replaced_at if replaced else document.updated_at)
    return Conflict(
        fingerprint=version,
        comparison=_compared(names, data, form, (replaced.text if replaced else "", document.text)),
        is_own=set(makers) == {user.get_username()},
        by=", ".join(dict.fromkeys(makers)),
        at=document.updated_at,
    )


def report_deletion(data: Mapping[str, Any]) -> Conflict | None:
    """Report that the document was deleted, unless the submitted form already says so."""
    return None if data.get("seen") == GONE else Conflict(GONE)


def _replaced_since(document: Document, seen: str) -> DocumentRevision | None:
    """Find the title and text that the form was opened with, if they changed since."""
    with suppress(ValueError):
        if at := parse_datetime(seen):
            return document.revisions.filter(replaced_at__gt=at).order_by("pk").first()
    return None


def _makers(document: Document, since: datetime) -> list[str]:
    """Name who changed the document, the latest last; nobody if the last change was not by staff, as a crawl's."""
    entries = LogEntry.objects.filter(
        content_type=ContentType.objects.get_for_model(Document),
        object_id=str(document.pk),
        action_flag=CHANGE,
        action_time__gte=since,
    )
    made = list(entries.order_by("pk").values_list("user__username", "action_time"))
    return [name for name, _at in made] if made and made[-1][1] >= document.updated_at else []


def _compared(names: Sequence[str], data: Mapping[str, Any], form: "BaseForm", texts: tuple[str, str]) -> Comparison:
    """Compare the fields that were changed meanwhile, the text last; without a form's old values, only the text."""
    fields = [form[name] for name in names if name != "text"]
    sides = [
        [_said(bound, values[bound.name]) for bound in fields] for values in (opened(data), initial_form_values(form))
    ]
    if "text" in names or not names:
        for lines, text in zip(sides, texts, strict=True):
            lines.append(text)
    old, new = ("\n".join(lines) for lines in sides)
    return compare(old, new)


def _said(bound: "BoundField", value: str) -> str:
    """Format a value for people to read; very long values are not available any more."""
    labels = {str(key): str(label) for key, label in getattr(bound.field, "choices", ())}
    return f"{bound.label}: {'…' if value.startswith(HASHED) else labels.get(value, value)}"
