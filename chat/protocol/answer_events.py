"""Events of an answer, which every caller of the pipeline gets."""

from dataclasses import field
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import ConfigDict, Field, PlainSerializer
from pydantic.dataclasses import dataclass
from pydantic.json_schema import JsonSchemaValue

from chat.protocol.event import CONVERSATION, MESSAGE, SEQ, AnswerEvent, Event
from chat.protocol.moment import Moment
from chat.protocol.shapes import (
    Appointment,
    Contact,
    HelpCard,
    OfficeWords,
    OneOf,
    Source,
    Strategy,
    is_machine_made,
)

#: For the record of an answer, not for the wire.
Recorded = Field(exclude=True)


@dataclass(frozen=True, slots=True, config=ConfigDict(title="MessageDelta"))
class Delta(AnswerEvent):
    """More of the answer's text."""

    type: Literal["message_delta"] = field(default="message_delta", kw_only=True)
    text: str


@dataclass(frozen=True, slots=True, config=ConfigDict(title="Citation"))
class Cited(AnswerEvent):
    """A source cited for the first time, just before the delta that holds its `[n]`."""

    type: Literal["citation"] = field(default="citation", kw_only=True)
    source: Source
    passage_id: Annotated[int, Recorded]
    document_id: Annotated[int, Recorded]


@dataclass(frozen=True, slots=True)
class Sources(AnswerEvent):
    """All sources that were cited, once the text is complete."""

    type: Literal["sources"] = field(default="sources", kw_only=True)
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Abstain(AnswerEvent):
    """There is no answer, and why; `text` says so to the student, `related` are curated questions close to it."""

    type: Literal["abstain"] = field(default="abstain", kw_only=True)
    reason: str
    text: str
    contact: Contact | None
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OfficeAnswer(AnswerEvent):
    """Staff have answered this question in their own words; what the deltas bring stands below it."""

    type: Literal["office_answer"] = field(default="office_answer", kw_only=True)
    answer: OfficeWords


@dataclass(frozen=True, slots=True)
class Help(AnswerEvent):
    """The message is a cry for help; `text` says what to do now."""

    type: Literal["help"] = field(default="help", kw_only=True)
    text: str
    card: HelpCard


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice for a student who is asked back; `tag` is what follows for the audience, empty where nothing does."""

    label: str
    tag: str


def _labels(choices: tuple[Choice, ...]) -> list[str]:
    return [choice.label for choice in choices]


@dataclass(frozen=True, slots=True)
class Clarify(AnswerEvent):
    """The student is asked back; a choice's label, sent as the next question, is understood as that choice."""

    type: Literal["clarify"] = field(default="clarify", kw_only=True)
    text: str
    choices: Annotated[tuple[Choice, ...], PlainSerializer(_labels)]
    #: The kind of tag that decides the answer, and what will be looked up then.
    kind: Annotated[str, Recorded]
    question: Annotated[str, Recorded]


@dataclass(frozen=True, slots=True)
class Queued(AnswerEvent):
    """The model is busy with others; `position` is how many are served before, this one included."""

    type: Literal["queued"] = field(default="queued", kw_only=True)
    position: int


@dataclass(frozen=True, slots=True)
class Working(AnswerEvent):
    """Tells what happens before there is text: `pages` pages are read, or the answer is being written and checked."""

    type: Literal["working"] = field(default="working", kw_only=True)
    stage: Annotated[str, OneOf("reading", "writing")]
    pages: int = 0


@dataclass(frozen=True, slots=True, config=ConfigDict(title="ErrorEvent"))
class Error(AnswerEvent):
    """Something failed; `detail` is a sentence for the student in their language.

    With a `seq` it is a part of an answer; without one it replies to a frame, and names what the frame was about.
    """

    required: ClassVar[JsonSchemaValue] = {}
    optional: ClassVar[JsonSchemaValue] = {
        "seq": SEQ,
        "conversation": CONVERSATION,
        "message": MESSAGE,
        "client_id": {"type": "string"},
    }
    type: Literal["error"] = field(default="error", kw_only=True)
    code: str
    detail: str
    retry_after: int | None = None


class Outcome(StrEnum):
    """The replacement of a held-back sentence: a quote, one that stood there already, or nothing."""

    QUOTED = "quoted"
    REPEATED = "repeated"
    LEFT_OUT = "left_out"


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A sentence of the language model that was not shown as written, for staff.

    `reasons` are the kinds of doubt, each with the part of the sentence that raised it. `page_words` are the page's own
    words that it was compared with; they stand in the answer if `outcome` says so.
    """

    text: str
    reasons: tuple[tuple[str, str], ...]
    outcome: Outcome
    page_words: str = ""
    document_id: int | None = None
    title: str = ""
    url: str = ""
    heading: str = ""
    page: int | None = None


@dataclass(frozen=True, slots=True, config=ConfigDict(title="MessageEnd"))
class End(AnswerEvent):
    """The last event of every answer; `machine_made` says that a machine wrote the text or put it together.

    `related` are curated questions that lead on from an answer, `dates` what can be put into a calendar.
    """

    optional: ClassVar[JsonSchemaValue] = {"seq": SEQ, "machine_made": {"type": "boolean"}}
    type: Literal["message_end"] = field(default="message_end", kw_only=True)
    status: Annotated[str, OneOf("complete", "abstained", "clarifying", "stopped", "failed")]
    strategy: Strategy = ""
    notice: str = ""
    finished_at: str | None = field(default=None, kw_only=True)
    related: tuple[str, ...] = ()
    dates: tuple[Appointment, ...] = ()
    model: Annotated[str, Recorded] = ""
    profile: Annotated[str, Recorded] = ""
    prompt: Annotated[str, Recorded] = ""
    route: Annotated[str, Recorded] = ""
    rewritten: Annotated[str, Recorded] = ""
    readings: Annotated[list[dict[str, Any]], Recorded] = field(default_factory=list)
    prompt_tokens: Annotated[int | None, Recorded] = None
    answer_tokens: Annotated[int | None, Recorded] = None
    evidence: Annotated[float | None, Recorded] = None
    retrieved: Annotated[list[dict[str, Any]], Recorded] = field(default_factory=list)
    moment: Annotated[Moment | None, Recorded] = None
    faq: Annotated[int | None, Recorded] = None
    faq_similarity: Annotated[float | None, Recorded] = None
    timings_ms: Annotated[dict[str, float] | None, Recorded] = None
    #: Sentences of the language model that are shown as written; None if it wrote none.
    sentences_shown: Annotated[int | None, Recorded] = None
    held_back: Annotated[tuple[HeldBack, ...], Recorded] = ()

    def to_wire(self) -> dict[str, Any]:
        """Return the event as JSON values, with the mark for other programs."""
        return {**Event.to_wire(self), "machine_made": is_machine_made(self.strategy)}
