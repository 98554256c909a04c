"""Where staff start a run, watch it, and see how each question went."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Page, Paginator
from django.db.models import F, Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.loader import render_to_string
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST, require_safe

from analytics.charts import Chart, ChartRow, chart_data
from analytics.evaluation.admin.history import MEASURED, measure_text, value_of, worse_in
from analytics.evaluation.admin.sets import CompareForm, RunForm
from analytics.evaluation.answers.options import AnswerOptions
from analytics.evaluation.answers.report import Line, Table, answer_table, memory_table, reasons, selectivity_lines
from analytics.evaluation.comparison import TESTED, compare
from analytics.evaluation.runner import ACTIVE, SIGNIFICANT
from analytics.evaluation.services import cancel_run, start_runs
from analytics.models import EvaluationRun, EvaluationSet, Judgment, QuestionResult
from chat.pipeline.retrieval.profiles import UnknownProfile, get_profile, profile_names
from chat.services.profiles import lacking
from core.admin.scoped import ScopedAdmin, ScopedFilter
from knowledge.models import Document

A_PAGE = 25
#: A right document that comes later is missed.
LAST = 10
MRR, EVIDENCE = F("measures__mrr"), F("evidence")
SORTS: Mapping[str, tuple[str | Promise, tuple[Any, ...]]] = {
    "": (_("as in the set"), ()),
    "mrr": (_("lowest MRR first"), (MRR.asc(nulls_last=True),)),
    "-mrr": (_("highest MRR first"), (MRR.desc(nulls_last=True),)),
    "evidence": (_("least evidence first"), (EVIDENCE.asc(nulls_last=True),)),
    "-evidence": (_("most evidence first"), (EVIDENCE.desc(nulls_last=True),)),
}
KINDS: Mapping[str, str | Promise] = {
    "": _("All"),
    "missed": _("missed: no right document among the first 10"),
    "abstains": _("would abstain, but is answerable"),
    "answers": _("would answer, but is not answerable"),
    "unjudged": _("no judgment"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A document of the first ones retrieved; None: it was deleted since."""

    document: Document | None
    is_right: bool


@dataclass(frozen=True, slots=True)
class Row:
    """`rank` is that of the first right document within the first 100; None where there was none."""

    result: QuestionResult
    rank: int | None
    is_judged: bool
    is_missed: bool
    abstains: bool | None
    found: Sequence[Found]
    right: Sequence[Judgment]


def threshold_of(run: EvaluationRun) -> float | None:
    """Below it an assistant with this profile abstains, as the profile is now; None where it is gone."""
    try:
        return get_profile(run.profile).threshold
    except UnknownProfile:
        return None


def results_of(run: EvaluationRun, *, kind: str, sort: str, threshold: float | None) -> QuerySet[QuestionResult]:
    results = run.question_results.all()
    if kind == "missed":
        results = results.filter(**{f"measures__recall@{LAST}": 0})
    elif kind == "unjudged":
        results = results.filter(measures={})
    elif kind == "abstains" and threshold is not None:
        results = results.filter(question__answerable=True, evidence__lt=threshold)
    elif kind == "answers" and threshold is not None:
        results = results.filter(question__answerable=False, evidence__gte=threshold)
    _label, order = SORTS.get(sort, SORTS[""])
    judgments = Judgment.objects.select_related("document").defer("document__text").order_by("-grade", "pk")
    return results.order_by(*order, "question").prefetch_related(
        Prefetch("question__judgments", judgments, to_attr="right"), "question"
    )


def rows_of(page: Page[QuestionResult], threshold: float | None) -> list[Row]:
    """In a constant number of queries."""
    results = list(page)
    shown = {document for result in results for document in result.ranking}
    documents = Document.objects.filter(pk__in=shown).only("title", "url").in_bulk()
    return [_row(result, documents, threshold) for result in results]


def _row(result: Any, documents: Mapping[int, Document], threshold: float | None) -> Row:
    right = [judgment for judgment in result.question.right if judgment.grade > 0]
    reciprocal = result.measures.get("mrr")
    rank = round(1 / reciprocal) if reciprocal else None
    return Row(
        result,
        rank,
        bool(result.measures),
        bool(result.measures) and (rank is None or rank > LAST),
        None if threshold is None or result.evidence is None else result.evidence < threshold,
        _found(result.ranking, documents, {judgment.document_id for judgment in right}),
        right,
    )


def _found(ranking: Iterable[int], documents: Mapping[int, Document], right: set[int]) -> list[Found]:
    return [Found(documents.get(document), document in right) for document in ranking]


#: Of the curve's points, every fifth is drawn.
STEP = 5


@dataclass(frozen=True, slots=True)
class Answers:
    """What `run.results["answers"]` holds, to be shown; `reasons` are why measures are missing, with their labels."""

    results: Mapping[str, Any]
    table: Table
    memory: Table | None
    selectivity: Sequence[Line]
    reasons: Sequence[tuple[str, Sequence[str | Promise]]]
    chart: Chart | None


def answers_of(run: EvaluationRun) -> Answers | None:
    """None where the questions were not answered."""
    results = run.results.get("answers")
    if results is None:
        return None
    table = answer_table(results)
    because = [(gettext(reason), labels) for reason, labels in reasons(table).items()]
    return Answers(results, table, memory_table(results), selectivity_lines(results), because, _evidence_chart(results))


def _evidence_chart(results: Mapping[str, Any]) -> Chart | None:
    """Return the selectivity curve, or None if no question says whether it can be answered."""
    points = results["selectivity_curve"][::STEP]
    names = {"answerable": gettext("answerable"), "unanswerable": gettext("not answerable")}
    series = {label: [point[name] for point in points] for name, label in names.items()}
    if all(value is None for values in series.values() for value in values):
        return None
    labels = [number_format(point["threshold"], 1) for point in points]
    return Chart(
        "evidence",
        gettext("Enough evidence"),
        gettext("The share of questions with enough evidence, by the threshold from 0 to 1 in steps of 0.1."),
        [gettext("Threshold"), *series],
        [
            ChartRow(label, [measure_text(value) for value in values])
            for label, *values in zip(labels, *series.values(), strict=True)
        ],
        chart_data("measure", labels, series),
    )


FLIPS_SHOWN = 100


def compare_view(request: HttpRequest, evaluation_set: EvaluationSet, *, opts: Any, media: Any) -> HttpResponse:
    """Who may see runs is the caller's to check."""
    form = CompareForm(request.GET, evaluation_set=evaluation_set)
    if not form.is_valid():
        raise Http404
    before, after = form.cleaned_data["before"], form.cleaned_data["after"]
    found = compare(before, after)
    old, new = found.means
    rows = [
        (label, old[name], new[name], new[name] - old[name], verdict(found.p_values[name]) if name in TESTED else "")
        for name, label in MEASURED.items()
        if name in old
    ]
    curves = value_of(before, "auroc"), value_of(after, "auroc")
    better = sum(flip.is_better for flip in found.flips)
    context = {
        **admin.site.each_context(request),
        "title": gettext("%(before)s and %(after)s compared") % {"before": before.profile, "after": after.profile},
        "opts": opts,
        "media": media,
        "evaluation_set": evaluation_set,
        "form": form,
        "before": before,
        "after": after,
        "rows": rows,
        "curves": curves,
        "better": better,
        "worse": len(found.flips) - better,
        "flips": found.flips[:FLIPS_SHOWN],
        "more": max(0, len(found.flips) - FLIPS_SHOWN),
    }
    return TemplateResponse(request, "admin/analytics/evaluationrun/compare.html", context)


def verdict(p: float) -> str:
    """What a p value says, in plain words."""
    given = {"p": number_format(p, 3)}
    if p < SIGNIFICANT:
        return gettext("hardly chance (p = %(p)s)") % given
    return gettext("the difference may be chance (p = %(p)s)") % given


if TYPE_CHECKING:
    RunModelAdmin = admin.ModelAdmin[EvaluationRun]
else:
    RunModelAdmin = admin.ModelAdmin


State = EvaluationRun.State


def said(run: EvaluationRun) -> str:
    """Why it failed, in the reader's language where it is one of our own sentences."""
    return gettext(run.message) if run.message else ""


def progress_of(run: EvaluationRun) -> str:
    """One sentence on how it goes."""
    if run.state == State.QUEUED:
        return gettext("Waits for its turn.")
    if run.state == State.RUNNING:
        counts = {"done": run.done, "total": run.total}
        if run.results:  # of retrieval, which comes first
            return gettext("%(done)s of %(total)s questions answered so far.") % counts
        return gettext("%(done)s of %(total)s questions so far.") % counts
    return said(run)


class ProfileFilter(admin.SimpleListFilter):
    """Offers the profiles that there are, without looking through all runs for them."""

    title = _("retrieval profile")
    parameter_name = "profile"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, name) for name in profile_names()]

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
        "There is no run yet. Open an evaluation set and start one: it measures how well a retrieval profile finds "
        "what answers the questions of the set."
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
        return render_to_string("admin/analytics/value.html", {"value": value_of(run, "mrr")})

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """Nothing can be changed: what was measured, and how each question went."""
        run = self.get_object(request, unquote(object_id))
        if run is None:
            raise Http404
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        kind, sort = request.GET.get("kind", ""), request.GET.get("sort", "")
        threshold = threshold_of(run)
        results = results_of(run, kind=kind, sort=sort, threshold=threshold)
        page = Paginator(results, A_PAGE).get_page(request.GET.get("p"))
        user = request.user
        context = {
            **self.admin_site.each_context(request),
            "title": f"{run.evaluation_set}: {run.profile}",
            "opts": self.opts,
            "run": run,
            "is_active": run.state in ACTIVE,
            "may_run": self.has_add_permission(request),
            "may_delete": self.has_delete_permission(request, run) and run.state not in ACTIVE,
            "may_see_documents": user.has_perm("knowledge.view_document") or user.has_perm("knowledge.change_document"),
            "may_try": user.has_perm("chat.view_conversation") or user.has_perm("faqs.view_faq"),
            "message": progress_of(run),
            "measures": [(label, value_of(run, name)) for name, label in MEASURED.items()],
            "answers": answers_of(run),
            "threshold": threshold,
            "collections": list(run.evaluation_set.collections.values_list("slug", flat=True)),
            "kind": kind if kind in KINDS else "",
            "sort": sort if sort in SORTS else "",
            "kinds": [(name, capfirst(str(label))) for name, label in KINDS.items()],
            "sorts": [(name, label) for name, (label, _order) in SORTS.items()],
            "page": page,
            "rows": rows_of(page, threshold),
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
        """What the page asks for every two seconds while the run goes on."""
        run = get_object_or_404(self.get_queryset(request), pk=run_id)
        if not self.has_view_permission(request, run):
            raise PermissionDenied
        state = {
            "state": run.get_state_display(),
            "message": progress_of(run),
            "counts": {"done": run.done, "total": run.total},
            "is_active": run.state in ACTIVE,
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
            "title": gettext("Run an evaluation"),
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
        """Names the runs; nobody reads a list of thousands of results."""
        runs = list(objs)
        return [str(run) for run in runs], {str(EvaluationRun._meta.verbose_name_plural): len(runs)}, set(), []
