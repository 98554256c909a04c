"""What is asked before profiles are run, or two runs compared."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext_lazy as _

from analytics.models import EvaluationRun, EvaluationSet
from chat.models import RetrievalProfile

if TYPE_CHECKING:
    from knowledge.staff_scope import Staff

    RunChoiceField = forms.ModelChoiceField[EvaluationRun]
    RunSetField = forms.ModelChoiceField[EvaluationSet]
else:
    RunChoiceField = forms.ModelChoiceField


class RunForm(forms.Form):
    evaluation_set = forms.ModelChoiceField(label=_("Evaluation set"), queryset=EvaluationSet.objects.none())
    profiles = forms.ModelMultipleChoiceField(
        label=_("Retrieval profiles"),
        queryset=RetrievalProfile.objects.all(),
        to_field_name="name",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one profile.")},
    )
    answers = forms.BooleanField(label=_("Also answer the questions, and measure the answers"), required=False)

    def __init__(self, *args: Any, user: "Staff", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = cast("RunSetField", self.fields["evaluation_set"])
        sets.queryset = EvaluationSet.objects.for_staff(user)


class RunField(RunChoiceField):
    def label_from_instance(self, run: EvaluationRun) -> str:
        """With its number: several may begin within one minute."""
        return f"#{run.pk} {run.profile}, {date_format(localtime(run.created_at), 'SHORT_DATETIME_FORMAT')}"


class ProposeForm(forms.Form):
    passages = forms.IntegerField(
        label=_("passages"),
        min_value=1,
        max_value=500,
        initial=50,
        help_text=_("One or two questions about each; a first one of every document before a second of any."),
    )


class CompareForm(forms.Form):
    before = RunField(label=_("From"), queryset=EvaluationRun.objects.none(), empty_label=None)
    after = RunField(label=_("to"), queryset=EvaluationRun.objects.none(), empty_label=None)

    def __init__(self, *args: Any, evaluation_set: EvaluationSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        finished = evaluation_set.runs.filter(state=EvaluationRun.State.FINISHED).order_by("-pk")
        for field in self.fields.values():
            cast("RunField", field).queryset = finished
