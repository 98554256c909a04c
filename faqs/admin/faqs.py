"""The list of FAQs and the form of one."""

from contextlib import AbstractContextManager
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q, QuerySet
from django.forms import BaseModelFormSet, ModelForm
from django.http import HttpRequest, HttpResponse, QueryDict
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext_lazy as _

from core.admin.back import BackAdmin
from core.admin.edit_conflicts import Conflict, OptimisticLockAdmin
from core.admin.languages import LanguageFilter, NamesLanguage
from core.admin.publishing import PublishingAdmin
from core.admin.scoped import ScopedAdmin
from core.admin.textarea import Textarea
from faqs.admin import duplicates, history, importexport
from faqs.admin.categories import shows_list
from faqs.admin.filters import SourcesFilter, TranslationFilter, ValidityFilter
from faqs.admin.form import FAQForm
from faqs.admin.form_page import build_page
from faqs.admin.inlines import PhrasingInline, SourceInline, saved_status
from faqs.admin.warnings import warn_of_faqs
from faqs.answers.changes import redated_message
from faqs.answers.pages import address_of
from faqs.models import ANSWER_LANGUAGES, FAQ, SOON, FAQQuerySet, main_language
from faqs.permissions import may_make, may_publish
from faqs.services import index_saved_faq, set_faq_status
from faqs.versions.edit_conflicts import find_conflict, find_version, rebased
from faqs.versions.history import Reason, recording
from faqs.versions.snapshots import fingerprint_content, read_content
from knowledge.admin.collections import CollectionFilter
from knowledge.models import Collection, Document


def collections_for(request: HttpRequest, faq_id: str) -> Any:
    """Return the university's collections of one's own teams; a data set's only for an FAQ that is in it."""
    present = FAQ.objects.filter(pk__in=[int(faq_id)] if faq_id.isdecimal() else [])
    of_university = Q(for_evaluation=False) | Q(pk__in=present.order_by().values("collection"))
    return Collection.objects.visible_to(request.user).filter(of_university)


def given_rows(request: HttpRequest, prefix: str) -> list[dict[str, Any]]:
    """Read the rows of a new FAQ from `?phrasing=…&document=ID`."""
    if prefix == "phrasings":
        return [{"text": text} for text in request.GET.getlist("phrasing")]
    asked = [int(value) for value in request.GET.getlist("document") if value.isdecimal() and len(value) < 19]
    own = set(Document.objects.visible_to(request.user).filter(pk__in=asked).values_list("pk", flat=True))
    return [
        {"document": pk, "position": position}
        for position, pk in enumerate(pk for pk in dict.fromkeys(asked) if pk in own)
    ]


if TYPE_CHECKING:
    FAQModelAdmin = admin.ModelAdmin[FAQ]
    AnyForm = ModelForm[FAQ]
    FormSets = list[BaseModelFormSet[Any, Any]]
else:
    FAQModelAdmin = admin.ModelAdmin
    AnyForm = FormSets = object


@admin.register(FAQ)
class FAQAdmin(PublishingAdmin, BackAdmin, OptimisticLockAdmin, NamesLanguage, ScopedAdmin, FAQModelAdmin):
    form = FAQForm
    list_display = [
        "question",
        "state",
        "category",
        "in_language",
        "phrasing_count",
        "source_count",
        "updated_at",
    ]
    list_filter = [
        "status",
        ValidityFilter,
        SourcesFilter,
        TranslationFilter,
        ("collection", CollectionFilter),
        "category",
        ("language", LanguageFilter),
    ]
    ordering = ["-updated_at", "-pk"]
    search_fields = ["question", "phrasings__text"]
    search_help_text = _("Searches questions and their other phrasings for each of the words, or a part of it.")
    list_per_page = 50
    show_full_result_count = False
    nothing_yet = _("No FAQs yet. Write what students ask, and link the page that answers it or write the answer.")
    autocomplete_fields = ["category", "translation_of"]
    actions = ["publish", "retire", "back_to_draft"]
    inlines = [PhrasingInline, SourceInline]
    readonly_fields = ["created_at", "updated_at"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    "question",
                    "language",
                    "translation_of",
                    "category",
                    "collection",
                    "status",
                    "valid_from",
                    "valid_until",
                ]
            },
        ),
        (
            _("Answer in your own words"),
            {
                "fields": ["answer_de", "office_de", "answer_en", "office_en", "answer_checked_on"],
                "description": _(
                    "Students whose question is surely this one see it first, word for word, with the office and the "
                    "date. Leave it empty if a page answers the question, and link that page below."
                ),
            },
        ),
        (
            _("Key points (internal: students never see them)"),
            {"fields": ["reference_answer"], "classes": ["collapse"]},
        ),
        (_("More"), {"fields": ["external_id", "created_at", "updated_at"], "classes": ["collapse"]}),
    ]
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 6, "class": "vLargeTextField"})}}

    class Media:
        css = {"all": ["knowledge/screens.css", "faqs/admin.css"]}
        js = ["faqs/near.js"]

    def get_urls(self) -> list[URLPattern]:
        def view(route: str, function: Any, name: str) -> URLPattern:
            wrapped = self.admin_site.admin_view(partial(function, model_admin=self))
            return path(route, wrapped, name=f"faqs_faq_{name}")

        return [
            view("import/", importexport.import_view, "import"),
            view("import/template/<str:name>/", importexport.template_view, "import_template"),
            view("export/", importexport.export_view, "export"),
            view("export/<str:name>/", importexport.download_view, "download"),
            view("near/", duplicates.near_view, "near"),
            view("duplicates/", duplicates.list_view, "duplicates"),
            view("duplicates/<int:pair_id>/merge/", duplicates.merge_view, "merge"),
            view("duplicates/<int:pair_id>/dismiss/", duplicates.dismiss_view, "dismiss"),
            view("<int:faq_id>/versions/", history.versions_view, "versions"),
            view("<int:faq_id>/restore/<int:version_id>/", history.restore_view, "restore"),
            view("<int:faq_id>/confirm/", history.confirm_view, "confirm"),
            *super().get_urls(),
        ]

    # --- who may do what to which ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[FAQ]:
        faqs = cast("FAQQuerySet", super().get_queryset(request))
        return faqs.for_list() if shows_list(request) else faqs

    def has_change_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        """Let only those who may publish change what students get."""
        return super().has_change_permission(request, obj) and self._may_touch(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return super().has_delete_permission(request, obj) and self._may_touch(request, obj)

    def has_publish_permission(self, request: HttpRequest) -> bool:
        return super().has_change_permission(request) and may_publish(request.user)

    def _may_touch(self, request: HttpRequest, faq: FAQ | None) -> bool:
        return faq is None or may_publish(request.user) or may_make(request.user, saved_status(faq))

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the FAQs and count their parts."""
        listed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        for derived in ("answer pages", "faq vectors", "pairs of duplicates"):
            counts.pop(derived, None)
        return [item for item in listed if isinstance(item, str)], counts, lacking, protected

    # --- the list ---

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        may_import = self.has_add_permission(request) and self.has_change_permission(request)
        return super().changelist_view(request, {"may_import": may_import, **(extra_context or {})})

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[FAQ], search_term: str
    ) -> tuple[QuerySet[FAQ], bool]:
        return cast("FAQQuerySet", queryset).with_words(search_term), False

    @admin.display(description=_("status"), ordering="status")
    def state(self, faq: FAQ) -> str:
        today = timezone.localdate()
        return render_to_string("admin/faqs/faq/state.html", {"faq": faq, "today": today, "soon": SOON + today})

    @admin.display(description=_("phrasings"), ordering="phrasing_count")
    def phrasing_count(self, faq: Any) -> int:
        return cast("int", faq.phrasing_count)

    @admin.display(description=_("documents"), ordering="source_count")
    def source_count(self, faq: Any) -> int:
        return cast("int", faq.source_count)

    @admin.action(description=_("Publish the selected FAQs"), permissions=["publish"])
    def publish(self, request: HttpRequest, queryset: QuerySet[FAQ]) -> None:
        count = self._set_status(request, queryset, FAQ.Status.PUBLISHED)
        if count is not None:
            message = ngettext("%d FAQ was published.", "%d FAQs were published.", count)
            self.message_user(request, message % count, messages.SUCCESS)

    @admin.action(description=_("Retire the selected FAQs"), permissions=["publish"])
    def retire(self, request: HttpRequest, queryset: QuerySet[FAQ]) -> None:
        count = self._set_status(request, queryset, FAQ.Status.RETIRED)
        if count is not None:
            message = ngettext(
                "%d FAQ was retired and no longer counts.", "%d FAQs were retired and no longer count.", count
            )
            self.message_user(request, message % count, messages.SUCCESS)

    @admin.action(description=_("Return the selected FAQs to draft"), permissions=["change"])
    def back_to_draft(self, request: HttpRequest, queryset: QuerySet[FAQ]) -> None:
        count = self._set_status(request, queryset, FAQ.Status.DRAFT)
        if count is not None:
            message = ngettext("%d FAQ is a draft again.", "%d FAQs are drafts again.", count)
            self.message_user(request, message % count, messages.SUCCESS)

    def _set_status(self, request: HttpRequest, queryset: QuerySet[FAQ], status: FAQ.Status) -> int | None:
        """Return how many changed, or None if one may not be changed: then none did, and a message says why."""
        changing = [faq for faq in queryset if faq.status != status]
        try:
            for faq in changing:
                if not may_make(request.user, faq.status):
                    raise ValidationError(
                        _("“%(faq)s” is %(status)s, and only who may publish can change it.")
                        % {"faq": faq, "status": faq.get_status_display()}
                    )
            count = set_faq_status(faqs=changing, status=status, by=request.user)
        except ValidationError as error:
            reason = _("Nothing was changed. %(reason)s") % {"reason": " ".join(error.messages)}
            self.message_user(request, reason, messages.ERROR)
            return None
        changed = [{"changed": {"fields": ["status"]}}]
        LogEntry.objects.log_actions(cast("int", request.user.pk), changing, CHANGE, changed)
        if status == FAQ.Status.PUBLISHED:
            warn_of_faqs(request, changing)
        return count

    # --- the form ---

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Preset the language that the user reads, and the office that signed the newest answer of their teams."""
        preset = {"language": main_language(get_language() or "en")} | FAQ.objects.visible_to(
            request.user
        ).newest_office()
        return preset | super().get_changeform_initial_data(request)

    def get_form(self, request: HttpRequest, obj: FAQ | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **kwargs)
        return type(form.__name__, (form,), {"user": request.user})

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: dict[str, Any] | None = None,
    ) -> HttpResponse:
        """Save as published with “Save and publish”; the form refuses it to those who may not publish."""
        if "_publish" in request.POST:
            data = request.POST.copy()
            data["status"] = FAQ.Status.PUBLISHED.value
            request.POST = data  # type: ignore[assignment]
        return super().changeform_view(request, object_id, form_url, extra_context)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "collection":
            match = request.resolver_match
            kwargs["queryset"] = collections_for(request, str(match.kwargs.get("object_id", "")) if match else "")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_formset_kwargs(self, request: HttpRequest, obj: FAQ, inline: Any, prefix: str) -> dict[str, Any]:
        options = super().get_formset_kwargs(request, obj, inline, prefix)
        if request.method == "GET" and obj._state.adding:
            options["initial"] = given_rows(request, prefix)
        return options

    def fingerprint(self, faq: FAQ) -> str:
        return fingerprint_content(read_content(FAQ.objects.with_parts().get(pk=faq.pk)))

    def find_conflict(self, request: HttpRequest, faq: FAQ | None) -> Conflict | None:
        return find_conflict(faq.pk if faq else 0, seen=request.POST.get("seen", ""), user=request.user)

    def reconciled(self, data: QueryDict, faq: FAQ | None) -> QueryDict:
        base = find_version(faq.pk, data.get("seen", "")) if faq else None
        return rebased(data, faq.pk if faq else 0, base.content if base else None)

    def saving(self, request: HttpRequest, faq: FAQ | None) -> AbstractContextManager[Any]:
        return recording([faq.pk] if faq else [], by=request.user, reason=Reason.FORM)

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: FAQ | None = None,
    ) -> HttpResponse:
        context |= build_page(request, obj, may_change=self.has_change_permission(request, obj))
        return super().render_change_form(request, context, add, change, form_url, obj)

    def save_related(self, request: HttpRequest, form: AnyForm, formsets: "FormSets", change: bool) -> None:
        with recording([], by=request.user, reason=Reason.FORM) as touched:
            super().save_related(request, form, formsets, change)
            if not change:
                touched.append(form.instance.pk)
        index_saved_faq(faq=form.instance)
        if getattr(form, "is_redated", False):
            self.message_user(request, redated_message(), messages.INFO)
        warn_of_faqs(request, [form.instance])
        ended = form.instance.valid_until
        if form.instance.status == FAQ.Status.PUBLISHED and ended and ended < timezone.localdate():
            said = _("This FAQ does not count, and students do not see its answer: its last day was %(day)s.")
            self.message_user(request, said % {"day": date_format(ended)}, messages.WARNING)

    def view_on_site(self, faq: FAQ) -> str | None:
        """Link to the public page of the answer, while there is one."""
        is_valid = FAQ.objects.published().valid_on(timezone.localdate()).filter(pk=faq.pk).exists()
        languages = (main_language(faq.language), *ANSWER_LANGUAGES)
        written = next((language for language in languages if language in faq.written_answers), "")
        return address_of(faq.pk, written) if written and is_valid else None
