"""The screens of runs: start, progress, results."""

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from analytics.evaluation.admin.history import MEASURED, describe_recall, read_measure, worse_in
from analytics.evaluation.admin.results import (
    KINDS,
    SORTS,
    build_rows,
    compare_view,
    read_threshold,
    select_results,
    summarise_answers,
)
from analytics.evaluation.admin.sets import RunForm
from analytics.evaluation.answers.options import AnswerOptions
from analytics.evaluation.services import cancel_run, start_runs
from analytics.models import EvaluationRun, EvaluationSet
from chat.models import RetrievalProfile
from chat.services.profiles import lacking
from core.admin.scoped import ScopedAdmin, ScopedFilter

A_PAGE = 25

if TYPE_CHECKING:
    RunModelAdmin = admin.ModelAdmin[EvaluationRun]
else:
    RunModelAdmin = admin.ModelAdmin


State = EvaluationRun.State


def said(run: EvaluationRun) -> str:
    """Return why a run failed, in the reader's language if the catalogue has the sentence."""
    return gettext(run.message) if run.message else ""


def describe_progress(run: EvaluationRun) -> str:
    """Say in one sentence how far a run is."""
    if run.state == State.QUEUED:
        return gettext("Waits for its turn.")
    if run.state == State.RUNNING:
        counts = {"done": run.done, "total": run.total}
        if run.results:  # of retrieval, which comes first
            return gettext("%(done)s of %(total)s questions answered so far.") % counts
        return gettext("%(done)s of %(total)s questions so far.") % counts
    return said(run)


class ProfileFilter(admin.SimpleListFilter):
    """Offers the existing profiles, without a query over all runs."""

    title = _("retrieval profile")
    parameter_name = "profile"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(profile.name, profile.choice_label) for profile in RetrievalProfile.objects.for_choice()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(profile=self.value()) if self.value() else queryset


@admin.register(EvaluationRun)
class EvaluationRunAdmin(ScopedAdmin, RunModelAdmin):
    list_display = ["begun", "evaluation_set", "profile", "state_now", "mrr", "regression", "requested_by"]
    list_filter = ["state", ("evaluation_set", ScopedFilter), ProfileFilter]
    show_full_result_count = False
    list_select_related = ["evaluation_set", "requested_by"]
    list_per_page = 50
    actions = None
    nothing_yet = _(
        "There is no run yet. Open a set of test questions and start one: it measures how well a retrieval profile "
        "finds what answers the questions of the set."
    )

    class Media:
        css = {"all": ["knowledge/admin.css", "knowledge/screens.css", "analytics/admin.css"]}

    def get_urls(self) -> list[URLPattern]:
        wrap, name = self.admin_site.admin_view, "analytics_evaluationrun"
        return [
            path("<int:run_id>/progress/", wrap(require_safe(self.progress_view)), name=f"{name}_progress"),
            path("<int:run_id>/cancel/", wrap(require_POST(self.cancel_view)), name=f"{name}_cancel"),
            path("compare/<int:set_id>/", wrap(require_safe(self.compare_view)), name=f"{name}_compare"),
            *super().get_urls(),
        ]

    def has_change_permission(self, request: HttpRequest, obj: EvaluationRun | None = None) -> bool:
        return False

    # --- what is shown ---

    @admin.display(description=_("begun"), ordering="pk")
    def begun(self, run: EvaluationRun) -> Any:
        return run.created_at

    @admin.display(description=_("state"), ordering="state")
    def state_now(self, run: EvaluationRun) -> str:
        return render_to_string("admin/analytics/evaluationrun/state.html", {"run": run, "message": said(run)})

    @admin.display(description="MRR")
    def mrr(self, run: EvaluationRun) -> str:
        return render_to_string("admin/analytics/value.html", {"value": read_measure(run, "mrr")})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Show what was measured and how each question went; nothing can be changed."""
        run = self.get_object(request, unquote(object_id))
        if run is None:
            raise Http404
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        kind, sort = request.GET.get("kind", ""), request.GET.get("sort", "")
        threshold = read_threshold(run)
        results = select_results(run, kind=kind, sort=sort, threshold=threshold)
        page = Paginator(results, A_PAGE).get_page(request.GET.get("p"))
        user = request.user
        context = {
            **self.admin_site.each_context(request),
            "title": f"{run.evaluation_set}: {run.profile}",
            "opts": self.opts,
            "run": run,
            "is_active": run.is_active,
            "may_run": self.has_add_permission(request),
            "may_delete": self.has_delete_permission(request, run) and not run.is_active,
            "may_see_documents": user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document"),
            "may_try": user.has_perm("chat.view_conversation") or user.has_perm("faqs.view_faq"),
            "message": describe_progress(run),
            "measures": [(label, read_measure(run, name)) for name, label in MEASURED.items()],
            "in_words": describe_recall(run),
            "answers": summarise_answers(run),
            "threshold": threshold,
            "collections": list(run.evaluation_set.collections.values_list("slug", flat=True)),
            "kind": kind if kind in KINDS else "",
            "sort": sort if sort in SORTS else "",
            "kinds": [(name, capfirst(str(label))) for name, label in KINDS.items()],
            "sorts": [(name, label) for name, (label, _order) in SORTS.items()],
            "page": page,
            "rows": build_rows(page, threshold),
            "pages": page.paginator.get_elided_page_range(page.number, on_each_side=2, on_ends=1),
            "media": self.media,
        }
        return TemplateResponse(request, "admin/analytics/evaluationrun/change_form.html", context)

    @admin.display(description=_("worse than before"))
    def regression(self, run: EvaluationRun) -> str:
        return worse_in(run)

    def get_queryset(self, request: HttpRequest) -> QuerySet[EvaluationRun]:
        runs: QuerySet[EvaluationRun] = super().get_queryset(request)
        return runs.select_related("evaluation_set", "requested_by")

    def progress_view(self, request: HttpRequest, run_id: int) -> JsonResponse:
        """Return what the page polls every two seconds while the run is active."""
        run = get_object_or_404(self.get_queryset(request), pk=run_id)
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        state = {
            "state": run.get_state_display(),
            "message": describe_progress(run),
            "counts": {"done": run.done, "total": run.total},
            "is_active": run.is_active,
        }
        return JsonResponse(state, headers={"Cache-Control": "no-store"})

    def compare_view(self, request: HttpRequest, set_id: int) -> HttpResponse:
        if not self.has_view_permission(request):
            raise PermissionDenied
        evaluation_set = get_object_or_404(EvaluationSet.objects.visible_to(request.user), pk=set_id)
        return compare_view(request, evaluation_set, opts=self.opts, media=self.media)

    # --- what is done ---

    def add_view(
        self, request: HttpRequest, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Choose a set and profiles; one run begins for each profile."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        profiles_named = request.GET.getlist("profiles") or ["default"]
        first = EvaluationSet.objects.visible_to(request.user).first()
        chosen = {"evaluation_set": first, "profiles": profiles_named}
        sent = request.POST if request.method == "POST" else None
        form = RunForm(sent, initial=chosen, user=request.user)
        if request.method == "POST" and form.is_valid():
            profiles = list(form.cleaned_data["profiles"])
            evaluation_set = form.cleaned_data["evaluation_set"]
            try:
                runs = start_runs(
                    evaluation_set=evaluation_set,
                    profiles=[profile.name for profile in profiles],
                    answers=AnswerOptions() if form.cleaned_data["answers"] else None,
                    by=request.user if request.user.is_authenticated else None,
                )
            except ValidationError as error:
                form.add_error("evaluation_set", error)
            else:
                for profile in profiles:
                    for problem in lacking(profile):
                        self.message_user(request, f"“{profile}”: {problem}", messages.WARNING)
                return self._started(request, evaluation_set, runs)
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Try the test questions"),
            "opts": self.opts,
            "form": form,
            "media": self.media,
        }
        return TemplateResponse(request, "admin/analytics/evaluationrun/start.html", context)

    def _started(self, request: HttpRequest, evaluation_set: EvaluationSet, runs: list[EvaluationRun]) -> HttpResponse:
        for run in runs:
            self.log_addition(request, run, [{"added": {}}])
        message = ngettext("%d run begins.", "%d runs begin.", len(runs)) % len(runs)
        self.message_user(request, message, messages.SUCCESS)
        if len(runs) == 1:
            return redirect("admin:analytics_evaluationrun_change", runs[0].pk)
        return redirect("admin:analytics_evaluationset_change", evaluation_set.pk)

    def cancel_view(self, request: HttpRequest, run_id: int) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        run = get_object_or_404(self.get_queryset(request), pk=run_id)
        if cancel_run(run=run):
            self.log_change(request, run, gettext("stopped"))
        self.message_user(request, gettext("The run was stopped; nothing of it is kept."))
        return redirect("admin:analytics_evaluationrun_change", run.pk)

    def get_deleted_objects(
        self, objs: Any, request: HttpRequest
    ) -> tuple[list[Any], dict[str, int], set[str], list[Any]]:
        """Name the runs; nobody reads a list of thousands of results."""
        runs = list(objs)
        return [str(run) for run in runs], {str(EvaluationRun._meta.verbose_name_plural): len(runs)}, set(), []
