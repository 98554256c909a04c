"""Admin of documents: their text, audience, validity, passages and use."""

from collections.abc import Iterable
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.db import models
from django.db.models import Count, Q, QuerySet
from django.forms import ModelForm
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.translation import get_language, gettext, ngettext
from django.utils.translation import gettext_lazy as _

from core.admin.back import BackAdmin
from core.admin.edit_conflicts import Conflict, GuardedForm, OptimisticLockAdmin
from core.admin.languages import LanguageSelect, NamesLanguage
from core.admin.markdown_widget import MarkdownTextarea
from core.admin.publishing import PublishingAdmin
from core.admin.scoped import ScopedAdmin
from knowledge.admin.collections import CollectionFilter, PresetsCollection
from knowledge.admin.corrections.shown import CorrectedFilter, describe_correction
from knowledge.admin.corrections.views import correction_view, original_view
from knowledge.admin.course_import.from_document import describe_courses
from knowledge.admin.courses import link_to
from knowledge.admin.document_filters import DocumentValidityFilter, IndexedFilter, LanguageFilter, SourceFilter
from knowledge.admin.document_history import find_conflict, report_deletion, restore_view, versions_view
from knowledge.admin.editions import DocumentEditions
from knowledge.admin.uploads import FilesReadAgain, PictureFilter, describe_pictures, list_read_passages
from knowledge.editions.terms import check_term
from knowledge.models import Collection, Document, FlaggedText, Passage
from knowledge.models.courses import find_course
from knowledge.models.documents import DocumentQuerySet
from knowledge.rendering import MOST_CHARACTERS, list_references, render_markdown
from knowledge.services.documents import (
    WRITTEN_BY_COURSE,
    delete_document,
    delete_documents,
    read_version,
    reindex_documents,
    save_document,
    set_document_status,
)

if TYPE_CHECKING:
    DocumentModelAdmin = admin.ModelAdmin[Document]
    AnyDocumentForm = ModelForm[Document]
else:
    DocumentModelAdmin = admin.ModelAdmin
    AnyDocumentForm = ModelForm


class DocumentForm(GuardedForm):
    class Meta:
        widgets = {"language": LanguageSelect()}
        help_texts = {"language": _("The language of the text.")}

    def clean_term(self) -> str:
        term: str = self.cleaned_data["term"].strip()
        check_term(term)
        return term


#: A handbook has thousands of passages; a page with all of them would not open on a phone.
PASSAGES_SHOWN = 200
REFERENCES_SHOWN = 200
#: Buttons of the form, by name, and the status that they save with.
STATUS_BUTTONS = {"_publish": Document.Status.PUBLISHED, "_to_draft": Document.Status.DRAFT}
#: Days over which citations in answers are counted.
CITED_DAYS = 30


def shows_list(request: HttpRequest) -> bool:
    """Return whether this is the list (or an action on it), which shows counts that nothing else needs."""
    return bool(request.resolver_match and (request.resolver_match.url_name or "").endswith("_changelist"))


@admin.register(Document)
class DocumentAdmin(
    DocumentEditions,
    FilesReadAgain,
    PublishingAdmin,
    BackAdmin,
    OptimisticLockAdmin,
    NamesLanguage,
    PresetsCollection,
    ScopedAdmin,
    DocumentModelAdmin,
):
    form = DocumentForm
    list_display = [
        "title",
        "collection",
        "in_language",
        "term_read",
        "state",
        "passage_count",
        "indexed",
        "updated_at",
    ]
    list_filter = [
        "status",
        CorrectedFilter,
        SourceFilter,
        ("collection", CollectionFilter),
        DocumentValidityFilter,
        LanguageFilter,
        IndexedFilter,
        PictureFilter,
        "updated_at",
    ]
    search_fields = ["title", "url", "external_id"]
    search_help_text = _(
        "Searches titles, addresses and texts for words or their beginnings. "
        "To see what students find, use “Try a question”."
    )
    list_per_page = 50
    show_full_result_count = False
    actions = ["publish", "archive", "reindex", "read_again", "join_editions", "part_editions", "release_editions"]
    readonly_fields = ["editions", "preview", "passages", "created_at", "updated_at"]
    fieldsets = [
        (None, {"fields": ["title", "url", "collection", "language", "status"]}),
        (
            _("Audience and validity"),
            {
                "fields": ["valid_from", "valid_until", "audience"],
                "description": _("Used in answers only during this time and for this audience."),
            },
        ),
        (
            _("Edition"),
            {
                "fields": ["term", "editions"],
                "description": _("A question gets the edition of the term that it names, or else the current one."),
            },
        ),
        (
            _("Text"),
            {
                "fields": [("text", "passages"), "preview"],
                "classes": ["document-columns"],
                "description": _("Formatted, or as Markdown: # starts a heading, - a list item."),
            },
        ),
        (_("More"), {"fields": ["external_id", "metadata", "created_at", "updated_at"], "classes": ["collapse"]}),
    ]
    formfield_overrides = {models.TextField: {"widget": MarkdownTextarea({"rows": 28, "class": "document-text"})}}

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css"]}

    def get_urls(self) -> list[URLPattern]:
        def view(function: Any) -> Any:
            return self.admin_site.admin_view(partial(function, model_admin=self))

        return [
            path("<int:document_id>/versions/", view(versions_view), name="knowledge_document_versions"),
            path("<int:document_id>/correction/", view(correction_view), name="knowledge_document_correction"),
            path("<int:document_id>/original/", view(original_view), name="knowledge_document_original"),
            path("<int:document_id>/restore/<int:revision_id>/", view(restore_view), name="knowledge_document_restore"),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Document]:
        documents = cast("DocumentQuerySet", super().get_queryset(request))
        return documents.for_list() if shows_list(request) else documents

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Begin a document that is written by hand as a draft, in the language that its author reads."""
        preset = {"status": Document.Status.DRAFT, "language": (get_language() or "en")[:2]}
        return {**preset, **super().get_changeform_initial_data(request)}

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Save with the status of the button that was pressed."""
        for button, status in STATUS_BUTTONS.items():
            if button in request.POST:
                data = request.POST.copy()
                data["status"] = status.value
                request.POST = data  # type: ignore[assignment]
        return super().changeform_view(request, object_id, form_url, extra_context)

    def get_readonly_fields(self, request: HttpRequest, obj: Document | None = None) -> Any:
        fields = super().get_readonly_fields(request, obj)
        return [*fields, "course_record", *WRITTEN_BY_COURSE] if obj and find_course(obj) else fields

    def get_fieldsets(self, request: HttpRequest, obj: Document | None = None) -> Any:
        fieldsets = super().get_fieldsets(request, obj)
        if obj and find_course(obj):
            (label, first), *others = fieldsets
            return [(label, {**first, "fields": ["course_record", *first["fields"]]}), *others]
        return fieldsets

    def has_change_permission(self, request: HttpRequest, obj: Document | None = None) -> bool:
        """Leave the answers that staff wrote to their FAQs: a change here would be overwritten there."""
        return super().has_change_permission(request, obj) and not (obj and obj.is_written_answer)

    def has_delete_permission(self, request: HttpRequest, obj: Document | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and obj.is_written_answer)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer a data set's collection only for a document that is in it."""
        if db_field.name == "collection":
            document_id = str(request.resolver_match.kwargs.get("object_id", "")) if request.resolver_match else ""
            own = Document.objects.filter(pk__in=[int(document_id)] if document_id.isdecimal() else [])
            kwargs["queryset"] = Collection.objects.filter(Q(for_evaluation=False) | Q(pk__in=own.values("collection")))
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Document], search_term: str
    ) -> tuple[QuerySet[Document], bool]:
        """Search the list in texts too; an FAQ's form searches titles, and leaves out archived documents."""
        if shows_list(request):
            return cast("DocumentQuerySet", queryset).with_words(search_term), False
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        return cast("DocumentQuerySet", found).of_university().exclude(status=Document.Status.ARCHIVED), may_repeat

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Let the screen of a group of editions lead to its documents."""
        return lookup == "edition__group__id__exact" or super().lookup_allowed(lookup, value, request)

    # --- what is shown ---

    @admin.display(description=_("status"), ordering="status")
    def state(self, document: Document) -> str:
        context = {"document": document, "today": timezone.localdate()}
        return render_to_string("admin/knowledge/document/state.html", context)

    @admin.display(description=_("passages"), ordering="passage_count")
    def passage_count(self, document: Any) -> int:
        return cast("int", document.passage_count)

    @admin.display(description=_("indexed"), boolean=True)
    def indexed(self, document: Any) -> bool:
        return cast("bool", document.indexed_now)

    @admin.display(description=_("preview"))
    def preview(self, document: Document) -> str:
        references = list_references(document.metadata)
        context = {
            "html": render_markdown(document.text, references),
            "is_cut": len(document.text) > MOST_CHARACTERS,
            "references": references[:REFERENCES_SHOWN],
            "more": max(0, len(references) - REFERENCES_SHOWN),
        }
        return render_to_string("admin/knowledge/document/preview.html", context)

    @admin.display(description=_("passages as the search sees them"))
    def passages(self, document: Document) -> str:
        """Show the passages that retrieval can find, as of the last indexing."""
        state = document.indexed.filter(generation__state="live").first() if document.pk else None
        cut = Passage.objects.live().filter(document=document.pk).defer("embedding").order_by("position")
        count = cut.count()
        shown = cut.annotate(cited=Count("citations"))[:PASSAGES_SHOWN]
        context = {
            "document": document,
            "state": state,
            "passages": shown,
            "count": count,
            "more": max(0, count - PASSAGES_SHOWN),
            "read_by_ocr": list_read_passages(document, shown),
        }
        return render_to_string("admin/knowledge/document/passages.html", context)

    @admin.display(description=_("course"))
    def course_record(self, document: Document) -> str:
        course = find_course(document)
        return link_to(course) if course else ""

    def view_on_site(self, document: Document) -> str | None:
        """Link to the page itself; only web addresses become links, and a page here only while students see it."""
        visible = Document.objects.published().valid_on(timezone.localdate())
        if document.has_own_page and not visible.filter(pk=document.pk).exists():
            return None
        return document.url if document.url.startswith(("https://", "http://")) else None

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Document | None = None,
    ) -> HttpResponse:
        status = Document.objects.filter(pk=obj.pk).values_list("status", flat=True).first() if obj else None
        context |= {
            "is_draft": status == Document.Status.DRAFT,
            "may_publish_it": status in {None, Document.Status.DRAFT},
            "may_take_back": status == Document.Status.PUBLISHED,
        }
        if obj:
            context |= describe_usage(obj) | describe_pictures(obj) | describe_correction(obj)
            context |= describe_courses(request, obj)
        return super().render_change_form(request, context, add, change, form_url, obj)

    # --- what is done ---

    def fingerprint(self, document: Document) -> str:
        return read_version(document)

    def find_conflict(self, request: HttpRequest, document: Document | None) -> Conflict | None:
        if document is None:
            return report_deletion(request.POST)
        form = self.get_form(request, document, change=True)(instance=document)
        return find_conflict(document, data=request.POST, form=form, user=request.user)

    def save_model(self, request: HttpRequest, obj: Document, form: AnyDocumentForm, change: bool) -> None:
        save_document(document=obj)

    def delete_model(self, request: HttpRequest, obj: Document) -> None:
        delete_document(document=obj)

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        delete_documents(documents=queryset)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the documents and count the rest: nobody reads a list of hundreds of passages.

        Flagged texts are deleted with their document, although nobody may delete them alone.
        """
        listed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        lacking -= {str(FlaggedText._meta.verbose_name)}
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

    @admin.action(description=_("Reindex the selected documents"), permissions=["change"])
    def reindex(self, request: HttpRequest, queryset: QuerySet[Document]) -> None:
        chosen = list(queryset)
        count = reindex_documents(documents=queryset)
        LogEntry.objects.log_actions(cast("int", request.user.pk), chosen, CHANGE, gettext("reindexed"))
        message = ngettext("%d document is being reindexed.", "%d documents are being reindexed.", count)
        self.message_user(request, message % count, messages.SUCCESS)

    def _set_status(self, request: HttpRequest, queryset: Iterable[Document], status: Document.Status) -> int:
        changing = [document for document in queryset if document.status != status]
        rows = Document.objects.filter(pk__in=[document.pk for document in changing]).order_by("pk")
        count = set_document_status(documents=rows.select_for_update(), status=status)
        changed = [{"changed": {"fields": ["status"]}}]
        LogEntry.objects.log_actions(cast("int", request.user.pk), changing, CHANGE, changed)
        return count


def describe_usage(document: Document) -> dict[str, Any]:
    """Describe where a document comes from and who relies on it; this app does not know FAQs and citations."""
    since = timezone.now() - timedelta(days=CITED_DAYS)
    recent = Document.objects.filter(pk=document.pk, citations__message__created_at__gte=since)
    return {
        "cited_days": CITED_DAYS,
        "cited_answers": recent.aggregate(count=Count("citations__message", distinct=True))["count"],
        "linked_faqs": cast("Any", document).faqs.order_by("question"),
        "answered_faq": cast("Any", document).answer_page.faq if document.is_written_answer else None,
        "source_pages": document.source_pages.select_related("source").order_by("source__name"),
    }
