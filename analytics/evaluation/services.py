"""Services for evaluation sets, their questions and runs: check, save, queue after commit."""

import uuid
from collections.abc import Sequence

from django.contrib.admin.models import ADDITION, LogEntry
from django.contrib.auth.models import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.db import transaction
from django.utils.translation import gettext as _

from analytics.evaluation.answers.options import AnswerOptions, broken_off
from analytics.evaluation.datasets import forget
from analytics.evaluation.questions.model_requests import settled
from analytics.models import EvaluationQuestion, EvaluationRun, EvaluationSet, Judgment, ModelRequest
from analytics.models.evaluation import REGRESSION_SET
from analytics.privacy import anonymised_texts
from analytics.tasks import propose_questions, run_evaluation
from chat.models import Assistant, Message
from chat.pipeline.retrieval.profiles import UnknownProfile, get_profile
from knowledge.models import Collection, Document


@transaction.atomic
def start_runs(
    *,
    evaluation_set: EvaluationSet,
    profiles: Sequence[str],
    answers: AnswerOptions | None = None,
    by: AbstractBaseUser | None = None,
) -> list[EvaluationRun]:
    """Start one run a profile, unless one waits or runs already. Raise ValidationError.

    With `answers` the questions are answered too; a run of that kind that was broken off goes on.
    """
    EvaluationSet.objects.select_for_update(no_key=True).get(pk=evaluation_set.pk)
    if not evaluation_set.questions.filter(status=EvaluationQuestion.Status.ACCEPTED).exists():
        raise ValidationError(_("“%(set)s” has no accepted question yet: add one first.") % {"set": evaluation_set})
    try:
        chosen = [get_profile(name) for name in dict.fromkeys(profiles)]
    except UnknownProfile as error:
        raise ValidationError(str(error)) from error
    runs_now = EvaluationRun.objects.active().filter(evaluation_set=evaluation_set)
    active = {run.profile: run for run in runs_now.filter(answering__isnull=answers is None)}
    runs = []
    for profile in chosen:
        run = active.get(profile.name)
        if run is None:
            run = broken_off(evaluation_set, profile, answers) if answers else None
            if run:
                run.requeue(message="")
            else:
                run = EvaluationRun.objects.create(
                    evaluation_set=evaluation_set,
                    profile=profile.name,
                    answering=answers.as_row(profile) if answers else None,
                    requested_by_id=by.pk if by else None,
                )
            run_evaluation.delay_on_commit(run.pk)
        runs.append(run)
    return runs


@transaction.atomic
def cancel_run(*, run: EvaluationRun) -> bool:
    """End it within seconds; return False if it had ended."""
    return run.cancel()


@transaction.atomic
def delete_set(*, evaluation_set: EvaluationSet) -> None:
    """Delete a set with its questions and runs, and a loaded one with its collection, documents and FAQs."""
    if evaluation_set.fingerprint:
        forget(evaluation_set)
    else:
        evaluation_set.delete()


@transaction.atomic
def save_question(*, question: EvaluationQuestion, judgments: Sequence[Judgment]) -> EvaluationQuestion:
    """Save a question; `judgments` replace those it had. Raise ValidationError."""
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
    """Raise ValidationError for documents that could not be found, or should not."""
    if judgments and question.answerable is False:
        raise ValidationError(_("A question with a document that answers it is answerable: change one of the two."))
    searched = set(question.evaluation_set.collections.values_list("pk", flat=True))
    documents = Document.objects.filter(pk__in=[judgment.document_id for judgment in judgments])
    for document in documents.exclude(collection__in=searched).only("title"):
        said = _("“%(document)s” is in none of the collections of “%(set)s”, so it could never be found.")
        raise ValidationError(said % {"document": document, "set": question.evaluation_set})


@transaction.atomic
def set_question_status(*, questions: Sequence[EvaluationQuestion], status: str) -> int:
    """Accept or reject questions; return how many changed."""
    changing = [question.pk for question in questions if question.status != status]
    return EvaluationQuestion.objects.filter(pk__in=changing).update(status=status)


SEED = 1


@transaction.atomic
def edit_question(*, question: EvaluationQuestion, text: str, reference: str) -> bool:
    """Edit a question; return whether anything changed. Raise ValidationError.

    The next run of `make_questions` marks again what answers a new text.
    """
    edited = (" ".join(text.split()), reference.strip())
    if edited == (question.text, question.reference):
        return False
    question.text, question.reference = edited
    question.full_clean(exclude=["evaluation_set"])
    question.save(update_fields=["text", "reference"])
    return True


def ask_for_questions(*, evaluation_set: EvaluationSet, passages: int) -> None:
    """Have a worker ask about so many passages more than were asked about.

    Raise kombu.exceptions.OperationalError if the broker is away.
    """
    done = len(settled(evaluation_set, ModelRequest.Purpose.QUESTIONS))
    propose_questions.delay(evaluation_set.pk, done + passages, SEED)


@transaction.atomic
def keep_as_regression(*, message: Message, by: AbstractBaseUser, expects_cited: bool = True) -> EvaluationQuestion:
    """Keep a question, or an answer's question, with the documents that were cited as those that answer it.

    It is kept as it was looked up, anonymised; a question that was kept before is returned. If nothing was cited, or
    not `expects_cited` because the cited ones are wrong, staff say on the question's page what is right. Raise
    ValidationError.
    """
    question = message if message.role == Message.Role.USER else message.question
    answer = Message.objects.filter(question=question).select_related("conversation__assistant").first()
    if question is None or answer is None or answer.is_help or answer.conversation.assistant is None:
        raise ValidationError(_("Only a question that an assistant replied to can be kept."))
    assistant = Assistant.objects.select_for_update(of=["self"]).get(pk=answer.conversation.assistant.pk)
    kept = _own_set(assistant)
    if there := kept.questions.filter(external_id=_regression_name(question)).first():
        return there
    answer.question = question
    question.answer = answer
    cited = answer.citations.exclude(document=None)
    expected = cited.values("document") if expects_cited else cited.none().values("document")
    documents = list(Document.objects.filter(pk__in=expected).only("collection_id"))
    kept.collections.add(*{document.collection_id for document in documents})
    (text,) = anonymised_texts([question])
    made = kept.questions.create(
        external_id=_regression_name(question), text=text, answerable=True if documents else None
    )
    Judgment.objects.bulk_create(Judgment(question=made, document=document) for document in documents)
    LogEntry.objects.log_actions(by.pk, [made], ADDITION, [{"added": {}}], single_object=True)
    return made


def find_regression(question: Message) -> EvaluationQuestion | None:
    """Return what a student's question was kept as, if it was."""
    return EvaluationQuestion.objects.filter(external_id=_regression_name(question)).order_by("pk").first()


def _regression_name(question: Message) -> str:
    return f"message-{question.pk}"


def _own_set(assistant: Assistant) -> EvaluationSet:
    """Return staff's own regression set of the assistant; create it if there is none."""
    found = assistant.regression_sets.filter(fingerprint="").order_by("pk").first()
    if found is None:
        name = REGRESSION_SET % {"assistant": assistant}
        found = EvaluationSet.objects.create(name=name, assistant=assistant)
        searched = assistant.collections.all() or Collection.objects.filter(searched_by_default=True)
        found.collections.set(searched)
    return found
