"""What may be kept of a conversation that is deleted: its questions, without what tells who asked."""

from collections.abc import Iterable

from django.utils import timezone

from analytics.models import AnonymisedQuestion
from analytics.own_words import texts_to_keep
from chat.models import Assistant, Conversation, Message


def anonymise(assistant: Assistant, conversations: Iterable[Conversation]) -> int:
    """Writes their questions down as they were looked up, in random order; returns how many. Questions with signs of an
    attack and cries for help are left out."""
    asked = list(
        Message.objects.filter(conversation__in=[each.pk for each in conversations], role=Message.Role.USER, flags=[])
        .without_help()
        .exclude(answer=None)
        .select_related("answer__feedback")
        .order_by("?")
    )
    rows = [
        AnonymisedQuestion(
            assistant=assistant,
            day=timezone.localtime(question.created_at).date(),
            language=question.language,
            text=text,
            status=question.answer.status,
            faq_id=question.answer.faq_id,
            thumbs=question.answer.feedback.value if hasattr(question.answer, "feedback") else 0,
        )
        for question, text in zip(asked, texts_to_keep(asked), strict=True)
    ]
    AnonymisedQuestion.objects.bulk_create(rows)
    return len(rows)
