"""What staff do to one question under review."""

from django.db import transaction

from analytics.models import EvaluationQuestion


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
