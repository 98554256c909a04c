"""What staff do to the questions of their sets: put them right, and have the language model propose more."""

from django.db import transaction

from analytics.evaluation.asking import settled
from analytics.models import EvaluationQuestion, EvaluationSet, ModelRequest
from analytics.tasks import propose_questions

SEED = 1


@transaction.atomic
def edit_question(*, question: EvaluationQuestion, text: str, reference: str) -> bool:
    """Whether anything changed; of another text, the next run of `make_questions` marks anew what answers it.

    Raises ValidationError.
    """
    edited = (" ".join(text.split()), reference.strip())
    if edited == (question.text, question.reference):
        return False
    question.text, question.reference = edited
    question.full_clean(exclude=["evaluation_set"])
    question.save(update_fields=["text", "reference"])
    return True


def ask_for_questions(*, evaluation_set: EvaluationSet, passages: int) -> None:
    """Has a worker ask about so many passages more than were asked about.

    Raises kombu.exceptions.OperationalError where the broker is away.
    """
    done = len(settled(evaluation_set, ModelRequest.Purpose.QUESTIONS))
    propose_questions.delay(evaluation_set.pk, done + passages, SEED)
