"""Saves what visitors think of answers and conversations, and which kinds of contacts they went to from there."""

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import F, Func, Value
from django.utils.translation import gettext as _

from chat.errors import NotFound, Refused
from chat.models import Conversation, Feedback, Message
from chat.pipeline.guardrails.input import CONTROLS, LONE_SURROGATES
from chat.protocol.shapes import ContactKind, Reason, Stars, Thumbs
from chat.webhooks.answers import announce_rating, lock_conversation

COMMENT_CHARACTERS = 1000


def give_feedback(
    *, visitor: UUID, message_id: int, value: Thumbs, reasons: Sequence[Reason], comment: str
) -> tuple[UUID, Thumbs, list[Reason]]:
    """Save thumbs up (1), down (-1) or neither (0) on the visitor's own answer, and why.

    Return the conversation, the thumbs and the reasons as saved; raise NotFound, Refused.
    """
    named = list(dict.fromkeys(reasons))
    cleaned = _clean_comment(comment)
    reply = Message.objects.filter(pk=message_id, role=Message.Role.ASSISTANT, conversation__visitor_id=visitor).first()
    if reply is None:
        raise NotFound
    if reply.is_help:
        raise Refused("bad_feedback", _("This reply is not rated."))
    with transaction.atomic():
        # Locked before its messages, in the order in which a deletion locks them.
        conversation = lock_conversation(reply.pk)
        if conversation is None:
            raise NotFound
        if value == 0:
            named = []
            Feedback.objects.filter(message=reply).delete()
        else:
            given = {"value": value, "reasons": named, "comment": cleaned}
            Feedback.objects.update_or_create(message=reply, defaults=given)
        announce_rating(conversation, reply, value, named)
    return conversation.pk, value, named


def rate_conversation(*, visitor: UUID, conversation: UUID, stars: Stars) -> None:
    """Save 1 to 5 stars, in place of earlier ones; raise NotFound."""
    if not Conversation.objects.filter(pk=conversation, visitor_id=visitor).update(stars=stars):
        raise NotFound


def use_contact(*, visitor: UUID, message_id: int, kind: ContactKind) -> None:
    """Save that the visitor went to a contact of this kind that their own answer names; a second time changes nothing.

    Raise NotFound, also for the reply to a cry for help: nobody counts what people in need do.
    """
    replies = Message.objects.filter(role=Message.Role.ASSISTANT, conversation__visitor_id=visitor).without_help()
    reply = replies.filter(pk=message_id)
    if not reply.exists():
        raise NotFound
    added = Func(F("contacts_used"), Value(kind), function="array_append")
    reply.exclude(contacts_used__contains=[kind]).update(contacts_used=added)


def _clean_comment(comment: str) -> str:
    """Return the comment without control characters; raise Refused if it is too long."""
    cleaned = LONE_SURROGATES.sub("\ufffd", CONTROLS.sub("", comment.replace("\r\n", "\n"))).strip()
    if len(cleaned) > COMMENT_CHARACTERS:
        raise Refused(
            "comment_too_long", _("Please shorten your comment to %(most)d characters.") % {"most": COMMENT_CHARACTERS}
        )
    return cleaned
