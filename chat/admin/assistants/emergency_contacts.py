"""Numbers and offices for students in need, in the assistant's form."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin
from django.db import models
from django.forms import BaseInlineFormSet, CheckboxSelectMultiple, ModelForm, MultipleChoiceField
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from chat.models import Assistant, EmergencyContact, Need
from chat.pipeline.answering.help_contacts import built_in
from core.admin.forms import LabelledFormSet
from core.admin.parts import PartInline

if TYPE_CHECKING:
    ContactModelForm = ModelForm[EmergencyContact]
    ContactInline = admin.StackedInline[EmergencyContact, Assistant]
    ContactBaseFormSet = BaseInlineFormSet[EmergencyContact, Assistant, "EmergencyContactForm"]
else:
    ContactModelForm, ContactInline, ContactBaseFormSet = ModelForm, admin.StackedInline, LabelledFormSet

FIELDS = ("needs", "name", "name_de", "phone", "url", "email", "position")


class EmergencyContactForm(ContactModelForm):
    needs = MultipleChoiceField(label=_("Shown in"), choices=Need.choices, widget=CheckboxSelectMultiple)

    is_prefilled_kept = False

    def has_changed(self) -> bool:
        """Return True for a prefilled row too once somebody changed the list: all of it is the assistant's own then."""
        return self.was_touched() or (self.is_prefilled_kept and bool(self.initial and not self.instance.pk))

    def was_touched(self) -> bool:
        return super().has_changed()


class EmergencyContactFormSet(ContactBaseFormSet):
    """Prefilled with the built-in contacts as long as the assistant has none of its own."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        assistant = kwargs.get("instance")
        if not (assistant and assistant.pk and assistant.emergency_contacts.exists()):
            kwargs["initial"] = [{name: getattr(each, name) for name in FIELDS} for each in built_in(Assistant())]
        super().__init__(*args, **kwargs)

    def full_clean(self) -> None:
        """Keep the prefilled rows if one of them was changed, removed or added; else the built-in ones hold on."""
        is_touched = self.is_bound and any(form.was_touched() for form in self.forms)
        for form in self.forms:
            form.is_prefilled_kept = is_touched
        super().full_clean()


class EmergencyContactInline(PartInline, ContactInline):
    model = EmergencyContact
    form = EmergencyContactForm
    formset = EmergencyContactFormSet  # type: ignore[assignment]
    fields = FIELDS
    verbose_name_plural = _("For students in need: numbers and offices")
    formfield_overrides = {models.URLField: {"assume_scheme": "https"}}

    def get_extra(self, request: HttpRequest, obj: Assistant | None = None, **kwargs: Any) -> int:
        own = obj is not None and obj.emergency_contacts.exists()
        return 0 if own else len(built_in(Assistant()))
