"""What became of a set's runs: a table, and a chart for each measure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _

from analytics.admin.charts import Chart, Style, chart_of, styles_of
from analytics.models import EvaluationRun, EvaluationSet

SHOWN = 30
#: In a history, by the name in the results.
CHARTED = {"mrr": "MRR", "recall@5": "R@5", "ndcg@10": "nDCG@10", "auroc": "AUROC"}
#: All that a run's page tells.
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
class Figure:
    """A chart, and what it shows in words."""

    name: str
    chart: Chart
    description: str


@dataclass(frozen=True, slots=True)
class History:
    """The newest runs, newest first; `finished` of them are charted."""

    runs: Sequence[tuple[EvaluationRun, list[tuple[str, float | None]], str]]
    finished: Sequence[EvaluationRun]
    styles: Sequence[Style]
    figures: Sequence[Figure]


def value_of(run: EvaluationRun, name: str) -> float | None:
    """Of a measure; None where the run has not ended, or nothing was judged."""
    if name == "auroc":
        found: Any = run.results.get("evidence", {}).get("auroc")
    else:
        found = run.results.get("retrieval", {}).get(name)
    return None if found is None else float(found)


def worse_in(run: EvaluationRun) -> str:
    """The measures in which it is worse than the run before it by more than chance, in words; empty where in none."""
    return ", ".join(MEASURED[name] for name in run.results.get("regression", {}).get("worse", ()))


def history_of(evaluation_set: EvaluationSet) -> History:
    runs = list(evaluation_set.runs.order_by("-pk")[:SHOWN])
    finished = [run for run in runs if run.state == EvaluationRun.State.FINISHED]
    oldest_first = finished[::-1]
    styles = styles_of(sorted({run.profile for run in finished}))
    figures = []
    for name, label in CHARTED.items():
        values: dict[str, dict[int, float]] = {}
        for place, run in enumerate(oldest_first):
            if (value := value_of(run, name)) is not None:
                values.setdefault(run.profile, {})[place] = value
        chart = chart_of(label, styles, values, places=len(oldest_first))
        if chart:
            figures.append(Figure(name.replace("@", "-"), chart, _described(chart)))
    rows = [(run, [(label, value_of(run, name)) for name, label in CHARTED.items()], worse_in(run)) for run in runs]
    return History(rows, finished, styles, figures)


def _described(chart: Chart) -> str:
    newest = "; ".join(
        f"{line.style.letter} {line.style.name}: {number_format(line.newest, 3)}" for line in chart.lines
    )
    return _("%(measure)s from the oldest run to the newest. Each profile’s newest run: %(newest)s.") % {
        "measure": chart.title,
        "newest": newest,
    }
