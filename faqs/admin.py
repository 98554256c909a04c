"""Where staff curate questions."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.admin.widgets import AdminIntegerFieldWidget
from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Count, Exists, OuterRef, QuerySet
from django.forms import BaseInlineFormSet, BaseModelFormSet, ModelForm, Textarea
from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from faqs.models import FAQ, Category, FAQSource, Phrasing
from faqs.querysets import FAQQuerySet
from faqs.services import index_saved_faq, set_faq_status

if TYPE_CHECKING:
    CategoryModelAdmin = admin.ModelAdmin[Category]
    FAQModelAdmin = admin.ModelAdmin[FAQ]
    PartInline = admin.TabularInline[Any, FAQ]
    SourceBaseForm = forms.ModelForm[FAQSource]
    SourceBaseFormSet = BaseInlineFormSet[FAQSource, FAQ, ModelForm[FAQSource]]
    FAQForm = ModelForm[FAQ]
    FormSets = list[BaseModelFormSet[Any, Any]]
else:
    CategoryModelAdmin = FAQModelAdmin = admin.ModelAdmin
    PartInline = admin.TabularInline
    SourceBaseForm = forms.ModelForm
    SourceBaseFormSet = BaseInlineFormSet
    FAQForm = FormSets = object


def shows_list(request: HttpRequest) -> bool:
    """Whether this is the list (or an action on it), which shows counts that nothing else needs."""
    return bool(request.resolver_match and (request.resolver_match.url_name or "").endswith("_changelist"))


class ValidityFilter(admin.SimpleListFilter):
    title = _("validity")
    parameter_name = "valid"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("today", _("Valid today")), ("expired", _("Expired")), ("later", _("Not valid yet"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        today = timezone.localdate()
        match self.value():
            case "today":
                return cast("FAQQuerySet", queryset).valid_on(today)
            case "expired":
                return queryset.filter(valid_until__lt=today)
            case "later":
                return queryset.filter(valid_from__gt=today)
        return queryset


class SourcesFilter(admin.SimpleListFilter):
    """Finds published FAQs that lost their last document."""

    title = _("documents")
    parameter_name = "documents"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("some", _("Linked")), ("none", _("None linked"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        linked = Exists(FAQSource.objects.filter(faq=OuterRef("pk")))
        return {"some": queryset.filter(linked), "none": queryset.filter(~linked)}.get(self.value() or "", queryset)


class PartOfFAQ(PartInline):
    """Phrasings and sources are part of their FAQ: who may change it may change them."""

    extra = 1

    def _may_edit(self, request: HttpRequest, faq: FAQ | None) -> bool:
        user = request.user
        return user.has_perm("faqs.change_faq") or (faq is None and user.has_perm("faqs.add_faq"))

    def has_add_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj) or request.user.has_perm("faqs.view_faq")


class PhrasingInline(PartOfFAQ):
    model = Phrasing
    verbose_name_plural = _("Other ways to ask the same")


class SourceForm(SourceBaseForm):
    position = forms.IntegerField(
        label=_("order"),
        required=False,
        min_value=0,
        max_value=32767,
        widget=AdminIntegerFieldWidget,
        help_text=_("The smallest is the best; empty: after the others."),
    )


class SourceFormSet(SourceBaseFormSet):
    def clean(self) -> None:
        """An FAQ without a document steers nobody anywhere; one without an order comes last."""
        super().clean()
        if any(self.errors):
            return
        kept = [form for form in self.forms if form not in self.deleted_forms and form.cleaned_data.get("document")]
        orders = [form.cleaned_data["position"] for form in kept]
        last = max((order for order in orders if order is not None), default=-1)
        for form in kept:
            if form.cleaned_data["position"] is None:
                last += 1
                form.instance.position = last
        if self.instance.status == FAQ.Status.PUBLISHED and not kept:
            raise ValidationError(
                _("A published FAQ needs at least one document: link one here, or choose another status above.")
            )


class SourceInline(PartOfFAQ):
    model = FAQSource
    form = SourceForm
    formset = SourceFormSet
    autocomplete_fields = ["document"]
    verbose_name_plural = _("Documents that answer it, best first")


@admin.register(Category)
class CategoryAdmin(CategoryModelAdmin):
    list_display = ["name", "faqs"]
    search_fields = ["name"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Category]:
        categories = super().get_queryset(request)
        return categories.annotate(faq_count=Count("faqs")) if shows_list(request) else categories

    @admin.display(description=_("FAQs"), ordering="faq_count")
    def faqs(self, category: Any) -> int:
        return cast("int", category.faq_count)


@admin.register(FAQ)
class FAQAdmin(FAQModelAdmin):
    list_display = [
        "question",
        "category",
        "language",
        "status",
        "phrasing_count",
        "source_count",
        "valid_until",
        "updated_at",
    ]
    list_filter = ["status", ValidityFilter, SourcesFilter, "category", ("language", admin.AllValuesFieldListFilter)]
    search_fields = ["question", "phrasings__text"]
    search_help_text = _("Searches questions and their other phrasings.")
    list_per_page = 50
    autocomplete_fields = ["category"]
    actions = ["publish", "retire", "back_to_draft"]
    inlines = [PhrasingInline, SourceInline]
    readonly_fields = ["created_at", "updated_at"]
    fieldsets = [
        (None, {"fields": ["question", "category", "language", "status", "valid_from", "valid_until"]}),
        (_("Reference answer"), {"fields": ["reference_answer"]}),
        (_("More"), {"fields": ["external_id", "created_at", "updated_at"], "classes": ["collapse"]}),
    ]
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 6, "class": "vLargeTextField"})}}

    class Media:
        css = {"all": ["faqs/admin.css"]}

    def get_queryset(self, request: HttpRequest) -> QuerySet[FAQ]:
        faqs = cast("FAQQuerySet", super().get_queryset(request))
        return faqs.for_list() if shows_list(request) else faqs

    # --- what is shown ---

    @admin.display(description=_("phrasings"), ordering="phrasing_count")
    def phrasing_count(self, faq: Any) -> int:
        return cast("int", faq.phrasing_count)

    @admin.display(description=_("documents"), ordering="source_count")
    def source_count(self, faq: Any) -> int:
        return cast("int", faq.source_count)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Names the FAQs and counts their parts."""
        listed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        counts.pop("faq vectors", None)
        return [item for item in listed if isinstance(item, str)], counts, lacking, protected

    # --- what is done ---

    def save_related(self, request: HttpRequest, form: FAQForm, formsets: "FormSets", change: bool) -> None:
        super().save_related(request, form, formsets, change)
        index_saved_faq(faq=form.instance)

    @admin.action(description=_("Publish the selected FAQs"), permissions=["change"])
    def publish(self, request: HttpRequest, queryset: QuerySet[FAQ]) -> None:
        count = self._set_status(request, queryset, FAQ.Status.PUBLISHED)
        if count is not None:
            message = ngettext("%d FAQ was published.", "%d FAQs were published.", count)
            self.message_user(request, message % count, messages.SUCCESS)

    @admin.action(description=_("Retire the selected FAQs"), permissions=["change"])
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
        """How many changed, or nothing where one of them may not: then none did, and a message says why."""
        changing = [faq for faq in queryset if faq.status != status]
        try:
            count = set_faq_status(faqs=changing, status=status)
        except ValidationError as error:
            reason = _("Nothing was changed. %(reason)s") % {"reason": " ".join(error.messages)}
            self.message_user(request, reason, messages.ERROR)
            return None
        changed = [{"changed": {"fields": ["status"]}}]
        LogEntry.objects.log_actions(cast("int", request.user.pk), changing, CHANGE, changed)
        return count
