"""Services for a visitor's tab, the same over socket and HTTP: checked, saved, published to all of the visitor's tabs.

All raise `errors.NotFound` for what is not the visitor's own, `errors.Refused` for what makes no sense, and
redis.RedisError, OSError and django.db.DatabaseError if a part is away.
"""

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from chat.conversations import feedback, opening, store, visitors
from chat.conversations.opening import StartedAnswer
from chat.errors import Busy, NotFound
from chat.protocol.events import ConversationDeleted, Erased, FeedbackEvent, RatingEvent
from chat.protocol.shapes import ContactKind, Reason, Stars, Thumbs
from chat.sites import rate_limits
from chat.sites.session_tokens import Session
from chat.streaming import event_log, replay, runner
from chat.streaming.publisher import publish_once
from core.db.prepared import in_database


async def ask(
    session: Session,
    *,
    conversation: UUID,
    client_id: UUID,
    text: str,
    address: str,
    as_question: bool = False,
    replaces: int | None = None,
) -> StartedAnswer:
    """Save a cleaned question and begin its answer; find both if it was asked already.

    It takes the place of the question `replaces`, which has to be the latest.
    """
    await rate_limits.count_question(visitor=session.visitor.hex, address=address, site=session.site)
    if await event_log.is_forgotten(conversation):
        raise NotFound
    open_question = partial(
        in_database(opening.open_question),
        visitor=session.visitor,
        conversation=conversation,
        client_id=client_id,
        text=text,
        language=session.language,
        site=session.site,
        as_question=as_question,
        replaces=replaces,
    )
    try:
        opened: StartedAnswer = await open_question()
    except Busy:
        if not await replay.settle(session.visitor, conversation):
            raise
        opened = await open_question()
    if opened.is_new:
        runner.start(opened, visitor=session.visitor)
    return opened


async def stop(visitor: UUID, message: int) -> None:
    await event_log.request_stop(await in_database(store.own_running_answer)(visitor, message))


async def give_feedback(visitor: UUID, *, message: int, value: Thumbs, reasons: Sequence[Reason], comment: str) -> None:
    conversation, thumbs, named = await in_database(feedback.give_feedback)(
        visitor=visitor, message_id=message, value=value, reasons=reasons, comment=comment
    )
    await publish_once(visitor, conversation, FeedbackEvent(message, thumbs, named))


async def rate(visitor: UUID, *, conversation: UUID, stars: Stars) -> None:
    await in_database(feedback.rate_conversation)(visitor=visitor, conversation=conversation, stars=stars)
    await publish_once(visitor, conversation, RatingEvent(stars))


async def use_contact(visitor: UUID, *, message: int, kind: ContactKind) -> None:
    await in_database(feedback.use_contact)(visitor=visitor, message_id=message, kind=kind)


async def delete_conversation(visitor: UUID, conversation: UUID) -> None:
    """Delete a conversation; its event log first: if Valkey is away, nothing is half deleted."""
    await in_database(store.own_conversation)(visitor, conversation)
    await _end(visitor, [conversation])
    await in_database(visitors.delete_conversation)(visitor=visitor, conversation=conversation)
    await event_log.publish(visitor, ConversationDeleted(str(conversation)).to_wire())


async def erase(visitor: UUID) -> None:
    """Delete all data of a visitor; their session ends."""
    await _end(visitor, await in_database(visitors.conversation_ids)(visitor))
    await in_database(visitors.delete_visitor)(visitor)
    await event_log.publish(visitor, Erased().to_wire())


async def _end(visitor: UUID, conversations: list[UUID]) -> None:
    """Stop what is being written there and forget the events."""
    if not conversations:
        return
    for answer in await in_database(visitors.running_answers)(visitor, conversations):
        await event_log.request_stop(answer)
    await event_log.forget(*conversations)
