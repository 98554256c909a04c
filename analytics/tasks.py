"""Celery tasks: ids in, one call, safe to run twice. Nothing heavy is imported until a task runs."""

from contextlib import suppress

from celery import shared_task
from celery.exceptions import SoftTimeLimitExceeded

#: Thousands of questions with a cross-encoder take hours.
EVALUATION_SECONDS = 24 * 3600


@shared_task(time_limit=EVALUATION_SECONDS)
def run_evaluation(run_id: int) -> None:
    from analytics.evaluation.runner import work_on

    work_on(run_id)


#: A run of questions: short, so that others need not wait long for the worker; it queues the next one.
QUESTION_SECONDS, PAUSE_SECONDS = 120, 30


@shared_task(soft_time_limit=1500, time_limit=1800)
def propose_questions(set_id: int, passages: int, seed: int) -> None:
    """Propose questions on the collections of staff's own set; without a language model, none."""
    from analytics.evaluation.questions.generation import Choice, make_questions
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
    """Do the gap run that staff asked for, or the nightly one unless another one is active."""
    from analytics.gaps.run import work_on
    from analytics.models import GapRun

    if run_id is None:
        run = GapRun.objects.enqueue()
        run_id = run.pk if run else None
    if run_id is not None:
        work_on(run_id)


#: 10,000 new questions take some minutes.
TOPIC_SECONDS = 3600


@shared_task(soft_time_limit=TOPIC_SECONDS - 60, time_limit=TOPIC_SECONDS)
def update_topics() -> None:
    """Find the topics of what was asked since the last night, and count all topics."""
    from analytics.topics.run import update_topics as update

    update()


#: The first time, all answers since the beginning are looked through; the next minute goes on where this one stopped.
COLLECT_SECONDS = 50


@shared_task(soft_time_limit=COLLECT_SECONDS, time_limit=120)
def collect_reviews() -> None:
    """Keep the review queue up to date with what students asked and how they rated it."""
    from analytics.reviews.collect import collect, recheck

    with suppress(SoftTimeLimitExceeded):
        collect()
        recheck()


#: A day takes some hundredths of a second; the first time, all days there are.
COUNT_SECONDS = 3000


@shared_task(soft_time_limit=COUNT_SECONDS, time_limit=COUNT_SECONDS + 300)
def count_changed_days() -> None:
    """Keep the dashboard's counts up to date, in one process at a time; the next run goes on where it stopped."""
    from analytics.counts.refresh import count_changed

    count_changed()


@shared_task(soft_time_limit=240, time_limit=300)
def notice_held_back() -> None:
    """Notice, every morning, where clearly more of what the language model writes is held back than before."""
    from analytics.reviews.held_back import notice_rises

    notice_rises()


@shared_task(soft_time_limit=240, time_limit=300)
def draw_samples() -> None:
    """Draw yesterday's random sample of answers, which staff judge."""
    from analytics.quality.sampling import draw_samples as draw

    draw()


#: From twenty to one until the drops are noticed; the next night goes on.
JUDGE_SECONDS = 4 * 3600


@shared_task(soft_time_limit=JUDGE_SECONDS, time_limit=JUDGE_SECONDS + 300)
def judge_samples() -> None:
    """Have the judging model, where one is configured, judge the samples of the last nights."""
    from analytics.evaluation.answers.configured import is_configured

    if is_configured():
        from analytics.quality.by_model import judge_samples as judge

        judge()


@shared_task(soft_time_limit=240, time_limit=300)
def notice_quality_drops() -> None:
    """Notice, every morning, where clearly fewer sampled answers are right than before."""
    from analytics.quality.drops import notice_drops
    from analytics.quality.mails import mail_drops

    notice_drops()
    mail_drops()


@shared_task(soft_time_limit=540, time_limit=600)
def look_at_experiments() -> None:
    """Count what became of experiments' conversations; end and decide what is due."""
    from analytics.experiments.services import look_at_experiments as look

    look()


#: Hundreds of questions answered twice by a language model take hours.
SHADOW_SECONDS = 12 * 3600


@shared_task(time_limit=SHADOW_SECONDS)
def run_shadow_test(test_id: int) -> None:
    from analytics.shadow.run import work_on

    work_on(test_id)


@shared_task(time_limit=SHADOW_SECONDS)
def run_model_trial(trial_id: int) -> None:
    from analytics.model_trials.run import work_on

    work_on(trial_id)


#: Vectors in one run: short, so that others need not wait long for the worker; the next minute goes on.
VECTORS_A_RUN = 2_000


#: A PDF of charts takes about a second, and each mail its time at the server.
MAIL_SECONDS = 1200


@shared_task(soft_time_limit=MAIL_SECONDS, time_limit=MAIL_SECONDS + 60)
def mail_reports() -> None:
    """Have the files of due reports made, and mail what is made."""
    from analytics.reports.by_mail.run import mail_due_reports, request_files

    for stored_id in request_files():
        make_report.delay(stored_id)
    mail_due_reports()


@shared_task(soft_time_limit=280, time_limit=300)
def embed_asked_questions() -> None:
    """Keep the vectors up to date that an FAQ's form finds its neighbours by."""
    from analytics.shadow.questions import embed_asked
    from core.inference.embeddings import get_embedder

    embed_asked(get_embedder(), most=VECTORS_A_RUN)


@shared_task(soft_time_limit=280, time_limit=300)
def ask_again() -> None:
    """Ask again, in one process at a time, what the newest FAQs and pages may answer."""
    from analytics.gaps.answered.looks import check_changes

    with suppress(SoftTimeLimitExceeded):
        check_changes()


@shared_task(soft_time_limit=COUNT_SECONDS, time_limit=COUNT_SECONDS + 300)
def find_contradictions() -> None:
    """Compare all pages and FAQs with each other, every night."""
    from analytics.contradictions.run import compare_all

    compare_all()


@shared_task(soft_time_limit=540, time_limit=600)
def compare_changed_pages() -> None:
    """Compare what changed since the last look with all other pages and FAQs; nothing without a change."""
    from analytics.contradictions.run import compare_changed

    compare_changed()


@shared_task(soft_time_limit=COUNT_SECONDS, time_limit=COUNT_SECONDS + 300)
def apply_retention() -> None:
    """Delete expired data, every night."""
    from analytics.retention.run import apply_retention as apply

    apply()


#: A million rows of Excel take some minutes.
REPORT_SECONDS = 6 * 3600


@shared_task(time_limit=REPORT_SECONDS)
def make_report(stored_id: int) -> None:
    from analytics.reports.run import work_on

    work_on(stored_id)


@shared_task(soft_time_limit=60, time_limit=120)
def sweep_reports() -> None:
    """Delete the files that killed processes left behind."""
    from analytics.reports.files import sweep

    sweep()


@shared_task(soft_time_limit=240, time_limit=300)
def mail_notices() -> None:
    """Mail what was assigned and is neither read nor mailed, and new drops of quality; the next run goes on where this
    one stopped."""
    from analytics.inbox.mails import mail_notices as mail
    from analytics.quality.mails import mail_drops

    mail()
    mail_drops()


@shared_task(soft_time_limit=840, time_limit=900)
def mail_digests() -> None:
    """Mail the weekly summaries that were not mailed this week."""
    from analytics.inbox.digest import mail_digests as mail

    mail()


@shared_task
def tell_of_case(case_id: int, kind: str) -> None:
    """Tell staff of what happened in a case."""
    from analytics.cases.news import tell_of_case as tell

    tell(case_id, kind)


@shared_task(soft_time_limit=50, time_limit=120)
def raise_late_cases() -> None:
    """Raise open cases whose reply is overdue."""
    from analytics.cases.news import raise_late_cases as raise_them

    raise_them()


@shared_task
def close_quiet_cases() -> None:
    """Close cases in which the student has been silent since the reply."""
    from analytics.cases.news import close_quiet_cases as close_them

    close_them()
