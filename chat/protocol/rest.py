"""Bodies that only the public API carries."""

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from chat.protocol.shapes import Contact, ContactKind, Language, OfficeChoice, Reason, Stars, Thumbs, exactly

Consent = Annotated[Literal[True], exactly(bool)]
MessageId = Annotated[int, Field(ge=1, le=2**63 - 1)]


def example(**values: Any) -> ConfigDict:
    return ConfigDict(json_schema_extra={"example": values})


class Problem(BaseModel):
    """application/problem+json (RFC 9457); `detail` is a sentence for the visitor, `retry_after` in seconds."""

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
    errors: list["FieldError"] = []


class FieldError(BaseModel):
    field: str
    message: str


class Texts(BaseModel):
    """A text in each language."""

    en: str
    de: str


class Suggestions(BaseModel):
    en: list[str]
    de: list[str]


class About(BaseModel):
    name: str
    institution: str
    languages: list[str]


class Theme(BaseModel):
    accent: str = Field(description="#rrggbb")
    position: Literal["right", "left"]
    logo: str = Field(description="An address, or empty.")
    greeting: Texts


class Limits(BaseModel):
    question_characters: int


class AssistantInfo(BaseModel):
    """GET /api/v1/assistant: everything that a page may know before the visitor agreed."""

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
    offices: bool = Field(description="Whether a question can be left with an office (`POST …/cases`).")
    mails: bool = Field(description="Whether replies can be sent by e-mail.")
    limits: Limits
    retention_days: int
    writes: bool = Field(description="Whether a language model writes; else pages are quoted.")
    privacy_url: str


class SessionRequest(BaseModel):
    model_config = example(site="5f0c9ad2b1e84c07", consent=True, language="en")
    site: str = Field("", max_length=32, description="A site's public id; empty for this server's own page.")
    consent: Consent = Field(description="The visitor agreed to what the consent notice says.")
    language: Language = "en"
    token: str | None = Field(None, max_length=1000, description="An earlier token: its visitor is kept.")


class SessionReply(BaseModel):
    """POST /api/v1/session."""

    model_config = example(token="WyI0Z…:1tPz…:Q3w…", expires_in=3600)  # noqa: S106
    token: str
    expires_in: int = Field(description="Seconds.")


class Title(BaseModel):
    model_config = example(title="Semester contribution")
    title: str = Field(min_length=1, max_length=200, description="Holds more than blanks.")


class Renamed(BaseModel):
    id: UUID
    title: str


class Question(BaseModel):
    model_config = example(
        client_id="0b1f6b0e-52b4-4b6a-8f1c-0f6f3f0f6a01", text="How much is the semester contribution?"
    )
    client_id: UUID = Field(description="Chosen by the client; the same one again is the same question.")
    text: str = Field(min_length=1, max_length=2_000)
    as_question: bool = Field(False, description="Look it up even if it reads like a cry for help.")
    replaces: int | None = Field(
        None, ge=1, description="The conversation's latest question, if this one takes its and its answer's place."
    )


class InPlainLanguage(BaseModel):
    """An answer's text in plain language, with the same `[n]`; `kept` of its statements stand as they were."""

    model_config = ConfigDict(from_attributes=True)
    text: str
    changed: int
    kept: int


class FeedbackGiven(BaseModel):
    model_config = example(value=-1, reasons=["outdated"], comment="This was last year's fee.")
    value: Thumbs = Field(description="Thumbs down, neither, up.")
    reasons: list[Reason] = Field([], max_length=10)
    comment: str = Field("", max_length=1_000)


class ContactUsed(BaseModel):
    model_config = example(kind="email")
    kind: ContactKind


class RatingGiven(BaseModel):
    model_config = example(stars=4)
    stars: Stars


class Shareable(BaseModel):
    """A message that can be sent along with a question."""

    id: int
    role: Literal["user", "assistant"]
    text: str


class Handover(BaseModel):
    """GET /api/v1/conversations/{id}/handover: what a student chooses from before leaving a question with an office."""

    offices: list[OfficeChoice] = Field(description="Empty: no office takes questions.")
    office: int | None = Field(description="The office that the rules of the staff lead to.")
    question: str = Field(description="What the student asked, to begin with.")
    messages: list[Shareable] = Field(description="What can be sent along, oldest first.")
    shared: list[int] = Field(description="The messages that are sent along unless the student chooses others.")
    mails: bool = Field(description="Whether replies can be sent by e-mail.")


class CaseOpened(BaseModel):
    model_config = example(
        client_id="0b1f6b0e-52b4-4b6a-8f1c-0f6f3f0f6a02",
        office=3,
        question="May I park my bicycle in the cellar of the library?",
        answer=812,
        shared=[811, 812],
        email="",
    )
    client_id: UUID = Field(description="Chosen by the client; the same one again opens no second case.")
    office: int = Field(ge=1, le=2**63 - 1)
    question: str = Field(min_length=1, max_length=4_000)
    answer: MessageId | None = Field(None, description="The answer that did not help.")
    shared: list[MessageId] = Field([], max_length=100, description="The messages that staff may read.")
    email: str = Field("", max_length=254, description="Where replies go too, once a first mail is confirmed.")


class WishGiven(BaseModel):
    model_config = example(client_id="0b1f6b0e-52b4-4b6a-8f1c-0f6f3f0f6a04", answer=812, email="")
    client_id: UUID = Field(description="Chosen by the client; the same one again is the same wish.")
    answer: MessageId = Field(description="The abstention, or the answer that did not help.")
    email: str = Field("", max_length=254, description="Where it is told too, once a first mail is confirmed.")


class CaseMessageGiven(BaseModel):
    model_config = example(client_id="0b1f6b0e-52b4-4b6a-8f1c-0f6f3f0f6a03", text="It is a cargo bike.")
    client_id: UUID = Field(description="Chosen by the client; the same one again is the same message.")
    text: str = Field(min_length=1, max_length=8_000)


class HelpedGiven(BaseModel):
    model_config = example(helped=True)
    helped: bool | None = Field(description="Whether the reply or the answer helped; null takes it back.")


class AddressGiven(BaseModel):
    model_config = example(email="student@uni.example")
    email: str = Field(max_length=254, description="Empty: no mails.")
