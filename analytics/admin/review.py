"""Where staff go through proposed questions one by one: accept, reject, or put right what a language model wrote."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from analytics.models import EvaluationQuestion, Judgment
from analytics.question_services import edit_question
from analytics.services import set_question_status
from knowledge.models import Granularity
from knowledge.scoped_admin import ScopedAdmin

if TYPE_CHECKING:
    QuestionModelAdmin = admin.ModelAdmin[EvaluationQuestion]
    QuestionBaseForm = forms.ModelForm[EvaluationQuestion]
else:
    QuestionModelAdmin, QuestionBaseForm = admin.ModelAdmin, forms.ModelForm

Status = EvaluationQuestion.Status


class ReviewForm(QuestionBaseForm):
    """`decision` is empty where only the edit is kept."""

    decision = forms.ChoiceField(required=False, choices=[(status, status) for status in Status])

    class Meta:
        model = EvaluationQuestion
        fields = ["text", "reference"]
        widgets = {"text": forms.Textarea(attrs={"rows": 3}), "reference": forms.Textarea(attrs={"rows": 5})}


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
        """Opens the first proposed question: of the set `set`, and after the question `after` where they are given."""
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
        """A question beside the passages that answer it; a POST decides, and opens the next one."""
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
            "judgments": [(judgment, units_of(judgment)) for judgment in judgments],
            "left": question.evaluation_set.questions.filter(status=Status.PROPOSED).count(),
            "may_change": may_change,
            "may_see_documents": request.user.has_perm("knowledge.view_document")
            or request.user.has_perm("knowledge.change_document"),
            "media": self.media,
        }
        return TemplateResponse(request, "admin/analytics/evaluationquestion/review.html", context)

    @transaction.atomic
    def _decide(self, request: HttpRequest, question_id: int, cleaned: dict[str, Any]) -> None:
        """What was written is kept unless the question is rejected."""
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


def units_of(judgment: Judgment) -> list[tuple[str, list[str]]]:
    """What answers at finer grain, by kind."""
    texts: dict[str, list[str]] = {}
    for unit in judgment.units or ():
        texts.setdefault(str(Granularity(unit["granularity"]).label), []).append(unit["text"])
    return list(texts.items())
