"""Admin of editions: which documents were found to be editions of one matter, and which of them is current."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import Prefetch, QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import get_language, gettext, ngettext
from django.utils.translation import gettext_lazy as _

from core.admin.scoped import ScopedAdmin
from knowledge.admin.collections import CollectionFilter
from knowledge.editions.asked import Asked, DatedDocument, choose_editions
from knowledge.editions.grouping import term_of
from knowledge.editions.terms import name_term
from knowledge.models import Document, Edition, EditionGroup
from knowledge.services.editions import join_editions, part_editions, release_editions

if TYPE_CHECKING:
    EditionGroupModelAdmin = admin.ModelAdmin[EditionGroup]
    AnyModelAdmin = admin.ModelAdmin[Any]
else:
    EditionGroupModelAdmin, AnyModelAdmin = admin.ModelAdmin, object


def edition_name(edition: Edition | None) -> str:
    """Return the term of an edition in the language of the screen; empty if none was read."""
    term = term_of(edition) if edition else None
    return name_term(term, get_language() or "en") if term else ""


def describe_editions(editions: Iterable[Edition]) -> list[dict[str, Any]]:
    """Describe the documents of one group, newest first; `is_current` is what questions get that name no term."""
    today = timezone.localdate()
    rows = list(editions)
    valid = Document.objects.published().valid_on(today).filter(pk__in=[row.pk for row in rows])
    in_use = set(valid.values_list("pk", flat=True))
    dated = [
        DatedDocument.valid_from(row.pk, term, row.document.valid_from)
        for row in rows
        if row.pk in in_use and (term := term_of(row))
    ]
    current = choose_editions(dated, Asked(), today).documents if dated else frozenset()
    return [
        {
            "name": edition_name(row),
            "document": row.document,
            "is_current": row.pk in current,
            "is_by_staff": row.is_by_staff,
        }
        for row in rows
    ]


@admin.register(EditionGroup)
class EditionGroupAdmin(ScopedAdmin, EditionGroupModelAdmin):
    list_display = ["title", "collection", "terms", "is_by_staff"]
    list_filter = [("collection", CollectionFilter), "is_by_staff"]
    search_fields = ["title", "editions__document__title", "editions__document__url"]
    list_select_related = ["collection"]
    list_per_page = 50
    show_full_result_count = False
    actions = ["part"]
    fields = ["title", "collection", "documents"]
    readonly_fields = ["collection", "documents"]

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: EditionGroup | None = None) -> bool:
        return False

    def get_queryset(self, request: HttpRequest) -> QuerySet[EditionGroup]:
        editions = Edition.objects.select_related("document").defer("document__text")
        return super().get_queryset(request).prefetch_related(Prefetch("editions", queryset=editions))

    def changelist_view(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        """Refuse a decision plainly; Django would only not offer it."""
        if request.POST.get("action") == "part" and not self.has_change_permission(request):
            raise PermissionDenied
        return super().changelist_view(request, extra_context)

    @admin.display(description=_("terms"))
    def terms(self, group: EditionGroup) -> str:
        return " · ".join(edition_name(edition) for edition in group.editions.all())

    @admin.display(description=_("documents"))
    def documents(self, group: EditionGroup) -> str:
        rows = describe_editions(group.editions.all())
        return render_to_string("admin/knowledge/editiongroup/documents.html", {"rows": rows, "group": group})

    @admin.action(description=_("Part the selected groups: these are no editions"), permissions=["change"])
    def part(self, request: HttpRequest, queryset: QuerySet[EditionGroup]) -> None:
        chosen = list(queryset)
        documents = [edition.document for group in chosen for edition in group.editions.all()]
        part_editions(documents=documents)
        log(request, documents, gettext("taken out of its editions"))
        text = ngettext("%d group was parted.", "%d groups were parted.", len(chosen))
        self.message_user(request, text % len(chosen), messages.SUCCESS)


def log(request: HttpRequest, documents: Iterable[Document], said: str) -> None:
    LogEntry.objects.log_actions(cast("int", request.user.pk), list(documents), CHANGE, said)


class DocumentEditions(AnyModelAdmin):
    """Editions in the list of documents and in their form, to be named before ModelAdmin."""

    @admin.display(description=_("term or year"), ordering="edition__begins")
    def term_read(self, document: Document) -> str:
        return edition_name(getattr(document, "edition", None))

    @admin.display(description=_("editions"))
    def editions(self, document: Document) -> str:
        """Show the term that was read, and the other editions of the document."""
        own = Edition.objects.filter(document=document.pk).first()
        rows: Iterable[Edition] = ()
        if own and own.group_id:
            rows = Edition.objects.filter(group=own.group_id).select_related("document").defer("document__text")
        context = {
            "document": document,
            "name": edition_name(own),
            "is_corrected": bool(document.term),
            "rows": describe_editions(rows),
        }
        return render_to_string("admin/knowledge/document/editions.html", context)

    @admin.action(description=_("Make the selected documents editions of one matter"), permissions=["change"])
    def join_editions(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        chosen = list(queryset)
        try:
            group = join_editions(documents=chosen)
        except ValidationError as error:
            self.message_user(request, " ".join(error.messages), messages.ERROR)
            return
        log(request, chosen, gettext("made an edition of “%(title)s”") % {"title": group})
        text = gettext("They are now editions of “%(title)s”: the one asked for, or else the current one, answers.")
        self.message_user(request, text % {"title": group}, messages.SUCCESS)

    @admin.action(description=_("Take the selected documents out of their editions"), permissions=["change"])
    def part_editions(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        parted = part_editions(documents=queryset)
        log(request, parted, gettext("taken out of its editions"))
        text = ngettext("%d document stands alone now.", "%d documents stand alone now.", len(parted))
        self.message_user(request, text % len(parted), messages.SUCCESS)

    @admin.action(description=_("Find the editions of the selected documents automatically"), permissions=["change"])
    def release_editions(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        released = release_editions(documents=queryset)
        log(request, released, gettext("its editions are found automatically"))
        text = ngettext(
            "Of %d document editions are found automatically again.",
            "Of %d documents editions are found automatically again.",
            len(released),
        )
        self.message_user(request, text % len(released), messages.SUCCESS)
