"""What staff fill in: a version of the prompts, and what a preview is made for."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.conf import settings
from django.core.exceptions import ValidationError
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from chat.asking import default_assistant
from chat.guard import Refused, clean_question
from chat.models import Assistant, Language, PromptVersion
from chat.prompt_templates import question_problems, system_problems

if TYPE_CHECKING:
    from knowledge.staff_scope import Staff

    PromptModelForm = forms.ModelForm[PromptVersion]
else:
    PromptModelForm = forms.ModelForm


class PromptVersionForm(PromptModelForm):
    def clean_system(self) -> str:
        return self._checked("system", system_problems)

    def clean_question(self) -> str:
        return self._checked("question", question_problems)

    def _checked(self, name: str, problems_of: Any) -> str:
        text: str = self.cleaned_data[name].replace("\r\n", "\n")
        if problems := problems_of(text):
            raise ValidationError(problems)
        return text


class PreviewForm(forms.Form):
    asked = forms.CharField(label=_("Question"), widget=forms.TextInput(attrs={"autocomplete": "off"}))
    assistant = forms.ModelChoiceField(
        label=_("Assistant"), queryset=Assistant.objects.none(), empty_label=None, initial=default_assistant
    )
    language = forms.ChoiceField(
        label=_("Student’s language"), choices=Language.choices, initial=lambda: (get_language() or "en")[:2]
    )

    def __init__(self, *args: Any, user: "Staff", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen = cast("forms.ModelChoiceField[Assistant]", self.fields["assistant"])
        chosen.queryset = Assistant.objects.for_staff(user)

    def clean_asked(self) -> str:
        try:
            return clean_question(self.cleaned_data["asked"], limit=settings.QUESTION_MAX_CHARACTERS)
        except Refused as refused:
            raise ValidationError(refused.detail, code=refused.code) from refused
