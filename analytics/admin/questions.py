"""Where staff keep the questions of a set, each with the documents that answer it."""

from typing import TYPE_CHECKING, Any, cast

from django.contrib import admin
from django.db import models
from django.db.models import Exists, OuterRef, QuerySet
from django.forms import Textarea
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from analytics.admin.review import ReviewScreens
from analytics.models import EvaluationQuestion, EvaluationSet, Judgment
from analytics.services import check_judgments, save_question, set_question_status
from knowledge.labelled_forms import LabelledFormSet
from knowledge.scoped_admin import OwnFilter

if TYPE_CHECKING:
    JudgmentTabularInline = admin.TabularInline[Judgment, EvaluationQuestion]
else:
    JudgmentTabularInline = admin.TabularInline

Status = EvaluationQuestion.Status


def kept_judgments(formset: Any) -> list[Judgment]:
    """The judgments of a valid formset that are not to be deleted."""
    kept = [form for form in formset.forms if form not in formset.deleted_forms]
    return [form.instance for form in kept if form.cleaned_data.get("document")]


class JudgmentFormSet(LabelledFormSet):
    def clean(self) -> None:
        super().clean()
        if not any(self.errors) and self.instance.evaluation_set_id:
            check_judgments(self.instance, kept_judgments(self))


class JudgedFilter(admin.SimpleListFilter):
    title = _("documents")
    parameter_name = "judged"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("yes", _("Linked")), ("no", _("None linked"))]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        judged = Exists(Judgment.objects.filter(question=OuterRef("pk"), grade__gt=0))
        return {"yes": queryset.filter(judged), "no": queryset.filter(~judged)}.get(self.value() or "", queryset)


class JudgmentInline(JudgmentTabularInline):
    """Judgments are part of their question: who may change it may change them."""

    model = Judgment
    formset = JudgmentFormSet
    fields = ["document", "grade"]
    raw_id_fields = ["document"]
    extra = 1
    verbose_name = _("document")
    verbose_name_plural = _("Documents that answer it")

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
    list_filter = [("evaluation_set", OwnFilter), "status", "answerable", JudgedFilter]
    list_select_related = ["evaluation_set"]
    list_per_page = 50
    show_full_result_count = False
    search_fields = ["text", "reference"]
    search_help_text = _("Searches questions and reference answers.")
    actions = ["accept", "reject"]
    inlines = [JudgmentInline]
    fields = ["evaluation_set", "text", "answerable", "reference", "status"]
    formfield_overrides = {models.TextField: {"widget": Textarea(attrs={"rows": 4, "class": "vLargeTextField"})}}

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "analytics/admin.css"]}

    # --- who may ---

    def has_module_permission(self, request: HttpRequest) -> bool:
        """Questions are reached from their set."""
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

    @admin.display(description=_("documents linked"), boolean=True, ordering="judged_now")
    def is_judged(self, question: Any) -> bool:
        return cast("bool", question.judged_now)

    def formfield_for_foreignkey(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        """Questions are added to staff's own sets."""
        if db_field.name == "evaluation_set":
            kwargs["queryset"] = EvaluationSet.objects.filter(fingerprint="")
        return super().formfield_for_foreignkey(db_field, request, **kwargs)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Names the questions and counts their judgments and results."""
        listed, counts, lacking, protected = super().get_deleted_objects(objs, request)
        return [item for item in listed if isinstance(item, str)], counts, lacking, protected

    # --- what is done ---

    def save_model(self, request: HttpRequest, obj: EvaluationQuestion, form: Any, change: bool) -> None:
        """A question is saved together with its judgments, below."""

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        (formset,) = formsets
        formset.save(commit=False)  # notes what changed, for the history
        save_question(question=form.instance, judgments=kept_judgments(formset))

    @admin.action(description=_("Accept the selected questions"), permissions=["change"])
    def accept(self, request: HttpRequest, queryset: QuerySet[EvaluationQuestion]) -> None:
        count = self._set_status(request, queryset, Status.ACCEPTED)
        self.message_user(request, ngettext("%d question was accepted.", "%d questions were accepted.", count) % count)

    @admin.action(description=_("Reject the selected questions"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[EvaluationQuestion]) -> None:
        count = self._set_status(request, queryset, Status.REJECTED)
        self.message_user(request, ngettext("%d question was rejected.", "%d questions were rejected.", count) % count)

    def _set_status(self, request: HttpRequest, queryset: QuerySet[EvaluationQuestion], status: Status) -> int:
        own = [question for question in queryset if not question.evaluation_set.fingerprint]
        changing = [question for question in own if question.status != status]
        for question in changing:
            self.log_change(request, question, [{"changed": {"fields": ["status"]}}])
        return set_question_status(questions=changing, status=status)
