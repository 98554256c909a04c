"""Runs a profile over an evaluation set, as questions are served, and sums it up."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from asgiref.sync import async_to_sync
from django.utils import timezone

from analytics.evaluation.measures import auroc, means, measure_rankings
from analytics.evaluation.pulse import Cancelled, Pulse, save
from analytics.models import EvaluationQuestion, EvaluationRun, QuestionResult
from chat.context import Ask, Turn, look_up
from chat.hyde import hypothesise
from chat.models import Message
from chat.profiles import Profile, get_profile, retrieve_with
from chat.understanding import understand
from knowledge.locks import Lock, only_one
from knowledge.retrieval.contracts import Scope
from knowledge.retrieval.hybrid import Retrieval
from knowledge.retrieval.question_vectors import forget_vectors

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
    with only_one(Lock.EVALUATION_RUN, row=run.pk) as is_mine:
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
        from analytics.evaluation.answers import answer_questions

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
    pulse = Pulse(run, len(questions), progress)
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
    """`history` is (role, text), oldest first: what a follow-up is made to stand alone with."""
    forget_vectors()  # what a student waits for is measured
    started = time.perf_counter()
    asked = Ask(text, history=history)
    turn = Turn(Message.Route.QUESTION, asked.text)
    if history:
        turn, _usage = async_to_sync(understand)(asked)
    guesses = async_to_sync(hypothesise)(turn.question) if profile.guesses else ()

    def retrieved(question: str) -> Retrieval:
        return retrieve_with(profile, question, scope=scope, k=PASSAGES, guesses=guesses)

    found = look_up(asked, turn, retrieved, sources=profile.sources)
    seconds = time.perf_counter() - started
    documents = list(dict.fromkeys(hit.document_id for hit in found.retrieval.hits))[:DEPTH]
    return Asked(documents, found.evidence, seconds)


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
