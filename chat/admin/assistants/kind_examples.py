"""Examples of kinds of messages, in the assistant's form."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.forms import BaseInlineFormSet, ModelForm
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from chat.errors import Refused
from chat.models import Assistant, KindExample, Need
from chat.pipeline.guardrails.input import clean_question
from chat.pipeline.understanding.help_classifier import recognised_need
from core.admin.forms import LabelledFormSet
from core.admin.parts import PartInline

if TYPE_CHECKING:
    ExampleModelForm = ModelForm[KindExample]
    ExampleInline = admin.TabularInline[KindExample, Assistant]
    ExampleBaseFormSet = BaseInlineFormSet[KindExample, Assistant, "KindExampleForm"]
else:
    ExampleModelForm, ExampleInline, ExampleBaseFormSet = ModelForm, admin.TabularInline, LabelledFormSet

#: Each is compared with every question, and fitted once a process.
MOST = 200


class KindExampleForm(ExampleModelForm):
    class Meta:
        widgets = {"text": forms.TextInput(attrs={"size": 60})}

    def clean_text(self) -> str:
        text = " ".join(self.cleaned_data["text"].split())
        try:
            return clean_question(text, limit=KindExample._meta.get_field("text").max_length or 0)
        except Refused as error:
            raise ValidationError(error.detail) from error

    def clean(self) -> dict[str, Any]:
        """Refuse what would have no effect, since a cry for help is recognised first; a new text has no vector yet."""
        cleaned = super().clean() or self.cleaned_data
        if not self.has_changed() or not {"text", "kind"} <= cleaned.keys():
            return cleaned
        need = recognised_need(cleaned["text"])
        if need and need != cleaned["kind"]:
            said = _("This is recognised as a cry for help (%(need)s), which stays so: it cannot be another kind.")
            self.add_error("kind", ValidationError(said, params={"need": Need(need).label}))
        if "text" in self.changed_data:
            self.instance.embedding = None
        return cleaned


class KindExampleFormSet(ExampleBaseFormSet):
    def clean(self) -> None:
        super().clean()
        kept = [form for form in self.forms if form not in self.deleted_forms and form.cleaned_data.get("text")]
        if len(kept) > MOST:
            raise ValidationError(
                _("At most %(count)d examples: remove those that are recognised without them."), params={"count": MOST}
            )
        first: dict[str, KindExampleForm] = {}
        for form in kept:
            other = first.setdefault(form.cleaned_data["text"].casefold(), form)
            if other is not form:
                form.add_error("text", _twice(other.cleaned_data.get("kind"), form.cleaned_data.get("kind")))


def _twice(first: str | None, second: str | None) -> str:
    if first == second:
        return _("This message is there already.")
    kinds = dict(KindExample._meta.get_field("kind").flatchoices)
    return _("This message is there as “%(kind)s”: it can be of one kind only.") % {"kind": kinds.get(first, "")}


class KindExampleInline(PartInline, ExampleInline):
    model = KindExample
    form = KindExampleForm
    formset = KindExampleFormSet  # type: ignore[assignment]
    fields = ("kind", "text", "in_use")
    readonly_fields = ("in_use",)
    extra = 1
    verbose_name_plural = gettext_lazy("Messages of your students, and what they are")

    @admin.display(description=gettext_lazy("in use"))
    def in_use(self, example: KindExample) -> str:
        if example._state.adding:
            return "–"
        return _("not yet: it is read in the background") if example.embedding is None else _("yes")
