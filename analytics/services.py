"""What staff do to evaluation sets, their questions and runs: check, save, queue after commit."""

import uuid
from collections.abc import Sequence

from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from analytics.evaluation.answer_options import AnswerOptions, broken_off
from analytics.evaluation.jobs import ACTIVE
from analytics.evaluation.loading import forget
from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet, Judgment
from analytics.tasks import run_evaluation
from chat.profiles import UnknownProfile, get_profile
from knowledge.models import Document
from knowledge.queueing import queue_after_commit


@transaction.atomic
def start_runs(
    *,
    evaluation_set: EvaluationSet,
    profiles: Sequence[str],
    answers: AnswerOptions | None = None,
    by: AbstractBaseUser | None = None,
) -> list[EvaluationRun]:
    """One run a profile, each the one that waits or goes on already where there is one. Raises ValidationError.

    With `answers` the questions are answered too; a run of that kind that was broken off goes on.
    """
    EvaluationSet.objects.select_for_update(no_key=True).get(pk=evaluation_set.pk)
    if not evaluation_set.questions.filter(status=EvaluationQuestion.Status.ACCEPTED).exists():
        raise ValidationError(_("“%(set)s” has no accepted question yet: add one first.") % {"set": evaluation_set})
    try:
        chosen = [get_profile(name) for name in dict.fromkeys(profiles)]
    except UnknownProfile as error:
        raise ValidationError(str(error)) from error
    active = {
        run.profile: run for run in evaluation_set.runs.filter(state__in=ACTIVE, answering__isnull=answers is None)
    }
    runs = []
    for profile in chosen:
        run = active.get(profile.name)
        if run is None:
            run = broken_off(evaluation_set, profile, answers) if answers else None
            if run:
                run.state, run.message, run.finished_at = EvaluationRun.State.QUEUED, "", None
                run.heartbeat_at = timezone.now()
                run.save(update_fields=["state", "message", "finished_at", "heartbeat_at"])
            else:
                run = EvaluationRun.objects.create(
                    evaluation_set=evaluation_set,
                    profile=profile.name,
                    answering=answers.as_row(profile) if answers else None,
                    requested_by_id=by.pk if by else None,
                )
            queue_after_commit(run_evaluation, run.pk)
        runs.append(run)
    return runs


@transaction.atomic
def cancel_run(*, run: EvaluationRun) -> bool:
    """Ends it within seconds; one that has ended stays as it is. Whether it had not."""
    ended = {"state": EvaluationRun.State.CANCELLED, "finished_at": timezone.now()}
    return bool(EvaluationRun.objects.filter(pk=run.pk, state__in=ACTIVE).update(**ended))


@transaction.atomic
def delete_set(*, evaluation_set: EvaluationSet) -> None:
    """With its questions and runs; a loaded data set's collection, documents and FAQs go with it."""
    if evaluation_set.fingerprint:
        forget(evaluation_set)
    else:
        evaluation_set.delete()


@transaction.atomic
def save_question(*, question: EvaluationQuestion, judgments: Sequence[Judgment]) -> EvaluationQuestion:
    """Saves it; `judgments` take the place of those it had. Raises ValidationError."""
    if question.evaluation_set.fingerprint:
        raise ValidationError(_("The questions of a loaded data set stay as they are."))
    question.external_id = question.external_id or uuid.uuid4().hex
    question.full_clean()
    check_judgments(question, judgments)
    question.save()
    question.judgments.exclude(pk__in=[judgment.pk for judgment in judgments if judgment.pk]).delete()
    former = dict(question.judgments.values_list("pk", "document"))
    for judgment in judgments:
        judgment.question = question
        if judgment.pk and former.get(judgment.pk) != judgment.document_id:
            judgment.quote, judgment.passages, judgment.units = "", [], None  # they were of another document
        judgment.save()
    return question


def check_judgments(question: EvaluationQuestion, judgments: Sequence[Judgment]) -> None:
    """Raises ValidationError for documents that could not be found, or should not."""
    if judgments and question.answerable is False:
        raise ValidationError(_("A question with a document that answers it is answerable: change one of the two."))
    searched = set(question.evaluation_set.collections.values_list("pk", flat=True))
    documents = Document.objects.filter(pk__in=[judgment.document_id for judgment in judgments])
    for document in documents.exclude(collection__in=searched).only("title"):
        said = _("“%(document)s” is in none of the collections of “%(set)s”, so it could never be found.")
        raise ValidationError(said % {"document": document, "set": question.evaluation_set})


@transaction.atomic
def set_question_status(*, questions: Sequence[EvaluationQuestion], status: str) -> int:
    """Accepts or rejects; returns how many changed."""
    changing = [question.pk for question in questions if question.status != status]
    return EvaluationQuestion.objects.filter(pk__in=changing).update(status=status)
