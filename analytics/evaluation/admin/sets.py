"""The screens of question sets: coverage, history, and the start of runs."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Exists, OuterRef, Prefetch, Q, QuerySet
from django.db.models.functions import Coalesce
from django.forms import CheckboxSelectMultiple
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.urls import URLPattern, path
from django.utils.formats import date_format
from django.utils.timezone import localtime
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST
from kombu.exceptions import OperationalError

from analytics.evaluation.admin.history import build_history, read_measure
from analytics.evaluation.coverage import measure_coverage
from analytics.evaluation.services import ask_for_questions, delete_set
from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet, Judgment
from chat.models import RetrievalProfile
from core.admin.scoped import ScopedAdmin
from core.db.annotations import count_related
from core.inference.llm import client
from knowledge.admin.collections import university_collections

if TYPE_CHECKING:
    from core.access import Staff

    RunChoiceField = forms.ModelChoiceField[EvaluationRun]
    ProfileChoicesField = forms.ModelMultipleChoiceField[RetrievalProfile]
    RunSetField = forms.ModelChoiceField[EvaluationSet]
    SetModelForm = forms.ModelForm[EvaluationSet]
else:
    RunChoiceField, ProfileChoicesField = forms.ModelChoiceField, forms.ModelMultipleChoiceField
    SetModelForm = forms.ModelForm


class ProfilesField(ProfileChoicesField):
    def label_from_instance(self, profile: RetrievalProfile) -> str:
        return profile.choice_label


class RunForm(forms.Form):
    evaluation_set = forms.ModelChoiceField(label=_("Set of test questions"), queryset=EvaluationSet.objects.none())
    profiles = ProfilesField(
        label=_("Retrieval profiles"),
        queryset=RetrievalProfile.objects.for_choice(),
        to_field_name="name",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": _("Choose at least one profile.")},
    )
    answers = forms.BooleanField(label=_("Also answer the questions, and measure the answers"), required=False)

    def __init__(self, *args: Any, user: "Staff", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        sets = cast("RunSetField", self.fields["evaluation_set"])
        sets.queryset = EvaluationSet.objects.visible_to(user)


class RunField(RunChoiceField):
    def label_from_instance(self, run: EvaluationRun) -> str:
        """Add the number of a run: several may begin within one minute."""
        return f"#{run.pk} {run.profile}, {date_format(localtime(run.created_at), 'SHORT_DATETIME_FORMAT')}"


class ProposeForm(forms.Form):
    passages = forms.IntegerField(
        label=_("passages"),
        min_value=1,
        max_value=500,
        initial=50,
        help_text=_("One or two questions about each; a first one of every document before a second of any."),
    )


class SetForm(SetModelForm):
    """Shows the name as staff read it; left as it is, it stays in each reader's language."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if "name" in self.fields and self.instance.pk:
            self.initial["name"] = str(self.instance)

    def clean_name(self) -> str:
        given = cast("str", self.cleaned_data["name"])
        return self.instance.name if self.instance.pk and given == self.initial["name"] else given


class CompareForm(forms.Form):
    before = RunField(label=_("From"), queryset=EvaluationRun.objects.none(), empty_label=None)
    after = RunField(label=_("to"), queryset=EvaluationRun.objects.none(), empty_label=None)

    def __init__(self, *args: Any, evaluation_set: EvaluationSet, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        finished = evaluation_set.runs.filter(state=EvaluationRun.State.FINISHED).order_by("-pk")
        for field in self.fields.values():
            cast("RunField", field).queryset = finished


if TYPE_CHECKING:
    SetModelAdmin = admin.ModelAdmin[EvaluationSet]
else:
    SetModelAdmin = admin.ModelAdmin


Status = EvaluationQuestion.Status


@admin.register(EvaluationSet)
class EvaluationSetAdmin(ScopedAdmin, SetModelAdmin):
    list_display = ["title", "questions", "answerable", "unanswerable", "judged", "last_runs", "created_at"]
    search_fields = ["name"]
    form = SetForm
    fields = ["name", "collections", "assistant"]
    actions = None

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "analytics/admin.css"]}

    # --- who may ---

    def has_change_permission(self, request: HttpRequest, obj: EvaluationSet | None = None) -> bool:
        """Refuse to change a loaded data set: measurements on it could not be compared otherwise."""
        return super().has_change_permission(request, obj) and not (obj and obj.fingerprint)

    def has_view_permission(self, request: HttpRequest, obj: EvaluationSet | None = None) -> bool:
        """Allow those who may see runs to see what they were on."""
        may_see = super().has_view_permission(request) or super().has_change_permission(request)
        return may_see or request.user.has_perm("analytics.view_evaluationrun")

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvaluationSet]:
        newest = EvaluationRun.objects.filter(state=EvaluationRun.State.FINISHED).order_by(
            "evaluation_set_id", "profile", "-pk"
        )
        sets: QuerySet[EvaluationSet] = super().get_queryset(request)
        return sets.annotate(**counts()).prefetch_related(
            Prefetch("runs", newest.distinct("evaluation_set_id", "profile"), to_attr="newest_runs")
        )

    def get_fields(self, request: HttpRequest, obj: EvaluationSet | None = None) -> Any:
        may_change = self.has_change_permission(request, obj)
        return ["title" if name == "name" and obj and not may_change else name for name in self.fields]

    def get_readonly_fields(self, request: HttpRequest, obj: EvaluationSet | None = None) -> Any:
        return [*super().get_readonly_fields(request, obj), "title"]

    @admin.display(description=_("name"), ordering="name")
    def title(self, evaluation_set: EvaluationSet) -> str:
        return str(evaluation_set)

    def get_list_display(self, request: HttpRequest) -> Any:
        """Leave out runs and their figures for those who may not open them."""
        sees_runs = request.user.has_perm("analytics.view_evaluationrun")
        return [name for name in self.list_display if sees_runs or name != "last_runs"]

    @admin.display(description=_("questions"), ordering="question_count")
    def questions(self, evaluation_set: Any) -> int:
        return cast("int", evaluation_set.question_count)

    @admin.display(description=_("answerable"), ordering="answerable_count")
    def answerable(self, evaluation_set: Any) -> int:
        return cast("int", evaluation_set.answerable_count)

    @admin.display(description=_("not answerable"), ordering="unanswerable_count")
    def unanswerable(self, evaluation_set: Any) -> int:
        return cast("int", evaluation_set.unanswerable_count)

    @admin.display(description=_("judged"), ordering="judged_count")
    def judged(self, evaluation_set: Any) -> int:
        return cast("int", evaluation_set.judged_count)

    @admin.display(description=_("last MRR"))
    def last_runs(self, evaluation_set: Any) -> str:
        runs = [(run, read_measure(run, "mrr")) for run in evaluation_set.newest_runs]
        return render_to_string("admin/analytics/evaluationset/last_runs.html", {"runs": runs})

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: EvaluationSet | None = None,
    ) -> HttpResponse:
        if obj:
            history = build_history(obj)
            newest = [run.pk for run in history.finished]
            pair = {"before": newest[1], "after": newest[0]} if len(newest) > 1 else None
            profiles = sorted({run.profile for run in history.finished}) or ["default"]
            chosen = {"evaluation_set": obj, "profiles": profiles}
            context |= {
                "history": history,
                "run_form": RunForm(initial=chosen, user=request.user),
                "compare_form": CompareForm(initial=pair, evaluation_set=obj) if pair else None,
                "propose_form": ProposeForm() if client.is_configured() and not obj.fingerprint else None,
                "coverage": measure_coverage(obj),
                "searched": obj.collections.all(),
            }
        return super().render_change_form(request, context, add, change, form_url, obj)

    # --- what is done ---

    def get_urls(self) -> list[URLPattern]:
        propose = self.admin_site.admin_view(require_POST(self.propose_view))
        name = "analytics_evaluationset_propose"
        return [path("<int:set_id>/propose/", propose, name=name), *super().get_urls()]

    def propose_view(self, request: HttpRequest, set_id: int) -> HttpResponse:
        """Have the language model propose questions for staff's own set."""
        found = get_object_or_404(self.get_queryset(request), pk=set_id, fingerprint="")
        if not request.user.has_perm("analytics.add_evaluationquestion"):
            raise PermissionDenied
        form = ProposeForm(request.POST)
        if not form.is_valid():
            messages.error(request, str(form.errors["passages"][0]))
        elif not client.is_configured():
            messages.error(request, gettext("No language model is configured: no question can be proposed."))
        elif not found.collections.exists():
            messages.error(request, gettext("Choose the collections that the set asks about, and save it, first."))
        else:
            self._propose(request, found, form.cleaned_data["passages"])
        return redirect("admin:analytics_evaluationset_change", found.pk)

    def _propose(self, request: HttpRequest, found: EvaluationSet, passages: int) -> None:
        try:
            ask_for_questions(evaluation_set=found, passages=passages)
        except OperationalError:
            messages.error(request, gettext("The task could not be queued. Please try again in a minute."))
            return
        self.log_change(request, found, gettext("questions asked for"))
        said = gettext("Questions are being proposed. They come up here within minutes, to be accepted or rejected.")
        messages.success(request, said)

    def formfield_for_manytomany(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "collections":
            kwargs |= {"queryset": university_collections(), "widget": CheckboxSelectMultiple}
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def delete_model(self, request: HttpRequest, obj: EvaluationSet) -> None:
        delete_set(evaluation_set=obj)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Count what is deleted with it: nobody reads a list of thousands of questions."""
        sets = list(objs)
        counted = {
            EvaluationSet: len(sets),
            EvaluationQuestion: EvaluationQuestion.objects.filter(evaluation_set__in=sets).count(),
            EvaluationRun: EvaluationRun.objects.filter(evaluation_set__in=sets).count(),
        }
        counts = {str(model._meta.verbose_name_plural): count for model, count in counted.items()}
        return [str(each) for each in sets], counts, set(), []


def counts() -> dict[str, Coalesce]:
    """Count accepted questions, as annotations of their sets."""
    judged = Exists(Judgment.objects.filter(question=OuterRef("pk"), grade__gt=0))
    wanted = {
        "question_count": Q(),
        "answerable_count": Q(answerable=True),
        "unanswerable_count": Q(answerable=False),
        "judged_count": Q(judged),
    }
    accepted = EvaluationQuestion.objects.filter(status=Status.ACCEPTED)
    return {name: count_related(accepted.filter(condition), by="evaluation_set") for name, condition in wanted.items()}
