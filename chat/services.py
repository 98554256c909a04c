"""Questions and their answers as they are saved. Every step checks that what it touches is the visitor's own."""

import datetime
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any
from uuid import UUID

from django.db import IntegrityError
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext as _

from chat.asking import ask_as_set_up, contact_of
from chat.clarifying import chosen, stored
from chat.context import Ask
from chat.events import Abstain, Cited, Clarify, End, Help
from chat.guard import Refused
from chat.help_classifier import recognised_need
from chat.help_contacts import card_of, contacts_of
from chat.models import Assistant, Conversation, Message
from chat.records import Look, flagged_texts, look, save_answer, save_question
from chat.sites import UnknownSite
from chat.wording import title_of
from knowledge.guarding.injection import flag_document, flag_injection
from knowledge.languages import language_of

#: An answer so young may not have begun to give signs of life.
JUST_BEGUN = datetime.timedelta(seconds=5)
#: Several questions at once may each find that another was faster; the last of so many is told to wait.
ATTEMPTS = 4
#: What the last event tells of an answer that its row keeps under the same name.
RECORDED = (
    *("strategy", "notice", "model", "profile", "prompt", "route", "rewritten", "evidence"),
    *("prompt_tokens", "answer_tokens", "retrieved", "faq_similarity"),
)
#: What of a citation a student sees.
SHOWN_OF_SOURCE = ("n", "title", "url", "heading", "page", "quote", "links")


class NotFound(Exception):
    """It does not exist, or it is somebody else's: the visitor is told the same."""


class Busy(Refused):
    """Another answer in the conversation is being written."""


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


def open_question(
    *,
    visitor: UUID,
    conversation: UUID,
    client_id: UUID,
    text: str,
    language: str,
    site: str = "",
    as_question: bool = False,
) -> Opened:
    """Saves a question and the empty row of its answer, together and before anything else happens.

    The same `client_id` again gives the same rows. A new conversation is with the assistant of `site`, and named after
    its first question. With `as_question` it is looked up even if it reads like a cry for help. Raises NotFound for
    somebody else's conversation or a visitor who is gone, UnknownSite, Busy while another answer is being written.
    """
    if "\0" in site:  # PostgreSQL refuses it
        raise UnknownSite
    for _attempt in range(ATTEMPTS):
        seen = look(visitor=visitor, conversation=conversation, client_id=client_id, site=site)
        if not seen.knows_visitor or seen.owner not in (None, visitor):
            raise NotFound
        if not seen.is_site_active and (site or seen.site is not None):
            raise UnknownSite
        ask = replace(_ask_in(seen, visitor, text, language), as_question=as_question)
        if seen.earlier is not None:
            question = Message.objects.select_related("answer").get(pk=seen.earlier)
            return Opened(conversation, question, question.answer, ask, is_new=False)
        if seen.is_being_answered:
            break
        question = Message(
            conversation_id=conversation,
            role=Message.Role.USER,
            client_id=client_id,
            text=text,
            language=language_of(text) or ask.language,
            flags=list(flag_injection(text)),
            created_at=timezone.now(),
        )
        with suppress(IntegrityError):  # another one was faster
            if saved := save_question(question, seen=seen, visitor=visitor, title=title_of(text), ask=ask):
                question.pk, reply_id = saved
                reply = Message(
                    pk=reply_id,
                    conversation_id=conversation,
                    role=Message.Role.ASSISTANT,
                    question=question,
                    language=ask.language,
                    status=Message.Status.GENERATING,
                    created_at=question.created_at,
                )
                return Opened(conversation, question, reply, ask, is_new=True)
    raise Busy("busy", _("Another answer in this conversation is still being written. Please wait for it."))


def _ask_in(seen: Look, visitor: UUID, text: str, language: str) -> Ask:
    """Where the student was just asked back and this is a choice, the question from before is looked up, and the choice
    holds for the rest of the conversation."""
    choice = chosen(text, seen.choices) if seen.choices else None
    looked_up = str(seen.choices["question"]) if seen.choices and choice else text
    return replace(
        ask_as_set_up(seen.assistant, seen.versions, looked_up, language),
        # The server's own record is the only history there is: what a client claims was said does not count.
        history=seen.history,
        audience=(*seen.audience, choice.tag) if choice and choice.tag else seen.audience,
        asked_kinds=seen.asked_kinds,
        caller=visitor.hex,
    )


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
    _mark_need(reply_id, _need_of_question(reply_id))
    Message.objects.filter(pk=reply_id, status=Message.Status.GENERATING).update(
        status=Message.Status.FAILED, text=text, reason="interrupted", finished_at=timezone.now()
    )


def _need_of_question(reply_id: int) -> str:
    """Return the need that an answer's question speaks of, if its answer ended before anybody had recognised it."""
    text = Message.objects.filter(answer=reply_id).values_list("text", flat=True).first()
    return recognised_need(text or "") or ""


def _mark_need(reply_id: int, route: str) -> None:
    """Mark a cry for help on both rows, while its answer is not finished: no list of staff's has seen it by then."""
    if route in Message.HELP_ROUTES:
        Message.objects.filter(Q(pk=reply_id) | Q(answer=reply_id)).update(route=route)


def close_answer(
    *, reply_id: int, text: str, status: str, end: End | None, events: list[Cited | Abstain | Clarify | Help]
) -> None:
    """Saves what became of an answer, whatever it was; an answer deleted meanwhile stays deleted."""
    row: dict[str, Any] = {"text": text}
    _mark_need(reply_id, end.route if end else _need_of_question(reply_id))
    for event in events:
        if isinstance(event, Abstain):
            row |= {"text": event.text, "reason": event.reason, "related": event.related}
        elif isinstance(event, Help):
            row |= {"text": event.text}
        elif isinstance(event, Clarify):
            row |= {"text": event.text, "choices": stored(event)}
    if end is not None:
        row |= {name: getattr(end, name) for name in (*RECORDED, "faq")}
        row["timings_ms"] = {name: round(value, 1) for name, value in (end.timings_ms or {}).items()}
    cited = [event for event in events if isinstance(event, Cited)]
    # A passage may have been re-cut or deleted while the model wrote: the citation keeps its words all the same.
    passages = flagged_texts({event.passage_id for event in cited}) if cited else []
    row["flags"] = sorted({flag for passage in passages for flag in flag_document(passage)})
    save_answer(reply_id, cited=cited, status=str(status), now=timezone.now(), **row)


def saved_messages(conversation: Conversation) -> list[dict[str, Any]]:
    """The conversation as the widget shows it, oldest message first; two queries however long it is."""
    contact = contact_of(conversation.assistant)
    contacts = lru_cache(partial(contacts_of, conversation.assistant or Assistant()))
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
            "help": asdict(card_of(message.route, contacts(), message.language)) if _shows_card(message) else None,
            "feedback": message.feedback.value if hasattr(message, "feedback") else 0,
            "feedback_reasons": message.feedback.reasons if hasattr(message, "feedback") else [],
        }
        for message in messages
    ]


def _shows_card(message: Message) -> bool:
    return message.is_help and message.role == Message.Role.ASSISTANT


def own_running_answer(visitor: UUID, message_id: object) -> int:
    """The id of the visitor's own answer that is being written; raises NotFound."""
    running = Message.objects.filter(conversation__visitor_id=visitor, status=Message.Status.GENERATING)
    if type(message_id) is not int or not running.filter(pk=message_id).exists():
        raise NotFound
    return message_id
