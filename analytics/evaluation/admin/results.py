"""The results of a run, question by question, and the comparison of two runs."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import admin
from django.core.paginator import Page
from django.db.models import F, Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.formats import number_format
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from analytics.charts import Chart, ChartRow, chart_data
from analytics.evaluation.admin.history import MEASURED, measure_text, read_measure
from analytics.evaluation.admin.sets import CompareForm
from analytics.evaluation.answers.report import Line, Table, answer_table, memory_table, reasons, selectivity_lines
from analytics.evaluation.comparison import TESTED, compare
from analytics.evaluation.runner import SIGNIFICANT
from analytics.models import EvaluationRun, EvaluationSet, Judgment, QuestionResult
from chat.pipeline.retrieval.profiles import UnknownProfile, get_profile
from knowledge.models import Document

#: Last rank at which a right document counts as found.
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
    "abstains": _("would get no answer, but is answerable"),
    "answers": _("would answer, but is not answerable"),
    "unjudged": _("no judgment"),
}


@dataclass(frozen=True, slots=True)
class Found:
    """A retrieved document; None if it was deleted since."""

    document: Document | None
    is_right: bool


@dataclass(frozen=True, slots=True)
class Row:
    """The result of one question; `rank` is that of the first right document, None if none is in the first 100."""

    result: QuestionResult
    rank: int | None
    is_judged: bool
    is_missed: bool
    abstains: bool | None
    found: Sequence[Found]
    right: Sequence[Judgment]


def read_threshold(run: EvaluationRun) -> float | None:
    """Return the evidence below which the profile abstains now; None if the profile is deleted."""
    try:
        return get_profile(run.profile).threshold
    except UnknownProfile:
        return None


def select_results(run: EvaluationRun, *, kind: str, sort: str, threshold: float | None) -> QuerySet[QuestionResult]:
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


def build_rows(page: Page[QuestionResult], threshold: float | None) -> list[Row]:
    """Build the rows of a page in a constant number of queries."""
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


#: Every fifth point of the curve is drawn.
STEP = 5


@dataclass(frozen=True, slots=True)
class Answers:
    """The answers of a run, to be shown; `reasons` say why measures are missing, with their labels."""

    results: Mapping[str, Any]
    table: Table
    memory: Table | None
    selectivity: Sequence[Line]
    reasons: Sequence[tuple[str, Sequence[str | Promise]]]
    chart: Chart | None


def summarise_answers(run: EvaluationRun) -> Answers | None:
    """Summarise the answers of a run; return None if the questions were not answered."""
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
    """Show two runs side by side; the caller checks who may see them."""
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
    curves = read_measure(before, "auroc"), read_measure(after, "auroc")
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
    """Say in plain words what a p value means."""
    given = {"p": number_format(p, 3)}
    if p < SIGNIFICANT:
        return gettext("hardly chance (p = %(p)s)") % given
    return gettext("the difference may be chance (p = %(p)s)") % given
