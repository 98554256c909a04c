"""An FAQ's phrasings and documents, in its form."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.admin.widgets import AdminIntegerFieldWidget
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.forms import BaseInlineFormSet, ModelForm
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core.admin.forms import LabelledFormSet
from faqs.models import FAQ, FAQSource, Phrasing
from faqs.permissions import may_make
from knowledge.models import Document

if TYPE_CHECKING:
    PartInline = admin.TabularInline[Any, FAQ]
    SourceBaseForm = forms.ModelForm[FAQSource]
    DocumentField = forms.ModelChoiceField[Document]
    SourceBaseFormSet = BaseInlineFormSet[FAQSource, FAQ, ModelForm[FAQSource]]
else:
    PartInline = admin.TabularInline
    SourceBaseForm = forms.ModelForm
    DocumentField = forms.ModelChoiceField
    SourceBaseFormSet = LabelledFormSet


class PartOfFAQ(PartInline):
    """Phrasings and sources are part of their FAQ: who may change it may change them."""

    extra = 1
    given = ""  # which values in the address fill rows of a new FAQ

    def _may_edit(self, request: HttpRequest, faq: FAQ | None) -> bool:
        user = request.user
        if faq is None:
            return user.has_perm("faqs.change_faq") or user.has_perm("faqs.add_faq")
        return user.has_perm("faqs.change_faq") and may_make(user, saved_status(faq))

    def has_add_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: FAQ | None = None) -> bool:
        return self._may_edit(request, obj) or request.user.has_perm("faqs.view_faq")

    def get_extra(self, request: HttpRequest, obj: FAQ | None = None, **kwargs: Any) -> int:
        return self.extra + (0 if obj else len(request.GET.getlist(self.given)))


def saved_status(faq: FAQ) -> str:
    """Return the status in the database, whatever the form has set."""
    return FAQ.objects.filter(pk=faq.pk).values_list("status", flat=True).first() or FAQ.Status.DRAFT


class PhrasingInline(PartOfFAQ):
    model = Phrasing
    formset = LabelledFormSet
    given = "phrasing"
    verbose_name_plural = _("Other ways to ask the same")


class DocumentChoiceField(DocumentField):
    def label_from_instance(self, document: Document) -> str:
        return document.choice_label


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
        """Require an answer or a document for a published FAQ; a source without an order comes last."""
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
        shown = [form for form in kept if not form.cleaned_data["document"].is_draft]
        if self.instance.status != FAQ.Status.PUBLISHED or self.instance.written_answers:
            return
        if kept and not shown:
            said = _("These documents are drafts: publish one of them first, or choose another status above.")
            raise ValidationError(said)
        if not kept:
            said = _(
                "A published FAQ needs an answer: write it above, link a document here, or choose another status above."
            )
            raise ValidationError(said)


class SourceInline(PartOfFAQ):
    model = FAQSource
    form = SourceForm
    formset = SourceFormSet
    given = "document"
    autocomplete_fields = ["document"]
    verbose_name = _("document")
    verbose_name_plural = _("Documents that answer it, best first")

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Return documents of one's own teams, and those that are linked already."""
        if db_field.name == "document":
            faq = request.resolver_match.kwargs.get("object_id", "") if request.resolver_match else ""
            linked = FAQSource.objects.filter(faq=int(faq)) if faq.isdecimal() else FAQSource.objects.none()
            own = Document.objects.visible_to(request.user)
            kwargs["form_class"] = DocumentChoiceField
            kwargs["queryset"] = Document.objects.filter(
                Q(pk__in=own.order_by().values("pk")) | Q(pk__in=linked.order_by().values("document"))
            )
        return super().formfield_for_foreignkey(db_field, request, **kwargs)
