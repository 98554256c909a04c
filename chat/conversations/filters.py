"""Conditions for conversations that hold an answer or a thumb of some kind: for a filter or an annotation."""

from typing import Any

from django.db.models import Exists, OuterRef

from chat.models import Feedback, Message


def with_answer(**values: Any) -> Exists:
    """`values` as for a filter of messages."""
    return Exists(Message.objects.filter(conversation=OuterRef("pk"), **values))


def with_thumbs(value: int) -> Exists:
    """1 for up, -1 for down."""
    return Exists(Feedback.objects.filter(message__conversation=OuterRef("pk"), value=value))
