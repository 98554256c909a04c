"""Values that both events and REST replies carry."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, BeforeValidator, Field, GetCoreSchemaHandler
from pydantic.dataclasses import dataclass
from pydantic_core import CoreSchema
from pydantic_core.core_schema import literal_schema
from typing_extensions import TypeAliasType

Language = Literal["en", "de"]
Reason = TypeAliasType(
    "Reason",
    Annotated[
        Literal["wrong", "outdated", "incomplete", "not_my_question", "other"],
        Field(description="Why an answer did not help."),
    ],
)
ContactKind = TypeAliasType(
    "ContactKind",
    Annotated[Literal["email", "phone", "page"], Field(description="An address, a number, or the contact's page.")],
)


def exactly(wanted: type) -> BeforeValidator:
    """Accept values of this very type only: to Python, True is 1, and to JSON it is not."""

    def check(value: object) -> object:
        if type(value) is not wanted:
            raise ValueError(f"must be of type {wanted.__name__}")
        return value

    return BeforeValidator(check)


class OneOf:
    """Accept these words only. To the type checker they are any string, as the database's choices are."""

    def __init__(self, *words: str) -> None:
        self.words = words

    def __get_pydantic_core_schema__(self, _source: Any, _handler: GetCoreSchemaHandler) -> CoreSchema:
        return literal_schema(list(self.words))


Need = Annotated[str, OneOf("crisis", "emergency", "assault")]
Strategy = Annotated[str, OneOf("", "generated", "extractive", "fixed", "written")]
Thumbs = Annotated[Literal[-1, 0, 1], exactly(int)]
Stars = Annotated[Literal[1, 2, 3, 4, 5], exactly(int)]


def is_machine_made(strategy: str) -> bool:
    """Return whether a machine wrote or chose the words of an answer: not if people wrote all of it beforehand.

    This is the mark that the EU's AI Act, article 50 (2), asks for.
    """
    return strategy not in {"fixed", "written"}


@dataclass(frozen=True, slots=True)
class Link:
    """A reference in a cited document."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Source:
    """A cited passage as the student sees it; `n` counts from 1 in order of first use, `url` is a deep link.

    `links` are the document's own references, if the student asked for a link. `language` is the quote's ("de"), and
    `checked_on` the day on which the page was read last; both are empty where they are not known. `edition` is the
    term, year or examination regulations that the page is about, if it has other editions ("Winter term 2025/26").
    `read_by_ocr` says that a program read the passage, or a part of it, off a picture, and may have misread letters.
    """

    n: int
    title: str
    url: str
    heading: str
    page: int | None
    quote: str
    links: tuple[Link, ...] = ()
    language: str = ""
    checked_on: str = ""
    edition: str = ""
    read_by_ocr: bool = False


@dataclass(frozen=True, slots=True)
class Appointment:
    """A date to come that an answer names, for a calendar; `label` is its sentence, `n` the source's number.

    `begin` and `end` are days ("2026-07-15") or times in the assistant's time zone ("2026-07-15T12:00"); `end` may be
    empty. Opening hours return each week on `days` ("MO").
    """

    n: int
    label: str
    begin: str
    end: str = ""
    days: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Contact:
    """The contact that helps if the assistant cannot."""

    name: str
    url: str
    email: str


@dataclass(frozen=True, slots=True)
class HelpContact:
    """A contact for a person in need. Each field but the name may be empty; `phone` is one number."""

    name: str
    phone: str
    url: str
    email: str


@dataclass(frozen=True, slots=True)
class HelpCard:
    """Contacts for one kind of need, the most urgent first."""

    kind: Need
    contacts: tuple[HelpContact, ...]


@dataclass(frozen=True, slots=True)
class OfficeWords:
    """An answer that staff of an office wrote to `question`, word for word, as Markdown; its page is source `n`.

    `signature` says who answers and when that was checked (`checked_on`, a day), in the answer's `language`; `note` is
    set if that is not the student's, and says so in theirs.
    """

    n: int
    question: str
    text: str
    language: str
    office: str
    checked_on: str
    signature: str
    note: str = ""

    @property
    def as_text(self) -> str:
        """The words with their signature, as a part of a message's text."""
        return "\n\n".join(filter(None, (self.note, f"{self.signature} [{self.n}]", self.text)))


@dataclass(frozen=True, slots=True)
class OfficeChoice:
    """An office that takes questions: its hours, a line for each day, and by when it replies to what it gets now."""

    id: int
    name: str
    hours: tuple[str, ...]
    is_open: bool
    reply_due: str


@dataclass(frozen=True, slots=True)
class CaseWords:
    """A message of a case; `text` is Markdown but the student's, and `asks_back` says that it waits for an answer."""

    id: int
    by: Annotated[str, OneOf("student", "office", "assistant")]
    text: str
    asks_back: bool
    created_at: str


@dataclass(frozen=True, slots=True)
class CaseView:
    """A question that the visitor left with an office. It is open until the office has replied.

    While it is "watching" no office has it: its student waits to be told of an answer, and then it is "told". `about`
    is the answer below which it stands. `reply_due` is until when the office means to reply, empty without one.
    `mails` says if replies go to an e-mail address, `helped` what the student said in the end.
    """

    id: int
    office: str
    state: Annotated[str, OneOf("open", "replied", "closed", "watching", "told")]
    question: str
    about: int | None
    opened_at: str
    reply_due: str
    mails: Annotated[str, OneOf("", "unconfirmed", "confirmed")]
    helped: bool | None
    messages: tuple[CaseWords, ...]


class Message(BaseModel):
    """A saved question or answer; `sources` stand for the `[n]` in its text.

    `help` is set if the question was a cry for help; the text then says what to do. `office` is an answer of staff's
    own that comes before the text. `machine_made` marks an answer that a machine wrote or put together.
    """

    id: int
    role: Literal["user", "assistant"]
    client_id: UUID | None = None
    text: str
    status: Literal["generating", "complete", "abstained", "clarifying", "stopped", "failed"]
    created_at: str
    strategy: Strategy = ""
    machine_made: bool = False
    notice: str = ""
    reason: str = ""
    sources: list[Source] = []
    choices: list[str] = []
    related: list[str] = []
    contact: Contact | None = None
    help: HelpCard | None = None
    office: OfficeWords | None = None
    dates: list[Appointment] = []
    feedback: Literal[-1, 0, 1] = 0
    feedback_reasons: list[Reason] = []


class ConversationSummary(BaseModel):
    """A conversation in the list of the visitor's own."""

    id: UUID
    title: str
    created_at: str
    updated_at: str
    messages: int


class Snapshot(BaseModel):
    """The saved conversation, in reply to `resume` and to GET /api/v1/conversations/{id}; later events continue it."""

    type: Literal["conversation"]
    seq: None = None
    conversation: UUID
    messages: list[Message]
    last_seq: int | None
    title: str = ""
    stars: int | None = None
    cases: list[CaseView] = []
