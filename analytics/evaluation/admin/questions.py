"""The screens of a set's questions, each with the documents that answer it."""

from typing import TYPE_CHECKING, Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models, transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods, require_safe

from analytics.evaluation.services import check_judgments, edit_question, save_question, set_question_status
from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from core.admin.forms import LabelledFormSet
from core.admin.scoped import ScopedAdmin, ScopedFilter
from core.admin.textarea import Textarea
from knowledge.models import Granularity

if TYPE_CHECKING:
    QuestionModelAdmin = admin.ModelAdmin[EvaluationQuestion]
    QuestionBaseForm = forms.ModelForm[EvaluationQuestion]
else:
    QuestionModelAdmin, QuestionBaseForm = admin.ModelAdmin, forms.ModelForm


Status = EvaluationQuestion.Status


class ReviewForm(QuestionBaseForm):
    """The form of a review; `decision` is empty if only the edit is saved."""

    decision = forms.ChoiceField(required=False, choices=[(status, status) for status in Status])

    class Meta:
        model = EvaluationQuestion
        fields = ["text", "reference"]
        widgets = {"text": Textarea(attrs={"rows": 3}), "reference": Textarea(attrs={"rows": 5})}


class ReviewScreens(ScopedAdmin, QuestionModelAdmin):
    """The pages of review, to be mixed into the admin of questions."""

    def get_urls(self) -> list[URLPattern]:
        wrap = self.admin_site.admin_view
        start = require_safe(self.review_view)
        review = require_http_methods(["GET", "HEAD", "POST"])(self.question_view)
        return [
            path("review/", wrap(start), name="analytics_evaluationquestion_review"),
            path("review/<int:question_id>/", wrap(review), name="analytics_evaluationquestion_review_one"),
            *super().get_urls(),
        ]

    def review_view(self, request: HttpRequest) -> HttpResponse:
        """Open the first proposed question, of the set `set` and after the question `after` if these are given."""
        if not self.has_view_or_change_permission(request):
            raise PermissionDenied
        proposed = self.get_queryset(request).filter(status=Status.PROPOSED).order_by("pk")
        chosen, after = request.GET.get("set", ""), request.GET.get("after", "")
        if chosen.isdecimal():
            proposed = proposed.filter(evaluation_set=int(chosen))
        question = (proposed.filter(pk__gt=int(after)).first() if after.isdecimal() else None) or proposed.first()
        if question is None:
            self.message_user(request, _("No question waits for review."), messages.SUCCESS)
            address = reverse("admin:analytics_evaluationquestion_changelist")
            return redirect(f"{address}?evaluation_set__id__exact={chosen}" if chosen.isdecimal() else address)
        return redirect("admin:analytics_evaluationquestion_review_one", question.pk)

    def question_view(self, request: HttpRequest, question_id: int) -> HttpResponse:
        """Show a question beside the passages that answer it; a POST decides on it and opens the next one."""
        question = get_object_or_404(self.get_queryset(request).select_related("evaluation_set"), pk=question_id)
        if not self.has_view_or_change_permission(request, question):
            raise PermissionDenied
        may_change = self.has_change_permission(request, question)
        form = ReviewForm(request.POST or None, instance=question)
        if request.method == "POST":
            if not may_change:
                raise PermissionDenied
            if form.is_valid():
                self._decide(request, question_id, form.cleaned_data)
                if not form.cleaned_data["decision"]:
                    return redirect("admin:analytics_evaluationquestion_review_one", question_id)
                address = reverse("admin:analytics_evaluationquestion_review")
                return redirect(f"{address}?set={question.evaluation_set_id}&after={question_id}")
        judgments = question.judgments.select_related("document").defer("document__text").order_by("pk")
        context = {
            **self.admin_site.each_context(request),
            "title": _("Review a question"),
            "opts": self.opts,
            "question": question,
            "form": form,
            "judgments": [(judgment, group_units(judgment)) for judgment in judgments],
            "left": question.evaluation_set.questions.filter(status=Status.PROPOSED).count(),
            "may_change": may_change,
            "may_see_documents": request.user.has_perm("knowledge.view_document")
            or request.user.has_perm("knowledge.change_document"),
            "media": self.media,
        }
        return TemplateResponse(request, "admin/analytics/evaluationquestion/review.html", context)

    @transaction.atomic
    def _decide(self, request: HttpRequest, question_id: int, cleaned: dict[str, Any]) -> None:
        """Save the decision, and what was written unless the question is rejected."""
        question = EvaluationQuestion.objects.select_for_update().get(pk=question_id)
        decision, changed = cleaned["decision"], []
        if decision != Status.REJECTED and edit_question(
            question=question, text=cleaned["text"], reference=cleaned["reference"]
        ):
            changed += ["text", "reference"]
        if decision and set_question_status(questions=[question], status=decision):
            changed.append("status")
        if changed:
            self.log_change(request, question, [{"changed": {"fields": changed}}])
        said = {
            Status.ACCEPTED: _("Accepted: %(question)s"),
            Status.REJECTED: _("Rejected: %(question)s"),
        }.get(decision, _("Saved: %(question)s"))
        self.message_user(request, said % {"question": question}, messages.SUCCESS)


def group_units(judgment: Judgment) -> list[tuple[str, list[str]]]:
    """Return the sentences and propositions that answer, by kind."""
    texts: dict[str, list[str]] = {}
    for unit in judgment.units or ():
        texts.setdefault(str(Granularity(unit["granularity"]).label), []).append(unit["text"])
    return list(texts.items())


if TYPE_CHECKING:
    JudgmentTabularInline = admin.TabularInline[Judgment, EvaluationQuestion]
else:
    JudgmentTabularInline = admin.TabularInline


def kept_judgments(formset: Any) -> list[Judgment]:
    """Return the judgments of a valid formset that are not to be deleted."""
    kept = [form for form in formset.forms if form not in formset.deleted_forms]
    return [form.instance for form in kept if form.cleaned_data.get("document")]


class JudgmentFormSet(LabelledFormSet):
    def clean(self) -> None:
        super().clean()
        if not any(self.errors) and self.instance.evaluation_set_id:
            check_judgments(self.instance, kept_judgments(self))


class JudgedFilter(admin.SimpleListFilter):
    title = gettext_lazy("documents")
    parameter_name = "judged"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", gettext_lazy("Linked")), ("no", gettext_lazy("None linked"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        judged = Exists(Judgment.objects.filter(question=OuterRef("pk"), grade__gt=0))
        return {"yes": queryset.filter(judged), "no": queryset.filter(~judged)}.get(self.value() or "", queryset)


class JudgmentInline(JudgmentTabularInline):
    """Judgments are part of their question: who may change it may change them."""

    model = Judgment
    formset = JudgmentFormSet
    fields = ["document", "grade"]
    autocomplete_fields = ["document"]
    extra = 1
    verbose_name = gettext_lazy("document")
    verbose_name_plural = gettext_lazy("Documents that answer it")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Judgment]:
        return super().get_queryset(request).select_related("document").defer("document__text")

    def _may_edit(self, request: HttpRequest, question: EvaluationQuestion | None) -> bool:
        user = request.user
        if question is None:
            return user.has_perm("analytics.add_evaluationquestion")
        return user.has_perm("analytics.change_evaluationquestion") and not question.evaluation_set.fingerprint

    def has_add_permission(self, request: HttpRequest, obj: EvaluationQuestion | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_change_permission(self, request: HttpRequest, obj: EvaluationQuestion | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: EvaluationQuestion | None = None) -> bool:
        return self._may_edit(request, obj)

    def has_view_permission(self, request: HttpRequest, obj: EvaluationQuestion | None = None) -> bool:
        user = request.user
        return user.has_perm("analytics.view_evaluationquestion") or self._may_edit(request, obj)


@admin.register(EvaluationQuestion)
class EvaluationQuestionAdmin(ReviewScreens):
    list_display = ["text", "evaluation_set", "answerable", "is_judged", "status"]
    list_filter = [("evaluation_set", ScopedFilter), "status", "answerable", JudgedFilter]
    list_select_related = ["evaluation_set"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["text", "reference"]
    search_help_text = gettext_lazy("Searches questions and reference answers.")
    actions = ["accept", "reject"]
    inlines = [JudgmentInline]
    fields = ["evaluation_set", "text", "answerable", "reference", "status"]
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 4, "class": "vLargeTextField"})}}

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "analytics/admin.css"]}

    # --- who may ---

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Hide the model in the menu: questions are reached from their set."""
        return False

    def has_change_permission(self, request: HttpRequest, obj: EvaluationQuestion | None = None) -> bool:
        return super().has_change_permission(request, obj) and not (obj and obj.evaluation_set.fingerprint)

    def has_delete_permission(self, request: HttpRequest, obj: EvaluationQuestion | None = None) -> bool:
        return super().has_delete_permission(request, obj) and not (obj and obj.evaluation_set.fingerprint)

    def has_view_permission(self, request: HttpRequest, obj: EvaluationQuestion | None = None) -> bool:
        return super().has_view_permission(request) or super().has_change_permission(request)

    # --- what is shown ---

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvaluationQuestion]:
        judged = Exists(Judgment.objects.filter(question=OuterRef("pk"), grade__gt=0))
        questions: QuerySet[EvaluationQuestion] = super().get_queryset(request)
        return questions.annotate(judged_now=judged).select_related("evaluation_set")

    def row_title(self, request: HttpRequest, question: EvaluationQuestion) -> str:
        """Return its text, which may be a student's question: who may only delete it does not read it."""
        return question.text if self.has_view_permission(request, question) else str(question)

    @admin.display(description=gettext_lazy("documents linked"), boolean=True, ordering="judged_now")
    def is_judged(self, question: Any) -> bool:
        return cast("bool", question.judged_now)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Offer staff's own sets alone."""
        if db_field.name == "evaluation_set":
            kwargs["queryset"] = EvaluationSet.objects.filter(fingerprint="")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the questions and count their judgments and results."""
        listed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return [item for item in listed if isinstance(item, str)], counts, lacking, protected

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: EvaluationQuestion, form: Any, change: bool) -> None:
        """Leave saving to `save_related`, which saves a question with its judgments."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        (formset,) = formsets
        formset.save(commit=False)  # notes what changed, for the history
        save_question(question=form.instance, judgments=kept_judgments(formset))

    @admin.action(description=gettext_lazy("Accept the selected questions"), permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[EvaluationQuestion]) -> None:
        count = self._set_status(request, queryset, Status.ACCEPTED)
        self.message_user(request, ngettext("%d question was accepted.", "%d questions were accepted.", count) % count)

    @admin.action(description=gettext_lazy("Reject the selected questions"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[EvaluationQuestion]) -> None:
        count = self._set_status(request, queryset, Status.REJECTED)
        self.message_user(request, ngettext("%d question was rejected.", "%d questions were rejected.", count) % count)

    def _set_status(self, request: HttpRequest, queryset: QuerySet[EvaluationQuestion], status: Status) -> int:
        own = [question for question in queryset if not question.evaluation_set.fingerprint]
        changing = [question for question in own if question.status != status]
        for question in changing:
            self.log_change(request, question, [{"changed": {"fields": ["status"]}}])
        return set_question_status(questions=changing, status=status)
