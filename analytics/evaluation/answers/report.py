"""Reports on a run's answers: a table for the terminal and the admin, and single questions as JSON."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from analytics.evaluation.answers.summary import GROUPS, average_replies
from analytics.evaluation.metrics.answers import LABELS
from analytics.models import EvaluationRun, QuestionResult

TIMES: Mapping[str, str | Promise] = {
    "seconds": _("seconds an answer"),
    "first_token_seconds": _("seconds to the first word"),
}
COLUMNS: Mapping[str, str | Promise] = {
    "all": _("all"),
    "answerable": _("answerable"),
    "unanswerable": _("not answerable"),
    "single_turn": _("first questions"),
    "follow_up": _("follow-up questions"),
    "with_history": _("with history"),
    "without_history": _("without history"),
    "difference": _("difference"),
}
SELECTIVITY: Mapping[str, str | Promise] = {
    "answered_of_answerable": _("answered, of the answerable"),
    "refused_of_unanswerable": _("refused, of those not answerable"),
    "accuracy": _("accuracy"),
    "f1_answered": _("F1 of answering"),
    "f1_refused": _("F1 of refusing"),
}
#: Points of the curve shown on a terminal.
CURVE_STEP = 5


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the table; `because` says why it has no values."""

    label: str | Promise
    values: Sequence[float | None]
    because: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    columns: Sequence[str | Promise]
    counts: Sequence[int]
    lines: Sequence[Line]


def answer_table(answers: Mapping[str, Any]) -> Table:
    """List every measure by group of questions, without groups that are empty or all there is."""
    all_of_them = answers["all"]["questions"]
    names = [name for name in GROUPS if name == "all" or 0 < answers[name]["questions"] < all_of_them]
    lines = [
        Line(label, [answers[name][measure] for name in names], answers["unavailable"].get(measure, ""))
        for measure, label in LABELS.items()
    ]
    lines += [
        Line(f"{label}, {part}", [answers[name][measure][part] for name in names])
        for measure, label in TIMES.items()
        for part in ("p50", "p95")
    ]
    return Table([COLUMNS[name] for name in names], [answers[name]["questions"] for name in names], lines)


def reasons(table: Table) -> dict[str, list[str | Promise]]:
    """Return why measures are missing, with their labels."""
    found: dict[str, list[str | Promise]] = {}
    for line in table.lines:
        if line.because:
            found.setdefault(line.because, []).append(line.label)
    return found


def memory_table(answers: Mapping[str, Any]) -> Table | None:
    """Follow-up questions with and without history; None where that was not asked, or there are none."""
    found = answers.get("memory")
    if not found or not found["with_history"]["questions"]:
        return None
    names = ("with_history", "without_history", "difference")
    lines = [
        Line(label, [found[name][measure] for name in names])
        for measure, label in {**LABELS, **SELECTIVITY}.items()
        if found["difference"][measure] is not None
    ]
    return Table([COLUMNS[name] for name in names], [found["with_history"]["questions"]] * len(names), lines)


def selectivity_lines(answers: Mapping[str, Any]) -> list[Line]:
    return [Line(label, [answers["selectivity"][name]]) for name, label in SELECTIVITY.items()]


def answer_lines(run: EvaluationRun) -> Iterator[str]:
    """Markdown tables; nothing where the run has no answers."""
    answers = run.results.get("answers")
    if answers is None:
        return
    table = answer_table(answers)
    yield f"\nAnswers of {run.profile}, {answers['model'] or 'quoted, without a language model'}"
    yield f"judge: {answers['judge'] or 'none'}; answers a question: {answers['samples']}"
    if answers["model_failures"] or answers["judge_failures"]:
        yield f"failed: the model {answers['model_failures']} times, the judge {answers['judge_failures']} times"
    yield from _markdown(table)
    for reason, labels in reasons(table).items():
        yield f"– {', '.join(map(str, labels))}: {reason}"
    if of_memory := memory_table(answers):
        yield "\nFollow-up questions with and without what was said before"
        yield from _markdown(of_memory)
    if not answers["selectivity_curve"]:
        yield "\nSelectivity: – (no question says whether it can be answered)"
        return
    yield "\nSelectivity"
    for line in selectivity_lines(answers):
        yield f"{line.label}: {_cell(line.values[0])}"
    yield "with enough evidence, by threshold (answerable / not answerable)"
    for point in answers["selectivity_curve"][::CURVE_STEP]:
        yield f"{point['threshold']:.2f}: {_cell(point['answerable'])} / {_cell(point['unanswerable'])}"


def _markdown(table: Table) -> Iterator[str]:
    head = [f"{label} ({count})" for label, count in zip(table.columns, table.counts, strict=True)]
    yield f"| measure | {' | '.join(head)} |"
    yield f"|---|{'---:|' * len(head)}"
    for line in table.lines:
        yield f"| {line.label} | {' | '.join(map(_cell, line.values))} |"


def _cell(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def answer_json(row: QuestionResult) -> dict[str, Any]:
    """Return the part of `per_query` on a question's answers: its first reply, and all of them in `replies`."""
    if row.answer is None:
        return {}
    replies = row.answer["replies"]
    first = replies[0]
    return {
        **{name: first[name] for name in ("abstained", "declined", "reason", "rewritten", "strategy", "citations")},
        "answer": first["text"],
        "measures": {**row.measures, **average_replies(replies), "perplexity": row.answer["perplexity"]},
        "replies": replies,
        "without_history": row.answer["without_history"],
    }
