"""What goes over the public API, as its documentation shows it; `chat/widget/protocol.schema.json` names the same."""

from typing import Annotated, Any, Literal
from uuid import UUID

from ninja import Field, Query, Schema
from pydantic import BeforeValidator, ConfigDict

Language = Literal["en", "de"]
Reason = Literal["wrong", "outdated", "incomplete", "not_my_question", "other"]


def of_type(wanted: type) -> BeforeValidator:
    """Exactly that type: to Python, True is 1, and to JSON it is not."""

    def check(value: object) -> object:
        if type(value) is not wanted:
            raise ValueError(f"must be of type {wanted.__name__}")
        return value

    return BeforeValidator(check)


Consent = Annotated[Literal[True], of_type(bool)]
Thumbs = Annotated[Literal[-1, 0, 1], of_type(int)]
Stars = Annotated[Literal[1, 2, 3, 4, 5], of_type(int)]
MessageId = Annotated[int, Field(ge=1, le=2**63 - 1)]
After = Annotated[int | None, Query(ge=0, lt=2**53, description="The number of the last event that is known.")]


def example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": values})


class Problem(Schema):
    """RFC 9457. `detail` is a sentence for the visitor, `retry_after` in seconds."""

    model_config = example(
        type="about:blank",
        title="Too Many Requests",
        status=429,
        detail="That was a lot of questions at once. Please wait a moment.",
        code="too_many_questions",
        retry_after=42,
    )
    type: str
    title: str
    status: int
    detail: str
    code: str
    retry_after: int | None = None
    errors: list["FieldError"] | None = None


class FieldError(Schema):
    field: str
    message: str


class Texts(Schema):
    en: str
    de: str


class Suggestions(Schema):
    en: list[str]
    de: list[str]


class About(Schema):
    name: str
    institution: str
    languages: list[str]


class Theme(Schema):
    accent: str = Field(description="#rrggbb")
    position: Literal["right", "left"]
    logo: str = Field(description="An address, or empty.")
    greeting: Texts


class Contact(Schema):
    name: str
    url: str
    email: str


class Limits(Schema):
    question_characters: int


class AssistantInfo(Schema):
    """All that a page may know before anybody agreed."""

    model_config = example(
        site="5f0c9ad2b1e84c07",
        assistant={"name": "Lindi", "institution": "University of Lindental", "languages": ["en", "de"]},
        welcome={"en": "Ask me about studying.", "de": "Fragen Sie zum Studium."},
        suggestions={"en": ["How much is the semester contribution?"], "de": ["Wie hoch ist der Semesterbeitrag?"]},
        theme={"accent": "#1d4f7c", "position": "right", "logo": "", "greeting": {"en": "", "de": ""}},
        contact={"name": "Student Service Centre", "url": "", "email": "students@uni.example"},
        limits={"question_characters": 2000},
        retention_days=90,
        writes=True,
        privacy_url="https://www.uni.example/privacy",
    )
    site: str = Field(description="The site's public id; empty where this server has no sites.")
    assistant: About
    welcome: Texts
    suggestions: Suggestions
    theme: Theme
    contact: Contact | None
    limits: Limits
    retention_days: int
    writes: bool = Field(description="Whether a language model writes; else pages are quoted.")
    privacy_url: str


class SessionRequest(Schema):
    model_config = example(site="5f0c9ad2b1e84c07", consent=True, language="en")
    site: str = Field("", max_length=32, description="A site's public id; empty for this server's own page.")
    consent: Consent = Field(description="The visitor agreed to what the consent notice says.")
    language: Language = "en"
    token: str | None = Field(None, max_length=1000, description="An earlier token: its visitor is kept.")


class SessionReply(Schema):
    model_config = example(token="WyI0Z…:1tPz…:Q3w…", expires_in=3600)  # noqa: S106
    token: str
    expires_in: int = Field(description="Seconds.")


class ConversationSummary(Schema):
    id: UUID
    title: str
    created_at: str
    updated_at: str
    messages: int


class Link(Schema):
    label: str
    url: str


class Source(Schema):
    n: int
    title: str
    url: str
    heading: str
    page: int | None
    quote: str
    links: list[Link]


class HelpContact(Schema):
    name: str
    phone: str
    url: str
    email: str


class HelpCard(Schema):
    """Who helps somebody in need."""

    kind: Literal["crisis", "emergency", "assault"]
    contacts: list[HelpContact]


class Message(Schema):
    """A question or an answer; `sources` stand for the `[n]` in its text."""

    id: int
    role: Literal["user", "assistant"]
    client_id: UUID | None
    text: str
    status: Literal["generating", "complete", "abstained", "clarifying", "stopped", "failed"]
    created_at: str
    strategy: Literal["", "generated", "extractive", "fixed"]
    notice: str
    reason: str
    sources: list[Source]
    choices: list[str]
    related: list[str]
    contact: Contact | None
    help: HelpCard | None
    feedback: Literal[-1, 0, 1]
    feedback_reasons: list[Reason]


class Snapshot(Schema):
    """The saved conversation; events after `last_seq` go on from here."""

    type: Literal["conversation"]
    seq: None
    conversation: UUID
    messages: list[Message]
    last_seq: int
    title: str
    stars: int | None


class Title(Schema):
    model_config = example(title="Semester contribution")
    title: str = Field(min_length=1, max_length=200, description="Holds more than blanks.")


class Renamed(Schema):
    id: UUID
    title: str


class Question(Schema):
    model_config = example(
        client_id="0b1f6b0e-52b4-4b6a-8f1c-0f6f3f0f6a01", text="How much is the semester contribution?"
    )
    client_id: UUID = Field(description="Chosen by the client; the same one again is the same question.")
    text: str = Field(min_length=1, max_length=2_000)
    as_question: bool = Field(False, description="Look it up even if it reads like a cry for help.")


class FeedbackGiven(Schema):
    model_config = example(value=-1, reasons=["outdated"], comment="This was last year's fee.")
    value: Thumbs = Field(description="Thumbs down, neither, up.")
    reasons: list[Reason] = Field([], max_length=10)
    comment: str = Field("", max_length=1_000)


class RatingGiven(Schema):
    model_config = example(stars=4)
    stars: Stars
