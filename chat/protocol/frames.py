"""Frames that a client sends over the websocket. What a frame holds besides is ignored.

Fields are checked in the order in which they stand here; `chat.websocket.frames` says what a wrong one is refused with.
"""

from enum import IntEnum
from typing import Annotated, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field
from typing_extensions import TypeAliasType

from chat.protocol.shapes import ContactKind, Language, Reason, Stars, Thumbs


class CloseCode(IntEnum):
    """Closing codes of this protocol. 4401: no frame carried a valid token for 30 s. 4403: the assistant is not allowed
    on this page. 4408: the client read too slowly."""

    NO_TOKEN = 4401
    FORBIDDEN = 4403
    SLOW = 4408


def _event_number(value: object) -> int | None:
    """Return the number of an event; None if the value cannot be one."""
    return value if type(value) is int and 0 <= value < 2**53 else None


class Frame(BaseModel):
    """A frame. The first one carries the token of the session, a later one may renew it."""

    model_config = ConfigDict(frozen=True)
    token: str | None = None


class Ask(Frame):
    """A question; the same `client_id` again is the same question."""

    type: Literal["ask"]
    text: Annotated[str, Field(strict=True)]
    conversation: UUID
    client_id: UUID
    as_question: Annotated[
        bool,
        BeforeValidator(lambda value: value is True),
        Field(description="Look the text up even if it reads like a cry for help."),
    ] = False
    replaces: Annotated[
        int | None,
        Field(
            strict=True, description="The conversation's latest question, if this one takes its and its answer's place."
        ),
    ] = None


class Resume(Frame):
    """Ask for the events after number `after`, or for the saved conversation (null)."""

    type: Literal["resume"]
    conversation: UUID
    after: Annotated[int | None, BeforeValidator(_event_number)] = None


class Stop(Frame):
    """Stop an answer that is being written."""

    type: Literal["stop"]
    message: Annotated[int, Field(strict=True)]


class GiveFeedback(Frame):
    """Rate an answer; 0 withdraws the rating."""

    type: Literal["feedback"]
    value: Thumbs
    message: Annotated[int, Field(strict=True)]
    reasons: list[Reason] = []
    comment: Annotated[str, Field(strict=True)] = ""


class GiveRating(Frame):
    """Rate the conversation."""

    type: Literal["rating"]
    conversation: UUID
    stars: Stars


class UseContact(Frame):
    """Tell that the visitor went to a contact that an answer names: of which kind, not whose."""

    type: Literal["contact"]
    message: Annotated[int, Field(strict=True)]
    kind: ContactKind


class SetLanguage(Frame):
    """Choose the language of what the server says."""

    type: Literal["language"]
    language: Language


ClientFrame = TypeAliasType(
    "ClientFrame",
    Annotated[Ask | Resume | Stop | GiveFeedback | GiveRating | UseContact | SetLanguage, Field(discriminator="type")],
)
FRAMES: dict[str, type[Frame]] = {
    "ask": Ask,
    "resume": Resume,
    "stop": Stop,
    "feedback": GiveFeedback,
    "rating": GiveRating,
    "contact": UseContact,
    "language": SetLanguage,
}
