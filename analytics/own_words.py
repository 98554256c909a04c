"""A student's questions as they may be kept, by staff or after their conversation is deleted."""

from collections import defaultdict
from collections.abc import Sequence

from analytics.masking import masked, without
from chat.models import Message


def text_of(message: Message) -> str:
    """The question as it stands alone, on one line."""
    return " ".join((message.answer.rewritten or message.text).split())


def texts_to_keep(questions: Sequence[Message]) -> list[str]:
    """Each as it stands alone, without what tells who asked: in it, or anywhere in what the student wrote beside it.
    A question that was rewritten may say a name that was given in an earlier one."""
    said = defaultdict(list)
    written = Message.objects.filter(
        role=Message.Role.USER, conversation__in={question.conversation_id for question in questions}
    )
    for conversation, text in written.order_by("pk").values_list("conversation", "text"):
        said[conversation].append(text)
    return [without(masked(text_of(question)), said[question.conversation_id]) for question in questions]
