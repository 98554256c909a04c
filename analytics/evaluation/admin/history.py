"""The runs of an evaluation set: a table, and a chart for each measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.urls import reverse
from django.utils.formats import date_format, number_format
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from analytics.charts import Chart, ChartRow, chart_data
from analytics.models import EvaluationRun, EvaluationSet

SHOWN = 30
#: Measures of a history, by their names in the results.
CHARTED = {"mrr": "MRR", "recall@5": "R@5", "ndcg@10": "nDCG@10", "auroc": "AUROC"}
#: Measures of a run's page.
MEASURED = {
    "mrr": "MRR",
    "recall@1": "R@1",
    "recall@5": "R@5",
    "recall@10": "R@10",
    "recall@25": "R@25",
    "recall@50": "R@50",
    "recall@100": "R@100",
    "map@100": "MAP@100",
    "ndcg@10": "nDCG@10",
    "ndcg@100": "nDCG@100",
    "auroc": "AUROC",
}


@dataclass(frozen=True, slots=True)
class History:
    """The newest runs, newest first; `finished` of them are charted."""

    runs: Sequence[tuple[EvaluationRun, list[tuple[str, float | None]], str]]
    finished: Sequence[EvaluationRun]
    charts: Sequence[Chart]


def read_measure(run: EvaluationRun, name: str) -> float | None:
    """Return a measure of a run; None if it has not finished or nothing was judged."""
    if name == "auroc":
        found: Any = run.results.get("evidence", {}).get("auroc")
    else:
        found = run.results.get("retrieval", {}).get(name)
    return None if found is None else float(found)


def describe_recall(run: EvaluationRun) -> str:
    """Say in words how many of the right pages were found first; return "" if nothing was judged."""
    first, five = read_measure(run, "recall@1"), read_measure(run, "recall@5")
    if first is None or five is None:
        return ""
    shares = {"first": number_format(first * 100, 0), "five": number_format(five * 100, 0)}
    return (
        _("Of the pages that answer a question, %(first)s %% came first, %(five)s %% were among the first 5.") % shares
    )


def worse_in(run: EvaluationRun) -> str:
    """Name the measures that are significantly worse than in the run before; return "" if none is."""
    return ", ".join(MEASURED[name] for name in run.results.get("regression", {}).get("worse", ()))


def measure_text(value: float | None) -> str:
    return "–" if value is None else number_format(value, 3)


def build_history(evaluation_set: EvaluationSet) -> History:
    runs = list(evaluation_set.runs.order_by("-pk")[:SHOWN])
    finished = [run for run in runs if run.state == EvaluationRun.State.FINISHED]
    charts = []
    for name, label in CHARTED.items():
        measured = [(run, value) for run in finished if (value := read_measure(run, name)) is not None]
        if measured:
            charts.append(_chart(name.replace("@", "-"), label, measured[::-1]))
    rows = [(run, [(label, read_measure(run, name)) for name, label in CHARTED.items()], worse_in(run)) for run in runs]
    return History(rows, finished, charts)


def _chart(name: str, label: str, measured: Sequence[tuple[EvaluationRun, float]]) -> Chart:
    """Return one measure's chart: a line for each profile, from the oldest run to the newest."""
    profiles = sorted({run.profile for run, _value in measured})
    newest = {run.profile: value for run, value in measured}
    links = [reverse("admin:analytics_evaluationrun_change", args=[run.pk]) for run, _value in measured]
    summary = _("%(measure)s from the oldest run to the newest. Each profile’s newest run: %(newest)s.") % {
        "measure": label,
        "newest": "; ".join(f"{profile}: {measure_text(newest[profile])}" for profile in profiles),
    }
    series = {profile: [value if run.profile == profile else None for run, value in measured] for profile in profiles}
    rows = [
        ChartRow(_run_name(run), [run.profile, measure_text(value)], link)
        for (run, value), link in zip(measured, links, strict=True)
    ]
    data = chart_data("measure", [f"#{run.pk}" for run, _value in measured], series, links)
    return Chart(name, label, summary, [_("Run"), _("Retrieval profile"), label], rows, data)


def _run_name(run: EvaluationRun) -> str:
    return f"#{run.pk}, {date_format(localtime(run.created_at), 'SHORT_DATETIME_FORMAT')}"
