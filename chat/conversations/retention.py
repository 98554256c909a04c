"""Deletes conversations, and what answers were made from, after a set time, as the consent notice promises."""

import datetime

from django.conf import settings
from django.db.models import QuerySet
from django.utils import timezone

from chat.models import AnswerRecord, Assistant, Conversation, Visitor


def kept_days(assistant: Assistant | None) -> int:
    """Days without a message after which a conversation is deleted."""
    own = assistant.keep_conversations_days if assistant else None
    return own if own is not None else settings.RETENTION_DAYS


def oldest_kept(assistant: Assistant | None) -> datetime.datetime:
    """Return the moment before which conversations are deleted now."""
    return timezone.now() - datetime.timedelta(days=kept_days(assistant))


def expired(assistant: Assistant | None, before: datetime.datetime) -> QuerySet[Conversation]:
    """Return the assistant's conversations (None: of deleted ones) without a message since then."""
    return Conversation.objects.filter(assistant=assistant, updated_at__lt=before)


def delete_idle_visitors() -> int:
    """Delete visitors who agreed long ago and have no conversation left; return how many.

    Those who stand for a connected program stay with it.
    """
    before = timezone.now() - datetime.timedelta(days=settings.RETENTION_DAYS)
    idle = Visitor.objects.filter(consented_at__lt=before, conversations=None, api_clients=None)
    _rows, by_model = idle.delete()
    return by_model.get(Visitor._meta.label, 0)


def delete_old_records() -> int:
    """Delete what answers were made from, where that is older than is kept; return how many."""
    before = timezone.now() - datetime.timedelta(days=settings.ANSWER_RECORD_DAYS)
    count, _by_model = AnswerRecord.objects.filter(made_at__lt=before).delete()
    return count
