"""Runs as a table for people and as JSON for programs."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

from analytics.evaluation.answers.report import answer_json
from analytics.evaluation.comparison import Comparison
from analytics.evaluation.coverage import Coverage, Share, Spread, measure_coverage
from analytics.models import EvaluationRun
from knowledge.models import Document

COLUMNS = ("mrr", "recall@1", "recall@5", "recall@10", "recall@100", "map@100", "ndcg@10")
FLIPS_SHOWN = 40


def as_json(run: EvaluationRun) -> dict[str, Any]:
    """Return what `manage.py evaluate --json` writes."""
    rows = list(run.question_results.select_related("question").order_by("question"))
    shown = {document for row in rows for document in row.ranking}
    ids = dict(Document.objects.filter(pk__in=shown).values_list("pk", "external_id"))
    return {
        "dataset": run.evaluation_set.name,
        "profile": run.profile,
        "rewrites": run.rewrites,
        **run.results,
        "coverage": asdict(measure_coverage(run.evaluation_set)),
        "per_query": [
            {
                "id": row.question.external_id,
                "text": row.question.text,
                "measures": row.measures,
                "evidence": row.evidence,
                "seconds": row.seconds,
                "ranking": [ids.get(document, "") for document in row.ranking],
                **answer_json(row),
            }
            for row in rows
        ],
    }


def table_lines(runs: Sequence[EvaluationRun]) -> Iterator[str]:
    """Yield a Markdown table, one run a row."""
    head = ("profile", "judged", *COLUMNS, "AUROC", "ms p50", "ms p95")
    yield f"{runs[0].evaluation_set.name}, {runs[0].results['queries']} questions"
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for run in runs:
        found, curve = run.results["retrieval"], run.results["evidence"]["auroc"]
        cells = [run.profile, str(run.results["judged"])]
        cells += [f"{found[name]:.3f}" if found else "–" for name in COLUMNS]
        cells += ["–" if curve is None else f"{curve:.3f}"]
        cells += [f"{seconds * 1000:.1f}" if seconds else "–" for seconds in run.results["seconds_per_query"].values()]
        yield f"| {' | '.join(cells)} |"


def comparison_lines(comparison: Comparison) -> Iterator[str]:
    better = sum(flip.is_better for flip in comparison.flips)
    yield f"\n{comparison.after} against {comparison.before}: {better} better, {len(comparison.flips) - better} worse"
    for name, p in comparison.p_values.items():
        before, after = (found[name] for found in comparison.means)
        yield f"{name}: {before:.3f} -> {after:.3f}, p = {p:.4f} (paired randomisation, Bonferroni-corrected)"
    for flip in comparison.flips[:FLIPS_SHOWN]:
        sign = "+" if flip.is_better else "-"
        yield f"{sign} {flip.before or '–':>4} -> {flip.after or '–':>4}  {flip.question[:100]}"
    if len(comparison.flips) > FLIPS_SHOWN:
        yield f"… and {len(comparison.flips) - FLIPS_SHOWN} more"


def coverage_lines(coverage: Coverage) -> Iterator[str]:
    """Say in a few lines what the questions cover."""
    yield "\nCoverage"
    yield (
        f"questions: {coverage.questions} ({coverage.answerable} answerable, {coverage.unanswerable} unanswerable, "
        f"{coverage.judged} judged); {_mean(coverage.question_words)} words a question, "
        f"{_mean(coverage.reference_words)} a reference answer"
    )
    yield f"judgments a question: {_spread(coverage.judgments)}"
    yield f"documents with a question: {_share(coverage.documents)}"
    classes = ", ".join(f"{name}: {count}" for name, count in coverage.questions_per_document.items())
    yield f"documents by questions: {classes}"
    yield f"passages of these documents: {_share(coverage.passages_of_documents)}"
    yield f"passages judged themselves: {_share(coverage.passages)}"
    for granularity, units in coverage.units.items():
        yield f"{granularity}s that answer: {_share(units.units)}; a question: {_spread(units.per_question)}"
    if coverage.languages:
        yield f"languages: {', '.join(f'{name} {count}' for name, count in coverage.languages.items())}"


def _share(share: Share) -> str:
    return f"{share.covered} of {share.all}" + (f" ({share.ratio:.1%})" if share.ratio is not None else "")


def _spread(spread: Spread) -> str:
    return f"mean {_mean(spread.mean)}, median {_mean(spread.median)}, most {spread.most or '–'}"


def _mean(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f}"
