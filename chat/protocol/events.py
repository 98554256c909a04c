"""All events that the server sends: those of an answer, and the others."""

from dataclasses import field
from typing import Annotated, Literal

from pydantic import Field
from pydantic.dataclasses import dataclass
from typing_extensions import TypeAliasType

from chat.protocol.answer_events import (
    Abstain,
    Cited,
    Clarify,
    Delta,
    End,
    Error,
    Help,
    OfficeAnswer,
    Queued,
    Sources,
    Working,
)
from chat.protocol.event import ConversationEvent, Event
from chat.protocol.shapes import (
    CaseView,
    Reason,
    Snapshot,
    Stars,
    Thumbs,
)


@dataclass(frozen=True, slots=True)
class StartedQuestion:
    """The saved question."""

    id: int
    client_id: str | None
    text: str
    created_at: str


@dataclass(frozen=True, slots=True)
class StartedMessage:
    """The answer that is being written."""

    id: int
    created_at: str


@dataclass(frozen=True, slots=True)
class MessageStart(ConversationEvent):
    """The first event of every answer; the question `replaces` is gone from the conversation, with its answer."""

    type: Literal["message_start"] = field(default="message_start", kw_only=True)
    question: StartedQuestion
    message: StartedMessage
    replaces: int | None = None


@dataclass(frozen=True, slots=True)
class FeedbackEvent(ConversationEvent):
    """The visitor rated an answer, in this tab or another."""

    type: Literal["feedback"] = field(default="feedback", kw_only=True)
    message: int
    value: Thumbs
    reasons: list[Reason] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class RatingEvent(ConversationEvent):
    """The visitor rated the conversation, in this tab or another."""

    type: Literal["rating"] = field(default="rating", kw_only=True)
    stars: Stars


@dataclass(frozen=True, slots=True)
class CaseChanged(ConversationEvent):
    """A question that the visitor left with an office is new, or something was said or done about it."""

    type: Literal["case"] = field(default="case", kw_only=True)
    case: CaseView


@dataclass(frozen=True, slots=True)
class CaseWithdrawn(ConversationEvent):
    """The visitor took a question back that they had left with an office."""

    type: Literal["case_withdrawn"] = field(default="case_withdrawn", kw_only=True)
    case: int


@dataclass(frozen=True, slots=True)
class ConversationDeleted(Event):
    """The visitor deleted the conversation, in this tab or another."""

    type: Literal["conversation_deleted"] = field(default="conversation_deleted", kw_only=True)
    seq: int | None = field(default=None, kw_only=True)
    conversation: str


@dataclass(frozen=True, slots=True)
class Erased(Event):
    """All data of the visitor was deleted, and the session with it: the page asks for consent again."""

    type: Literal["erased"] = field(default="erased", kw_only=True)
    seq: None = field(default=None, kw_only=True)


@dataclass(frozen=True, slots=True)
class Ping(Event):
    """Nothing happened. Silence of 45 s means that the connection is lost."""

    type: Literal["ping"] = field(default="ping", kw_only=True)


ServerEvent = TypeAliasType(
    "ServerEvent",
    Annotated[
        MessageStart
        | Delta
        | Cited
        | Sources
        | OfficeAnswer
        | Abstain
        | Help
        | Clarify
        | Queued
        | Working
        | End
        | Error
        | FeedbackEvent
        | RatingEvent
        | CaseChanged
        | CaseWithdrawn
        | ConversationDeleted
        | Erased
        | Ping
        | Snapshot,
        Field(discriminator="type"),
    ],
)
