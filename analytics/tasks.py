"""Celery's hinges: ids in, one call, safe to run twice. Nothing heavy is imported until a task runs."""

from celery import shared_task

#: Thousands of questions with a cross-encoder take hours.
EVALUATION_SECONDS = 24 * 3600


@shared_task(time_limit=EVALUATION_SECONDS)
def run_evaluation(run_id: int) -> None:
    from analytics.evaluation.jobs import work_on

    work_on(run_id)


@shared_task(soft_time_limit=60, time_limit=120)
def reconcile_evaluations() -> None:
    """Marks what a lost worker left behind, and queues what a broker that was away did not take."""
    from analytics.evaluation.jobs import fail_lost, unbegun_runs

    fail_lost()
    for run_id in unbegun_runs():
        run_evaluation.delay(run_id)


#: A run of questions: short, so that others need not wait long for the worker; it queues the next one.
QUESTION_SECONDS, PAUSE_SECONDS = 120, 30


@shared_task(soft_time_limit=1500, time_limit=1800)
def propose_questions(set_id: int, passages: int, seed: int) -> None:
    """Proposes questions on the collections of staff's own set; without a language model, none."""
    from analytics.evaluation.generation import Choice, make_questions
    from analytics.models import EvaluationSet

    found = EvaluationSet.objects.filter(pk=set_id, fingerprint="").first()
    if found is None:
        return
    collections = tuple(found.collections.values_list("pk", flat=True))
    made = make_questions(found, Choice(collections, passages=passages, seed=seed), seconds=QUESTION_SECONDS)
    if made.stopped in {"time", "another"}:
        propose_questions.apply_async((set_id, passages, seed), countdown=PAUSE_SECONDS)


#: 10,000 questions whose vectors are not there yet take some minutes, the rest half a minute.
LOOK_SECONDS = 3600


@shared_task(soft_time_limit=LOOK_SECONDS - 60, time_limit=LOOK_SECONDS)
def find_gaps(run_id: int | None = None) -> None:
    """A look that staff asked for, or the one of every night; nothing where another one goes on."""
    from analytics.gaps.looking import begin_run, work_on

    if run_id is None:
        run = begin_run()
        run_id = run.pk if run else None
    if run_id is not None:
        work_on(run_id)


@shared_task(soft_time_limit=60, time_limit=120)
def resume_gaps() -> None:
    """Begins anew the look that a lost worker, or a broker that was away, left behind."""
    from analytics.gaps.looking import lost_runs

    for run_id in lost_runs():
        find_gaps.delay(run_id)
