"""Runs a profile over an evaluation set, as questions are served, and sums it up."""

import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import numpy as np
from asgiref.sync import async_to_sync
from django.utils import timezone
from django.utils.translation import gettext_noop as _

from analytics.evaluation.answers.errors import JudgeUnavailable
from analytics.evaluation.comparison import TESTED, compare
from analytics.evaluation.heartbeat import Cancelled, Heartbeat, save
from analytics.evaluation.metrics.ranking import auroc, means, measure_rankings
from analytics.models import EvaluationQuestion, EvaluationRun, QuestionResult
from chat.pipeline.question import Question
from chat.pipeline.retrieval.profiles import Profile, UnknownProfile, get_profile
from chat.pipeline.retrieval.search import find_passages, guess
from chat.pipeline.understanding.route import understand
from core.db.locks import Lock, advisory_lock
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from knowledge.retrieval.query_vectors import forget_vectors
from knowledge.retrieval.types import Scope

#: Documents that a ranking is measured to.
DEPTH = 100
#: Passages retrieved for them: several may be of one document.
PASSAGES = 400
#: Documents of a ranking that are kept.
KEPT = 10
BATCH = 500
State = EvaluationRun.State


@dataclass(frozen=True, slots=True)
class Asked:
    """What one question retrieved: documents best first, evidence and seconds."""

    documents: Sequence[int]
    evidence: float
    seconds: float


def run(run: EvaluationRun, *, progress: Callable[[int, int], None] | None = None) -> EvaluationRun:
    """Fills a run; `progress` gets (done, of) questions, once more from the start where they are answered too.

    Raises UnknownProfile, EmbeddingUnavailable, RerankerUnavailable, JudgeUnavailable, Cancelled.
    """
    with advisory_lock(Lock.EVALUATION_RUN, row=run.pk) as is_mine:
        if not is_mine:
            raise Cancelled
        return _filled(run, progress)


def _filled(run: EvaluationRun, progress: Callable[[int, int], None] | None) -> EvaluationRun:
    questions = list(run.evaluation_set.questions.filter(status=EvaluationQuestion.Status.ACCEPTED).order_by("pk"))
    profile = get_profile(run.profile)
    results = search(run, questions, profile, progress=progress)
    if run.answering is not None:
        save(run, results=results)
        # Its libraries take seconds to load, and what serves imports this module.
        from analytics.evaluation.answers.runner import answer_questions

        results = results | {"answers": answer_questions(run, questions, profile, progress=progress)}
    save(run, state=State.FINISHED, done=run.total, results=results, finished_at=timezone.now())
    return run


def search(
    run: EvaluationRun,
    questions: Sequence[EvaluationQuestion],
    profile: Profile,
    *,
    progress: Callable[[int, int], None] | None,
) -> dict[str, Any]:
    """Stores how retrieval did on each question, beside what was answered before, and sums it up."""
    scope = Scope(tuple(run.evaluation_set.collections.values_list("pk", flat=True)))
    save(run, state=State.RUNNING, total=len(questions), done=0)
    asked: dict[int, Asked] = {}
    if questions:
        ask(profile, questions[0].text, scope)  # loads what is loaded once
    pulse = Heartbeat(run, len(questions), progress)
    for number, question in enumerate(questions, start=1):
        asked[question.pk] = ask(profile, question.text, scope, question.history if run.rewrites else ())
        pulse.beat(number)
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
    """Understand and retrieve as a question is served, but rank deeper. `history` is (role, text), oldest first."""
    forget_vectors()  # what a student waits for is measured
    started = time.perf_counter()
    context = async_to_sync(understand)(Question(text, history=history, profile=profile))
    context.scope = scope
    if context.is_question:
        async_to_sync(guess)(context)
        find_passages(context, depth=PASSAGES, degrades=False)
    seconds = time.perf_counter() - started
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
    """The contract of `manage.py evaluate` but for what names the run and for single questions."""
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


#: A difference that chance alone makes less often than this is taken for one; of the paired test, after its correction
#: for several measures.
SIGNIFICANT = 0.05


def mark_regression(run: EvaluationRun) -> None:
    """Notes in the results of a finished run in which measures it is worse than the last finished run of its profile
    on its set, question by question; nothing where there is none."""
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


logger = logging.getLogger(__name__)
ACTIVE = (State.QUEUED, State.RUNNING)
#: A run that says nothing for so long has lost its worker; while it works it says something every second.
LOST = timedelta(minutes=5)
#: A run that nobody began for so long is queued once more: it may have been lost on the way.
UNBEGUN = timedelta(minutes=5)


def work_on(run_id: int) -> None:
    """Works on a run that waits; nothing where it does not, or not any more."""
    claimed = {"state": State.RUNNING, "heartbeat_at": timezone.now()}
    if not EvaluationRun.objects.filter(pk=run_id, state=State.QUEUED).update(**claimed):
        return
    row = EvaluationRun.objects.select_related("evaluation_set").get(pk=run_id)
    try:
        run(row)
        row.refresh_from_db()
        if row.state == State.FINISHED:
            mark_regression(row)
    except Cancelled:
        logger.info("evaluation cancelled run=%d", run_id)
    except (UnknownProfile, EmbeddingUnavailable, RerankerUnavailable, JudgeUnavailable) as error:
        _fail(run_id, str(error))
    except Exception:
        _fail(run_id, _("An error of ours ended it; whoever runs this server finds it in the log."))
        raise


def fail_lost() -> int:
    """Marks the runs whose worker died; returns how many."""
    lost = EvaluationRun.objects.filter(state=State.RUNNING, heartbeat_at__lt=timezone.now() - LOST)
    said = _("Its worker ended before the run did, perhaps because the server was restarted. Run it again.")
    return lost.update(state=State.FAILED, message=said, finished_at=timezone.now())


def unbegun_runs() -> Iterator[int]:
    """Runs that wait for longer than a queue should take, to be queued once more."""
    now = timezone.now()
    waiting = EvaluationRun.objects.filter(state=State.QUEUED, created_at__lt=now - UNBEGUN)
    for run_id in waiting.exclude(heartbeat_at__gte=now - UNBEGUN).order_by("pk").values_list("pk", flat=True):
        if EvaluationRun.objects.filter(pk=run_id, state=State.QUEUED).update(heartbeat_at=now):
            yield run_id


def _fail(run_id: int, message: str) -> None:
    """A run that was cancelled, or is gone, stays so."""
    ended = {"state": State.FAILED, "message": message, "finished_at": timezone.now()}
    EvaluationRun.objects.filter(pk=run_id, state=State.RUNNING).update(**ended)
