"""A run's answers on its page: tables, and how many questions of each kind have enough evidence to be answered."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext as _

from analytics.admin.charts import chart_of, styles_of
from analytics.admin.history import Figure
from analytics.evaluation.answer_report import Line, Table, answer_table, memory_table, reasons, selectivity_lines
from analytics.models import EvaluationRun

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
    figure: Figure | None


def answers_of(run: EvaluationRun) -> Answers | None:
    """None where the questions were not answered."""
    results = run.results.get("answers")
    if results is None:
        return None
    table = answer_table(results)
    because = [(_(reason), labels) for reason, labels in reasons(table).items()]
    return Answers(results, table, memory_table(results), selectivity_lines(results), because, _figure(results))


def _figure(results: Mapping[str, Any]) -> Figure | None:
    """None where nobody said which questions can be answered."""
    points = results["selectivity_curve"][::STEP]
    names = {"answerable": _("answerable"), "unanswerable": _("not answerable")}
    values = {
        label: {place: point[name] for place, point in enumerate(points) if point[name] is not None}
        for name, label in names.items()
    }
    chart = chart_of(_("Enough evidence"), styles_of(list(names.values())), values, places=len(points))
    if chart is None:
        return None
    letters = ", ".join(f"{line.style.letter}: {line.style.name}" for line in chart.lines)
    said = _("The share of questions with enough evidence, by the threshold from 0 to 1 in steps of 0.1. %(letters)s.")
    return Figure("evidence", chart, said % {"letters": letters})
