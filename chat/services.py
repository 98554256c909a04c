"""Questions and their answers as they are saved. Every step checks that what it touches is the visitor's own."""

import datetime
from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.asking import ask_in, contact_of
from chat.clarifying import chosen, stored
from chat.context import Ask
from chat.events import Abstain, Cited, Clarify, End
from chat.guard import Refused
from chat.guarding.injection import flag_document, flag_injection
from chat.models import Citation, Conversation, Message, Visitor
from chat.sites import place_of
from chat.wording import title_of
from faqs.models import FAQ
from knowledge.languages import language_of
from knowledge.models import Document, Passage

#: An answer so young may not have begun to give signs of life.
JUST_BEGUN = datetime.timedelta(seconds=5)
#: What the last event tells of an answer that its row keeps under the same name.
RECORDED = (
    *("strategy", "notice", "model", "profile", "prompt", "route", "rewritten", "evidence"),
    *("prompt_tokens", "answer_tokens", "retrieved", "faq_similarity"),
)
#: What of a citation a student sees.
SHOWN_OF_SOURCE = ("n", "title", "url", "heading", "page", "quote", "links")


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


def own_conversation(visitor: UUID, conversation: UUID) -> Conversation:
    """Raises NotFound."""
    found = Conversation.objects.filter(pk=conversation, visitor_id=visitor).first()
    if found is None:
        raise NotFound
    return found


@transaction.atomic
def open_question(
    *, visitor: UUID, conversation: UUID, client_id: UUID, text: str, language: str, site: str = ""
) -> Opened:
    """Saves a question and the empty row of its answer, together and before anything else happens.

    The same `client_id` again gives the same rows. A new conversation is with the assistant of `site`, and named after
    its first question. Raises NotFound for somebody else's conversation or a visitor who is gone, UnknownSite, Refused
    while another answer is being written.
    """
    if not Visitor.objects.filter(pk=visitor).exists():
        raise NotFound
    place = place_of(site)
    new = Conversation(
        pk=conversation, visitor_id=visitor, assistant=place.assistant, site_id=place.site.pk, title=title_of(text)
    )
    # ON CONFLICT DO NOTHING: several first questions at once make one conversation.
    Conversation.objects.bulk_create([new], ignore_conflicts=True)
    row = Conversation.objects.select_for_update().filter(pk=conversation, visitor_id=visitor).first()
    if row is None:
        raise NotFound
    earlier = row.messages.filter(client_id=client_id).select_related("answer").first()
    if earlier is not None:
        return Opened(conversation, earlier, earlier.answer, ask_in(row, text, language), is_new=False)
    if row.messages.filter(status=Message.Status.GENERATING).exists():
        raise Refused("busy", _("Another answer in this conversation is still being written. Please wait for it."))
    looked_up = _take_choice(row, text)
    ask = ask_in(row, looked_up, language)
    question = Message.objects.create(
        conversation=row,
        role=Message.Role.USER,
        client_id=client_id,
        text=text,
        language=language_of(text) or ask.language,
        flags=list(flag_injection(text)),
    )
    reply = Message.objects.create(
        conversation=row,
        role=Message.Role.ASSISTANT,
        question=question,
        language=ask.language,
        status=Message.Status.GENERATING,
    )
    row.save(update_fields=["updated_at"])
    return Opened(conversation, question, reply, ask, is_new=True)


def _take_choice(conversation: Conversation, text: str) -> str:
    """What is to be looked up: where the student was just asked back and this is a choice, the question from before,
    and the choice holds for the rest of the conversation."""
    last = conversation.messages.filter(role=Message.Role.ASSISTANT).order_by("-pk").first()
    if last is None or not last.choices or (choice := chosen(text, last.choices)) is None:
        return text
    if choice.tag:
        conversation.audience = [*conversation.audience, choice.tag]
        conversation.save(update_fields=["audience"])
    return str(last.choices["question"])


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
def close_answer(
    *, reply_id: int, text: str, status: str, end: End | None, events: list[Cited | Abstain | Clarify]
) -> None:
    """Saves what became of an answer, whatever it was; an answer deleted meanwhile stays deleted."""
    reply = Message.objects.select_for_update().filter(pk=reply_id).first()
    if reply is None:
        return
    reply.text, reply.status, reply.finished_at = text, status, timezone.now()
    for event in events:
        if isinstance(event, Abstain):
            reply.text, reply.reason, reply.related = event.text, event.reason, list(event.related)
        elif isinstance(event, Clarify):
            reply.text, reply.choices = event.text, stored(event)
    if end is not None:
        for name in RECORDED:
            setattr(reply, name, getattr(end, name))
        # Where it was deleted meanwhile the row has none; asked inside the statement that saves it, not before.
        reply.faq_id = Subquery(FAQ.objects.filter(pk=end.faq).values("pk")) if end.faq else None
        reply.timings_ms = {name: round(value, 1) for name, value in (end.timings_ms or {}).items()}
    cited = [event for event in events if isinstance(event, Cited)]
    # A passage may have been re-cut or deleted while the model wrote: the citation keeps its words all the same.
    passages = dict(Passage.objects.filter(pk__in={event.passage_id for event in cited}).values_list("pk", "text"))
    reply.flags = sorted({flag for passage in passages.values() for flag in flag_document(passage)})
    reply.save()
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
                {name: getattr(citation, name) for name in SHOWN_OF_SOURCE} for citation in message.citations.all()
            ],
            "choices": [option["label"] for option in message.choices["options"]] if message.choices else [],
            "related": message.related,
            "contact": asdict(contact) if contact and message.status == Message.Status.ABSTAINED else None,
            "feedback": message.feedback.value if hasattr(message, "feedback") else 0,
            "feedback_reasons": message.feedback.reasons if hasattr(message, "feedback") else [],
        }
        for message in messages
    ]


def own_running_answer(visitor: UUID, message_id: object) -> int:
    """The id of the visitor's own answer that is being written; raises NotFound."""
    running = Message.objects.filter(conversation__visitor_id=visitor, status=Message.Status.GENERATING)
    if type(message_id) is not int or not running.filter(pk=message_id).exists():
        raise NotFound
    return message_id
