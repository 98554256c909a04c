"""Collects what a tab needs that comes (back): the events it missed, or else the saved conversation."""

from dataclasses import asdict, dataclass, field
from typing import Any
from uuid import UUID

from chat.cases.views import own_cases
from chat.conversations.closing import give_up, unfinished_answer
from chat.conversations.store import own_conversation, saved_messages
from chat.errors import NotFound
from chat.pipeline.reply import add_below
from chat.protocol.shapes import OfficeWords
from chat.streaming import event_log
from chat.streaming.holder import has_ended
from core.db.prepared import in_database

#: A snapshot is taken again when something was said while it was read.
ATTEMPTS = 3


@dataclass(frozen=True, slots=True)
class Saved:
    """A conversation as the database has it."""

    messages: list[dict[str, Any]] = field(default_factory=list)
    title: str = ""
    stars: int | None = None
    cases: list[dict[str, Any]] = field(default_factory=list)


async def resume(*, visitor: UUID, conversation: UUID, after: int | None) -> list[dict[str, Any]]:
    """Events to send, in order: exactly those after `after` where they are kept, else a `conversation` snapshot.

    A conversation that is not there yet (its id is the browser's) or is somebody else's is an empty one.
    """
    if await settle(visitor, conversation):
        after = None  # no event tells of it
    read = in_database(_read)
    if await read(visitor, conversation) is None:
        return [_snapshot(conversation, Saved(), 0)]
    if after is not None:
        missed = await event_log.since(conversation, after)
        if missed and missed[0]["seq"] == after + 1:
            return missed
        if not missed and await event_log.last_seq(conversation) == after:
            return []
    for _attempt in range(ATTEMPTS):
        before = await event_log.last_seq(conversation)
        saved = await read(visitor, conversation) or Saved()
        messages = saved.messages
        if messages and messages[-1]["status"] == "generating":
            events = await event_log.since(conversation, 0)
            own = [event for event in events if _message_id(event) == messages[-1]["id"]]
            begun = own[0]["seq"] if own else before
            return [
                _snapshot(conversation, saved, begun),
                *(event for event in events if event["seq"] > begun),
            ]
        if before == await event_log.last_seq(conversation):
            break
    return [_snapshot(conversation, saved, before)]


async def settle(visitor: UUID, conversation: UUID) -> bool:
    """End an answer whose process died; keep its published text. Return whether there was one."""
    unfinished = await in_database(unfinished_answer)(visitor, conversation)
    if unfinished is None:
        return False
    reply_id, holder = unfinished.reply_id, await event_log.holder(unfinished.reply_id)
    # A new answer may have no lease yet.
    if not has_ended(holder) if holder else unfinished.has_just_begun:
        return False
    text, office = "", None
    for event in await event_log.since(conversation, 0):
        if event.get("message") != reply_id:
            continue
        if event["type"] == "office_answer":
            office = OfficeWords(**event["answer"])
            text = office.as_text
        elif event["type"] == "message_delta":
            text = add_below(office, text, event["text"])
        elif "text" in event:
            text = event["text"]
    await in_database(give_up)(reply_id, text, office)
    return True


def _read(visitor: UUID, conversation: UUID) -> Saved | None:
    try:
        row = own_conversation(visitor, conversation)
    except NotFound:
        return None
    return Saved(saved_messages(row), row.title, row.stars, [asdict(case) for case in own_cases(row)])


def _snapshot(conversation: UUID, saved: Saved, last_seq: int) -> dict[str, Any]:
    return {
        "type": "conversation",
        "seq": None,
        "conversation": str(conversation),
        "messages": saved.messages,
        "last_seq": last_seq,
        "title": saved.title,
        "stars": saved.stars,
        "cases": saved.cases,
    }


def _message_id(event: dict[str, Any]) -> int | None:
    message = event.get("message")
    return message["id"] if isinstance(message, dict) else message
