"""Reads conversations as they are saved. Every step checks that what it touches is the visitor's own."""

from dataclasses import asdict
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from django.utils import timezone

from chat.errors import NotFound
from chat.models import Assistant, Citation, Conversation, Message
from chat.pipeline.answering.help_contacts import build_card, list_contacts
from chat.pipeline.question import build_contact
from chat.pipeline.reply import text_below
from chat.protocol.shapes import Appointment, Link, OfficeWords, Source, is_machine_made
from chat.take_along.appointments import appointments_of

#: What of a citation a student sees.
SHOWN_OF_SOURCE = (
    "n",
    "title",
    "url",
    "heading",
    "page",
    "quote",
    "links",
    "language",
    "checked_on",
    "edition",
    "read_by_ocr",
)


def own_conversation(visitor: UUID, conversation: UUID) -> Conversation:
    """Return the visitor's own conversation; raise NotFound."""
    found = Conversation.objects.filter(pk=conversation, visitor_id=visitor).first()
    if found is None:
        raise NotFound
    return found


def own_running_answer(visitor: UUID, message_id: int) -> int:
    """Return the id of the visitor's own answer that is being written; raise NotFound."""
    running = Message.objects.filter(conversation__visitor_id=visitor, status=Message.Status.GENERATING)
    if not running.filter(pk=message_id).exists():
        raise NotFound
    return message_id


def saved_messages(conversation: Conversation, *, with_replaced: bool = False) -> list[dict[str, Any]]:
    """Return the conversation as the widget shows it, oldest message first; two queries however long it is."""
    contact = build_contact(conversation.assistant)
    contacts = lru_cache(partial(list_contacts, conversation.assistant or Assistant()))
    messages = conversation.messages.select_related("feedback").prefetch_related("citations").order_by("pk")
    if not with_replaced:
        messages = messages.filter(is_replaced=False)
    return [
        {
            "id": message.pk,
            "role": message.role,
            "client_id": str(message.client_id) if message.client_id else None,
            "text": text_below(_office_words(message), message.text),
            "status": message.status,
            "created_at": message.created_at.isoformat(),
            "strategy": message.strategy,
            "machine_made": message.role == Message.Role.ASSISTANT and is_machine_made(message.strategy),
            "notice": message.notice,
            "reason": message.reason,
            "sources": [
                {name: getattr(citation, name) for name in SHOWN_OF_SOURCE} for citation in message.citations.all()
            ],
            "choices": [option["label"] for option in message.choices["options"]] if message.choices else [],
            "related": message.related,
            "contact": asdict(contact) if contact and message.status == Message.Status.ABSTAINED else None,
            "help": asdict(build_card(message.route, contacts(), message.language)) if _shows_card(message) else None,
            "office": message.office,
            "dates": [asdict(each) for each in dates_of(message)],
            "feedback": message.feedback.value if hasattr(message, "feedback") else 0,
            "feedback_reasons": message.feedback.reasons if hasattr(message, "feedback") else [],
        }
        for message in messages
    ]


def dates_of(answer: Message) -> tuple[Appointment, ...]:
    """Return what of a complete answer can be put into a calendar."""
    if answer.role != Message.Role.ASSISTANT or answer.status != Message.Status.COMPLETE:
        return ()
    office = _office_words(answer)
    sources = [source_of(citation) for citation in answer.citations.all()]
    return appointments_of(text_below(office, answer.text), office, sources, today=timezone.localdate())


def source_of(citation: Citation) -> Source:
    shown = {name: getattr(citation, name) for name in SHOWN_OF_SOURCE}
    return Source(**shown | {"links": tuple(Link(**link) for link in citation.links)})


def own_answer(visitor: UUID, message_id: int) -> Message:
    """Return the visitor's own answer; raise NotFound."""
    answers = Message.objects.filter(conversation__visitor_id=visitor, role=Message.Role.ASSISTANT)
    found = answers.select_related("conversation__assistant").prefetch_related("citations").filter(pk=message_id)
    if (answer := found.first()) is None:
        raise NotFound
    return answer


def _office_words(message: Message) -> OfficeWords | None:
    return OfficeWords(**message.office) if message.office else None


def _shows_card(message: Message) -> bool:
    return message.is_help and message.role == Message.Role.ASSISTANT
