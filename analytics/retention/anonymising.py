"""What may be kept of a conversation that is deleted: its questions, without what tells who asked."""

from collections.abc import Iterable

from django.utils import timezone

from analytics.masking import masked
from analytics.models import AnonymisedQuestion
from chat.models import Assistant, Conversation, Message


def anonymise(assistant: Assistant, conversations: Iterable[Conversation]) -> int:
    """Writes their questions down as they were looked up, in random order; returns how many. A day that the assistant
    keeps no longer is left out, and so are questions with signs of an attack."""
    asked = (
        Message.objects.filter(conversation__in=[each.pk for each in conversations], role=Message.Role.USER, flags=[])
        .select_related("answer__feedback")
        .order_by("?")
    )
    rows = [
        AnonymisedQuestion(
            assistant=assistant,
            day=timezone.localtime(question.created_at).date(),
            language=question.language,
            text=masked(question.answer.rewritten or question.text),
            status=question.answer.status,
            faq_id=question.answer.faq_id,
            thumbs=question.answer.feedback.value if hasattr(question.answer, "feedback") else 0,
        )
        for question in asked
        if hasattr(question, "answer")
    ]
    AnonymisedQuestion.objects.bulk_create(rows)
    return len(rows)
