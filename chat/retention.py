"""What the consent notice promises: conversations go after a set time."""

import datetime
import logging

from django.conf import settings
from django.utils import timezone

from chat.models import Conversation, Visitor

logger = logging.getLogger(__name__)


def delete_old_conversations() -> int:
    """Deletes conversations without a message for RETENTION_DAYS, and visitors who have none left; returns how many
    conversations went."""
    oldest = timezone.now() - datetime.timedelta(days=settings.RETENTION_DAYS)
    old = Conversation.objects.filter(updated_at__lt=oldest)
    _rows, by_model = old.delete()
    Visitor.objects.filter(consented_at__lt=oldest, conversations=None).delete()
    gone = by_model.get(Conversation._meta.label, 0)
    logger.info("old conversations deleted count=%d", gone)
    return gone
