"""Where staff look after collections and documents."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db import models
from django.db.models import Count, F, Q, QuerySet
from django.forms import ModelForm, Textarea
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from knowledge.course_admin import course_of, link_to
from knowledge.models import Collection, Document
from knowledge.querysets import DocumentQuerySet
from knowledge.services import delete_document, delete_documents, save_document, set_document_status

if TYPE_CHECKING:
    CollectionModelAdmin = admin.ModelAdmin[Collection]
    DocumentModelAdmin = admin.ModelAdmin[Document]
    DocumentForm = ModelForm[Document]
else:
    CollectionModelAdmin = DocumentModelAdmin = admin.ModelAdmin
    DocumentForm = ModelForm

#: What a course's record says, and its document after it.
WRITTEN_BY_COURSE = ["title", "url", "collection", "language", "text"]
#: A handbook is cut into thousands of passages; a page that shows them all would not open on a phone.
PASSAGES_SHOWN = 200


def shows_list(request: HttpRequest) -> bool:
    """Whether this is the list (or an action on it), which shows counts that nothing else needs."""
    return bool(request.resolver_match and (request.resolver_match.url_name or "").endswith("_changelist"))


class IndexedFilter(admin.SimpleListFilter):
    title = _("indexed")
    parameter_name = "indexed"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("Yes")), ("no", _("No, its last change is not searched yet"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        indexed = Q(indexed_at__isnull=False, indexed_state=F("state_hash"))
        return {"yes": queryset.filter(indexed), "no": queryset.exclude(indexed)}.get(self.value() or "", queryset)


@admin.register(Collection)
class CollectionAdmin(CollectionModelAdmin):
    list_display = ["name", "slug", "searched_by_default", "documents"]
    search_fields = ["name", "slug"]
    prepopulated_fields = {"slug": ["name"]}
    fields = ["name", "slug", "searched_by_default"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Collection]:
        collections = super().get_queryset(request)
        return collections.annotate(document_count=Count("documents")) if shows_list(request) else collections

    @admin.display(description=_("documents"), ordering="document_count")
    def documents(self, collection: Any) -> int:
        return cast("int", collection.document_count)


@admin.register(Document)
class DocumentAdmin(DocumentModelAdmin):
    list_display = ["title", "collection", "language", "status", "passage_count", "indexed", "updated_at"]
    list_filter = ["status", "collection", ("language", admin.AllValuesFieldListFilter), IndexedFilter]
    search_fields = ["title", "url", "external_id"]
    search_help_text = _("Searches titles and addresses. What students would be shown: use “Try a question”.")
    date_hierarchy = "updated_at"
    list_per_page = 50
    autocomplete_fields = ["collection"]
    actions = ["publish", "archive"]
    readonly_fields = ["indexing", "passages", "created_at", "updated_at"]
    fieldsets = [
        (None, {"fields": ["title", "url", "collection", "language", "status"]}),
        (_("Text"), {"fields": ["text"], "description": _("The page as Markdown: # starts a heading, - a list item.")}),
        (_("Passages as cut"), {"fields": ["indexing", "passages"]}),
        (_("More"), {"fields": ["external_id", "metadata", "created_at", "updated_at"], "classes": ["collapse"]}),
    ]
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 28, "class": "document-text"})}}

    class Media:
        css = {"all": ["knowledge/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        documents = cast("DocumentQuerySet", super().get_queryset(request))
        return documents.for_list() if shows_list(request) else documents

    def get_readonly_fields(self, request: HttpRequest, obj: Document | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "course_record", *WRITTEN_BY_COURSE] if obj and course_of(obj) else fields

    def get_fieldsets(self, request: HttpRequest, obj: Document | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if obj and course_of(obj):
            (label, first), *others = fieldsets
            return [(label, {**first, "fields": ["course_record", *first["fields"]]}), *others]
        return fieldsets

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if not shows_list(request):  # it is asked by an FAQ's form, which refuses archived ones
            found = found.exclude(status=Document.Status.ARCHIVED)
        return found, may_repeat

    # --- what is shown ---

    @admin.display(description=_("passages"), ordering="passage_count")
    def passage_count(self, document: Any) -> int:
        return cast("int", document.passage_count)

    @admin.display(description=_("indexed"), boolean=True)
    def indexed(self, document: Document) -> bool:
        return document.is_indexed

    @admin.display(description=_("indexed"))
    def indexing(self, document: Document) -> str:
        return render_to_string("admin/knowledge/document/indexing.html", {"document": document})

    @admin.display(description=_("passages"))
    def passages(self, document: Document) -> str:
        """What retrieval can find of it, as of its last indexing."""
        cut = document.passages.defer("embedding").order_by("position") if document.pk else Document.objects.none()
        count = cut.count()
        context = {"passages": cut[:PASSAGES_SHOWN], "count": count, "more": max(0, count - PASSAGES_SHOWN)}
        return render_to_string("admin/knowledge/document/passages.html", context)

    @admin.display(description=_("course"))
    def course_record(self, document: Document) -> str:
        course = course_of(document)
        return link_to(course) if course else ""

    def view_on_site(self, document: Document) -> str | None:
        """The page itself; nothing but a web address becomes a link."""
        return document.url if document.url.startswith(("https://", "http://")) else None

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: Document, form: DocumentForm, change: bool) -> None:
        save_document(document=obj)

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        delete_document(document=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        delete_documents(documents=queryset)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Names the documents and counts the rest: nobody reads a list of hundreds of passages."""
        listed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return [item for item in listed if isinstance(item, str)], counts, lacking, protected

    @admin.action(description=_("Publish the selected documents"), permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        count = self._set_status(request, queryset, Document.Status.PUBLISHED)
        message = ngettext("%d document was published.", "%d documents were published.", count) % count
        self.message_user(request, message, messages.SUCCESS)

    @admin.action(description=_("Archive the selected documents"), permissions=["change"])
    def archive(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        count = self._set_status(request, queryset, Document.Status.ARCHIVED)
        message = ngettext(
            "%d document was archived and is no longer used in answers.",
            "%d documents were archived and are no longer used in answers.",
            count,
        )
        self.message_user(request, message % count, messages.SUCCESS)

    def _set_status(self, request: HttpRequest, queryset: Iterable[Document], status: Document.Status) -> int:
        changing = [document for document in queryset if document.status != status]
        rows = Document.objects.filter(pk__in=[document.pk for document in changing]).order_by("pk")
        count = set_document_status(documents=rows.select_for_update(), status=status)
        changed = [{"changed": {"fields": ["status"]}}]
        LogEntry.objects.log_actions(cast("int", request.user.pk), changing, CHANGE, changed)
        return count
