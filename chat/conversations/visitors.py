"""Visitors, and what is theirs: their conversations, all that is stored of them, and their wish to be forgotten."""

from collections import defaultdict
from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.cases.views import export_cases
from chat.conversations.retention import kept_days
from chat.conversations.store import own_conversation, saved_messages
from chat.errors import NotFound, Refused
from chat.models import Conversation, HeldBackSentence, Message, Visitor
from chat.pipeline.guardrails.input import CONTROLS, LONE_SURROGATES
from chat.protocol.moment import read_moment
from chat.sites.lookup import SiteContext, load_site
from chat.sites.session_tokens import InvalidToken, Session

#: Conversations that are listed, the latest first.
LISTED = 200
TITLE_CHARACTERS = 200


def new_visitor() -> UUID:
    """Create a visitor; called only after consent."""
    return Visitor.objects.create().pk


def kept_visitor(earlier: Session, *, site: str) -> UUID | None:
    """Return the visitor of an earlier session, if it was for the same site and they are not erased."""
    is_known = earlier.site == site and Visitor.objects.filter(pk=earlier.visitor).exists()
    return earlier.visitor if is_known else None


def session_site(session: Session) -> SiteContext:
    """Return the site at which the session holds. Raise InvalidToken for an erased visitor, and UnknownSite."""
    if not Visitor.objects.filter(pk=session.visitor).exists():
        raise InvalidToken("session_required")
    return load_site(session.site)


def list_conversations(visitor: UUID) -> list[dict[str, Any]]:
    """List the latest conversations, without their messages."""
    rows = Conversation.objects.filter(visitor_id=visitor).annotate(
        said=Count("messages", filter=Q(messages__is_replaced=False))
    )
    return [
        {
            "id": str(row.pk),
            "title": row.title,
            "created_at": row.created_at.isoformat(),
            "updated_at": row.updated_at.isoformat(),
            "messages": row.said,
        }
        for row in rows.order_by("-updated_at")[:LISTED]
    ]


def rename_conversation(*, visitor: UUID, conversation: UUID, title: object) -> str:
    """Rename the visitor's own conversation; raise NotFound, Refused."""
    if not isinstance(title, str):
        raise Refused("bad_title", _("Please type a title."))
    cleaned = " ".join(LONE_SURROGATES.sub("\ufffd", CONTROLS.sub("", title)).split())
    if not 0 < len(cleaned) <= TITLE_CHARACTERS:
        raise Refused("bad_title", _("A title has 1 to %(most)d characters.") % {"most": TITLE_CHARACTERS})
    # Not saved as a whole: its last message is no later for it.
    if not Conversation.objects.filter(pk=conversation, visitor_id=visitor).update(title=cleaned):
        raise NotFound
    return cleaned


def running_answers(visitor: UUID, conversations: Iterable[UUID]) -> list[int]:
    """Ids of answers being written there."""
    running = Message.objects.filter(status=Message.Status.GENERATING, conversation__visitor_id=visitor)
    return list(running.filter(conversation__in=conversations).values_list("pk", flat=True))


def delete_conversation(*, visitor: UUID, conversation: UUID) -> None:
    """Delete it with all that was said in it, its citations and ratings. Raise NotFound."""
    with transaction.atomic():
        mine = own_conversation(visitor, conversation)
        _lock([mine.pk])
        mine.delete()


def conversation_ids(visitor: UUID) -> list[UUID]:
    return list(Conversation.objects.filter(visitor_id=visitor).values_list("pk", flat=True))


def delete_visitor(visitor: UUID) -> None:
    """Delete the visitor with all conversations."""
    with transaction.atomic():
        visitors = Visitor.objects.select_for_update().filter(pk=visitor)
        _lock(conversation_ids(visitor) if visitors.exists() else [])
        visitors.delete()


def _lock(conversations: list[UUID]) -> None:
    """Wait for answers that are just being saved there, and have later ones find nothing.

    What an answer saves between the look for citations and the deletion of its row would make the deletion fail.
    """
    list(Conversation.objects.select_for_update().filter(pk__in=conversations).order_by("pk").values_list("pk"))
    list(Message.objects.select_for_update().filter(conversation__in=conversations).order_by("pk").values_list("pk"))


def export_visitor(visitor: UUID) -> dict[str, Any]:
    """Everything that is stored of a visitor, as JSON can hold it. Raises NotFound."""
    row = Visitor.objects.filter(pk=visitor).first()
    if row is None:
        raise NotFound
    conversations = Conversation.objects.filter(visitor=row).select_related("assistant").order_by("created_at")
    return {
        "visitor": str(row.pk),
        "agreed_at": row.consented_at.isoformat(),
        "exported_at": timezone.now().isoformat(),
        "conversations": [
            {
                "id": str(conversation.pk),
                "title": conversation.title,
                "created_at": conversation.created_at.isoformat(),
                "updated_at": conversation.updated_at.isoformat(),
                "kept_for_days": kept_days(conversation.assistant),
                "said_of_themselves": conversation.audience,
                "stars": conversation.stars,
                "messages": [*_export_messages(conversation)],
                "questions_to_offices": export_cases(conversation),
            }
            for conversation in conversations
        ],
    }


def _export_messages(conversation: Conversation) -> Iterable[dict[str, Any]]:
    """Also what the widget does not show."""
    more = conversation.messages.order_by("pk").values(
        "rewritten", "readings", "flags", "feedback__comment", "contacts_used", "is_replaced", "record__moment"
    )
    held_back = defaultdict(list)
    for each in HeldBackSentence.objects.filter(message__conversation=conversation).order_by("message", "n"):
        held_back[each.message_id].append(
            {"sentence": each.text, "reasons": each.reasons, "outcome": each.outcome, "page_words": each.page_words}
        )
    for message, hidden in zip(saved_messages(conversation, with_replaced=True), more, strict=False):
        yield {
            **message,
            "looked_up_as": hidden["rewritten"],
            "words_read_as": hidden["readings"],
            "signs_of_an_attack": hidden["flags"],
            "replaced": hidden["is_replaced"],
            "feedback_comment": hidden["feedback__comment"] or "",
            "contacts_used": hidden["contacts_used"],
            "held_back": held_back[message["id"]],
            "made_from": _export_moment(hidden["record__moment"]) if hidden["record__moment"] else None,
        }


def _export_moment(stored: dict[str, Any]) -> dict[str, Any]:
    """Return what of an answer's record is of the visitor or of pages: the rest is the university's own."""
    moment = read_moment(stored)
    return {
        "said_of_themselves": moment.audience,
        "language": moment.language,
        "pages_read": [
            {"title": each.title, "address": each.url, "heading": each.heading, "text": each.text, "cited": each.cited}
            for each in moment.passages
        ],
    }
