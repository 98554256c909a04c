"""What visitors think of answers and conversations."""

from uuid import UUID

from django.utils.translation import gettext as _

from chat.errors import NotFound, Refused
from chat.models import Conversation, Feedback, Message
from chat.pipeline.guardrails.input import CONTROLS, LONE_SURROGATES

COMMENT_CHARACTERS = 1000


def give_feedback(
    *, visitor: UUID, message_id: object, value: object, reasons: object, comment: object
) -> tuple[UUID, int, list[str]]:
    """Saves thumbs up (1), down (-1) or neither (0) on the visitor's own answer, and why.

    Returns the conversation, the thumbs and the reasons as saved; raises NotFound, Refused.
    """
    if value not in (-1, 0, 1) or isinstance(value, (bool, float)) or type(message_id) is not int:
        raise Refused("bad_feedback", _("A rating is 1, -1 or 0."))
    named = _reasons(reasons)
    said = _comment(comment)
    reply = Message.objects.filter(pk=message_id, role=Message.Role.ASSISTANT, conversation__visitor_id=visitor).first()
    if reply is None:
        raise NotFound
    if reply.is_help:
        raise Refused("bad_feedback", _("This reply is not rated."))
    if value == 0:
        Feedback.objects.filter(message=reply).delete()
        return reply.conversation_id, 0, []
    Feedback.objects.update_or_create(message=reply, defaults={"value": value, "reasons": named, "comment": said})
    return reply.conversation_id, int(value), named


def rate_conversation(*, visitor: UUID, conversation: UUID, stars: object) -> int:
    """Saves 1 to 5 stars, in place of earlier ones; raises NotFound, Refused."""
    if type(stars) is not int or not 1 <= stars <= 5:
        raise Refused("bad_rating", _("A rating is 1 to 5 stars."))
    if not Conversation.objects.filter(pk=conversation, visitor_id=visitor).update(stars=stars):
        raise NotFound
    return stars


def _reasons(reasons: object) -> list[str]:
    if not isinstance(reasons, list) or not all(isinstance(each, str) for each in reasons):
        raise Refused("bad_feedback", _("The reasons could not be read. Please reload the page."))
    if not set(reasons) <= set(Feedback.Reason.values):
        raise Refused("bad_feedback", _("The reasons could not be read. Please reload the page."))
    return list(dict.fromkeys(reasons))


def _comment(comment: object) -> str:
    if not isinstance(comment, str):
        raise Refused("bad_feedback", _("Please type your comment as text."))
    cleaned = LONE_SURROGATES.sub("\ufffd", CONTROLS.sub("", comment.replace("\r\n", "\n"))).strip()
    if len(cleaned) > COMMENT_CHARACTERS:
        raise Refused(
            "comment_too_long", _("Please shorten your comment to %(most)d characters.") % {"most": COMMENT_CHARACTERS}
        )
    return cleaned
