"""Events about answers: abstained, and rated down."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse

from chat.models import Conversation, Message, Webhook
from chat.models.webhooks import WebhookEvent
from chat.webhooks.announce import announce, withdraw

#: A visitor first presses the thumb, then says why, or takes it back.
RATING_SETTLES_IN = timedelta(seconds=60)


@contextmanager
def announcing_abstention(answer_id: int) -> Iterator[None]:
    """Announce that there is no answer, in one transaction with the block, which saves it.

    Nothing is announced of cries for help, and of a conversation that was deleted meanwhile.
    """
    if not Webhook.objects.taking(WebhookEvent.ABSTAINED).exists():
        yield
        return
    with transaction.atomic():
        # Locked before its answer, in the order in which a deletion locks them.
        conversation = lock_conversation(answer_id)
        yield
        answer = Message.objects.filter(pk=answer_id).without_help().first()
        if conversation and answer:
            _announce(WebhookEvent.ABSTAINED, conversation, answer, [answer.reason] if answer.reason else [])


def announce_rating(conversation: Conversation, answer: Message, value: int, reasons: Sequence[str]) -> None:
    """Announce that an answer was rated down, or withdraw that if the visitor took it back at once.

    Call it in the transaction that saves the rating, with the conversation locked.
    """
    if value < 0:
        _announce(WebhookEvent.RATED_DOWN, conversation, answer, reasons, settles_in=RATING_SETTLES_IN)
    else:
        withdraw(WebhookEvent.RATED_DOWN, key=str(answer.pk))


def lock_conversation(answer_id: int) -> Conversation | None:
    """Lock the conversation of an answer, so that it is deleted before or after this transaction, not within."""
    rows = Conversation.objects.select_for_update(no_key=True, of=("self",))
    return rows.filter(messages=answer_id).first()


def _announce(
    event: WebhookEvent, conversation: Conversation, answer: Message, reasons: Sequence[str], **options: Any
) -> None:
    if conversation.assistant_id is None:
        return
    screen = reverse("admin:chat_conversation_change", args=[conversation.pk])
    announce(
        event,
        key=str(answer.pk),
        assistants=[conversation.assistant_id],
        data={"reasons": list(reasons), "language": answer.language, "url": f"{settings.PUBLIC_URL}{screen}"},
        conversation=conversation.pk,
        **options,
    )
