"""Runs a profile over an evaluation set, as questions are served, and sums it up."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from asgiref.sync import async_to_sync

from analytics.evaluation.answers.errors import JudgeUnavailable
from analytics.evaluation.comparison import TESTED, compare
from analytics.evaluation.metrics.ranking import auroc, means, measure_rankings
from analytics.models import EvaluationQuestion, EvaluationRun, QuestionResult
from chat.pipeline.question import Question
from chat.pipeline.retrieval.profiles import Profile, UnknownProfile, get_profile
from chat.pipeline.retrieval.search import find_passages, guess
from chat.pipeline.sentences.sources import choose_sources
from chat.pipeline.understanding.route import understand
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from core.jobs import Heartbeat, JobStopped
from knowledge.retrieval.query_vectors import forget_vectors
from knowledge.retrieval.types import Scope

#: Depth to which a ranking is measured, in documents.
DEPTH = 100
#: Passages retrieved for them: several may be of one document.
PASSAGES = 400
#: Documents of a ranking that are kept.
KEPT = 10
BATCH = 500
State = EvaluationRun.State


@dataclass(frozen=True, slots=True)
class Asked:
    """The retrieval of one question: documents best first, evidence and seconds."""

    documents: Sequence[int]
    evidence: float
    seconds: float


def run(run: EvaluationRun, *, progress: Callable[[int, int], None] | None = None) -> EvaluationRun:
    """Fill a run; `progress` gets (done, of) questions, once more from the start if they are answered too.

    Raise UnknownProfile, EmbeddingUnavailable, RerankerUnavailable, JudgeUnavailable, JobStopped.
    """
    with advisory_lock(Lock.EVALUATION_RUN, row=run.pk) as is_mine:
        # A command begins a run that was never queued, and one that was broken off.
        if not is_mine or not (run.state == State.RUNNING or (run.requeue(message="") and run.claim())):
            raise JobStopped
        with Heartbeat(run, progress) as heartbeat:
            return _fill(run, heartbeat)


def _fill(run: EvaluationRun, heartbeat: Heartbeat) -> EvaluationRun:
    questions = list(run.evaluation_set.questions.filter(status=EvaluationQuestion.Status.ACCEPTED).order_by("pk"))
    profile = get_profile(run.profile)
    results = search(run, questions, profile, heartbeat)
    if run.answering is not None:
        run.beat(results=results)
        # Its libraries take seconds to load, and what serves imports this module.
        from analytics.evaluation.answers.runner import answer_questions

        results = results | {"answers": answer_questions(run, questions, profile, heartbeat)}
    run.finish(done=run.total, results=results)
    return run


def search(
    run: EvaluationRun, questions: Sequence[EvaluationQuestion], profile: Profile, heartbeat: Heartbeat
) -> dict[str, Any]:
    """Store how retrieval did on each question, beside earlier answers, and sum it up."""
    scope = Scope(tuple(run.evaluation_set.collections.values_list("pk", flat=True)))
    run.beat(total=len(questions), done=0)
    asked: dict[int, Asked] = {}
    if questions:
        ask(profile, questions[0].text, scope)  # loads what is loaded once
    for number, question in enumerate(questions, start=1):
        asked[question.pk] = ask(profile, question.text, scope, question.history if run.rewrites else ())
        heartbeat.step(number, len(questions))
    measured = _measured(questions, asked)
    QuestionResult.objects.filter(run=run).exclude(question__in=asked).delete()
    QuestionResult.objects.bulk_create(
        (
            QuestionResult(
                run=run,
                question_id=pk,
                ranking=list(each.documents[:KEPT]),
                measures=measured.get(pk, {}),
                evidence=each.evidence,
                seconds=each.seconds,
            )
            for pk, each in asked.items()
        ),
        batch_size=BATCH,
        update_conflicts=True,
        unique_fields=["run", "question"],
        update_fields=["ranking", "measures", "evidence", "seconds"],
    )
    return summary(questions, asked, measured)


def ask(profile: Profile, text: str, scope: Scope, history: Sequence[tuple[str, str]] = ()) -> Asked:
    """Understand and retrieve as a question is served, but rank deeper. `history` is (role, text), oldest first.

    A published system knows no small talk: its profile ranks whatever is asked.
    """
    forget_vectors()  # what a student waits for is measured
    started = time.perf_counter()
    question = Question(text, history=history, profile=profile, as_question=not profile.reads_sentences)
    context = async_to_sync(understand)(question, scope)
    if context.is_question:
        async_to_sync(guess)(context)
        find_passages(context, depth=PASSAGES, degrades=False)
    seconds = time.perf_counter() - started
    choose_sources(context)  # it weighs the evidence
    hits = context.retrieval.hits if context.retrieval else ()
    documents = list(dict.fromkeys(hit.document_id for hit in hits))[:DEPTH]
    return Asked(documents, context.evidence or 0.0, seconds)


def _measured(questions: Sequence[EvaluationQuestion], asked: Mapping[int, Asked]) -> dict[int, dict[str, float]]:
    rows = EvaluationQuestion.objects.filter(pk__in=[question.pk for question in questions], judgments__grade__gt=0)
    qrels: dict[str, dict[str, int]] = {}
    for pk, document, grade in rows.values_list("pk", "judgments__document", "judgments__grade"):
        qrels.setdefault(str(pk), {})[str(document)] = grade
    rankings = {str(pk): [str(document) for document in each.documents] for pk, each in asked.items()}
    return {int(pk): values for pk, values in measure_rankings(qrels, rankings).items()}


def summary(
    questions: Sequence[EvaluationQuestion], asked: Mapping[int, Asked], measured: Mapping[int, Mapping[str, float]]
) -> dict[str, Any]:
    """Return the results of `manage.py evaluate`, without the run's name and single questions."""
    judged = {str(pk): values for pk, values in measured.items()}
    known = [question for question in questions if question.answerable is not None]
    curve = auroc([bool(each.answerable) for each in known], [asked[each.pk].evidence for each in known])
    seconds = [each.seconds for each in asked.values()]
    return {
        "queries": len(questions),
        "judged": len(judged),
        "retrieval": means(judged),
        "evidence": {"auroc": curve},
        "seconds_per_query": {
            "p50": float(np.median(seconds)) if seconds else None,
            "p95": float(np.percentile(seconds, 95)) if seconds else None,
        },
    }


#: Significance level of the paired test, after its correction for several measures.
SIGNIFICANT = 0.05


def mark_regression(run: EvaluationRun) -> None:
    """Note the measures in which a finished run is significantly worse than the one before, question by question.

    The run before is the last finished one of its profile on its set; without one nothing is noted.
    """
    earlier = EvaluationRun.objects.filter(
        evaluation_set=run.evaluation_set_id, profile=run.profile, state=EvaluationRun.State.FINISHED, pk__lt=run.pk
    )
    before = earlier.order_by("-pk").first()
    if before is None:
        return
    comparison = compare(before, run)
    old, new = comparison.means
    worse = [name for name in TESTED if comparison.p_values.get(name, 1) < SIGNIFICANT and new[name] < old[name]]
    run.results["regression"] = {"before": before.pk, "worse": worse}
    run.save(update_fields=["results"])


def work_on(run_id: int) -> None:
    """Work on a run that waits, unless another worker has it."""
    row = EvaluationRun.objects.select_related("evaluation_set").filter(pk=run_id).first()
    if row is None or not row.claim():
        return
    with row.closing(UnknownProfile, EmbeddingUnavailable, RerankerUnavailable, JudgeUnavailable):
        run(row)
        mark_regression(row)
