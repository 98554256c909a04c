"""What visitors do: consent, ask, rate. Every step checks that what it touches is the visitor's own."""

import datetime
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.answering import Ask
from chat.events import Abstain, Cited, Contact, End, Source
from chat.guard import Refused
from chat.models import Assistant, Citation, Conversation, Feedback, Message, Visitor
from chat.profiles import PROFILES, Profile, profile_of
from knowledge.models import Document, Passage

#: An answer so young may not have begun to give signs of life.
JUST_BEGUN = datetime.timedelta(seconds=5)
HISTORY_MESSAGES = 6


class NotFound(Exception):
    """It does not exist, or it is somebody else's: the visitor is told the same."""


@dataclass(frozen=True, slots=True)
class Opened:
    """A saved question, the row its answer goes to, and what is needed to answer it."""

    conversation: UUID
    question: Message
    reply: Message
    ask: Ask
    is_new: bool


def default_assistant() -> Assistant | None:
    return Assistant.objects.order_by("pk").first()


def contact_of(assistant: Assistant | None) -> Contact | None:
    if assistant is None or not (assistant.contact_name or assistant.contact_email or assistant.contact_url):
        return None
    return Contact(assistant.contact_name, assistant.contact_url, assistant.contact_email)


def own_conversation(visitor: UUID, conversation: UUID) -> Conversation:
    """Raises NotFound."""
    found = Conversation.objects.filter(pk=conversation, visitor_id=visitor).first()
    if found is None:
        raise NotFound
    return found


@transaction.atomic
def open_question(*, visitor: UUID, conversation: UUID, client_id: UUID, text: str, language: str) -> Opened:
    """Saves a question and the empty row of its answer, together and before anything else happens.

    The same `client_id` again gives the same rows. Raises NotFound for somebody else's conversation or a visitor
    who is gone, Refused while another answer is being written.
    """
    if not Visitor.objects.filter(pk=visitor).exists():
        raise NotFound
    assistant = default_assistant()
    # ON CONFLICT DO NOTHING: several first questions at once make one conversation.
    Conversation.objects.bulk_create(
        [Conversation(pk=conversation, visitor_id=visitor, assistant=assistant)], ignore_conflicts=True
    )
    row = Conversation.objects.select_for_update().filter(pk=conversation, visitor_id=visitor).first()
    if row is None:
        raise NotFound
    earlier = row.messages.filter(client_id=client_id).select_related("answer").first()
    ask = _ask_for(row, text, language)
    if earlier is not None:
        return Opened(conversation, earlier, earlier.answer, ask, is_new=False)
    if row.messages.filter(status=Message.Status.GENERATING).exists():
        raise Refused("busy", _("Another answer in this conversation is still being written. Please wait for it."))
    question = Message.objects.create(conversation=row, role=Message.Role.USER, client_id=client_id, text=text)
    reply = Message.objects.create(
        conversation=row, role=Message.Role.ASSISTANT, question=question, status=Message.Status.GENERATING
    )
    row.save(update_fields=["updated_at"])
    return Opened(conversation, question, reply, ask, is_new=True)


def _ask_for(conversation: Conversation, text: str, language: str) -> Ask:
    """The server's own record is the only history there is: what a client claims was said does not count."""
    assistant = conversation.assistant
    said = conversation.messages.exclude(text="").order_by("-pk").values_list("role", "text")[:HISTORY_MESSAGES]
    return Ask(
        text=text,
        language=language,
        history=tuple(reversed(said)),
        collections=tuple(assistant.collections.values_list("slug", flat=True)) if assistant else (),
        institution=assistant.institution if assistant else "the university",
        contact=contact_of(assistant),
        profile=profile_for(assistant),
    )


def profile_for(assistant: Assistant | None) -> Profile:
    """How the assistant retrieves."""
    row = assistant.profile if assistant else None
    if row is None or row.is_built_in:
        return PROFILES[row.name if row else "default"]
    return profile_of(row)


def unfinished_answer(visitor: UUID, conversation: UUID) -> int | None:
    """The id of the answer that is being written there, unless it has only just begun."""
    running = Message.objects.filter(
        conversation_id=conversation,
        conversation__visitor_id=visitor,
        status=Message.Status.GENERATING,
        created_at__lt=timezone.now() - JUST_BEGUN,
    )
    return running.values_list("pk", flat=True).first()


def give_up(reply_id: int, text: str) -> None:
    """Saves what is known of an answer whose process died."""
    Message.objects.filter(pk=reply_id, status=Message.Status.GENERATING).update(
        status=Message.Status.FAILED, text=text, reason="interrupted", finished_at=timezone.now()
    )


@transaction.atomic
def close_answer(*, reply_id: int, text: str, status: str, end: End | None, events: list[Cited | Abstain]) -> None:
    """Saves what became of an answer, whatever it was; an answer deleted meanwhile stays deleted."""
    reply = Message.objects.select_for_update().filter(pk=reply_id).first()
    if reply is None:
        return
    reply.text, reply.status, reply.finished_at = text, status, timezone.now()
    for event in events:
        if isinstance(event, Abstain):
            reply.text, reply.reason = event.text, event.reason
    if end is not None:
        reply.strategy, reply.notice, reply.model, reply.profile = end.strategy, end.notice, end.model, end.profile
        reply.evidence = end.evidence
        reply.timings_ms = {name: round(value, 1) for name, value in (end.timings_ms or {}).items()}
    reply.save()
    cited = [event for event in events if isinstance(event, Cited)]
    # A passage may have been re-cut or deleted while the model wrote: the citation keeps its words all the same.
    passages = set(Passage.objects.filter(pk__in={event.passage_id for event in cited}).values_list("pk", flat=True))
    documents = set(Document.objects.filter(pk__in={event.document_id for event in cited}).values_list("pk", flat=True))
    Citation.objects.bulk_create(
        Citation(
            message=reply,
            document_id=event.document_id if event.document_id in documents else None,
            passage_id=event.passage_id if event.passage_id in passages else None,
            **asdict(event.source),
        )
        for event in cited
    )


def rate(*, visitor: UUID, message_id: object, value: object) -> tuple[UUID, int]:
    """Saves thumbs up (1), down (-1) or neither (0) on the visitor's own answer; raises NotFound, Refused."""
    if value not in (-1, 0, 1) or isinstance(value, (bool, float)) or not isinstance(message_id, int):
        raise Refused("bad_feedback", _("A rating is 1, -1 or 0."))
    reply = Message.objects.filter(pk=message_id, role=Message.Role.ASSISTANT, conversation__visitor_id=visitor).first()
    if reply is None:
        raise NotFound
    if value == 0:
        Feedback.objects.filter(message=reply).delete()
    else:
        Feedback.objects.update_or_create(message=reply, defaults={"value": value})
    return reply.conversation_id, int(value)


def saved_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation as the widget shows it, oldest message first; two queries however long it is."""
    contact = contact_of(conversation.assistant)
    messages = conversation.messages.select_related("feedback").prefetch_related("citations").order_by("pk")
    return [
        {
            "id": message.pk,
            "role": message.role,
            "client_id": str(message.client_id) if message.client_id else None,
            "text": message.text,
            "status": message.status,
            "created_at": message.created_at.isoformat(),
            "strategy": message.strategy,
            "notice": message.notice,
            "reason": message.reason,
            "sources": [
                {name: getattr(citation, name) for name in Source.__slots__} for citation in message.citations.all()
            ],
            "contact": asdict(contact) if contact and message.status == Message.Status.ABSTAINED else None,
            "feedback": message.feedback.value if hasattr(message, "feedback") else 0,
        }
        for message in messages
    ]


def new_visitor() -> UUID:
    """Called only when somebody agreed."""
    return Visitor.objects.create().pk


def visitor_exists(visitor: UUID) -> bool:
    return Visitor.objects.filter(pk=visitor).exists()


def own_running_answer(visitor: UUID, message_id: object) -> int:
    """The id of the visitor's own answer that is being written; raises NotFound."""
    running = Message.objects.filter(conversation__visitor_id=visitor, status=Message.Status.GENERATING)
    if not isinstance(message_id, int) or not running.filter(pk=message_id).exists():
        raise NotFound
    return message_id
