"""The wire protocol's server side: what an answer consists of. The same events go over every door."""

from dataclasses import asdict, dataclass, field
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Link:
    """A reference that stands in a cited document itself."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Source:
    """A cited passage as the student sees it; `n` counts from 1 in order of first use, `url` is a deep link.

    `links` are the document's own references, where the student asked for a link.
    """

    n: int
    title: str
    url: str
    heading: str
    page: int | None
    quote: str
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class Contact:
    """Who helps where the bot cannot."""

    name: str
    url: str
    email: str


@dataclass(frozen=True, slots=True)
class HelpContact:
    """Somebody who helps a person in need; all but the name may be empty."""

    name: str
    phone: str = ""
    url: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class HelpCard:
    """Who helps in this kind of need, the most urgent first; `kind` is one of `Message.HELP_ROUTES`."""

    kind: str
    contacts: tuple[HelpContact, ...]


@dataclass(frozen=True, slots=True)
class Event:
    type: ClassVar[str]

    def to_wire(self) -> dict[str, Any]:
        return {"type": self.type, **asdict(self)}


@dataclass(frozen=True, slots=True)
class Delta(Event):
    """More of the answer's text."""

    type: ClassVar[str] = "message_delta"
    text: str


@dataclass(frozen=True, slots=True)
class Cited(Event):
    """A source cited for the first time, just before the delta that holds its `[n]`."""

    type: ClassVar[str] = "citation"
    source: Source
    passage_id: int
    document_id: int

    def to_wire(self) -> dict[str, Any]:
        return {"type": self.type, "source": asdict(self.source)}


@dataclass(frozen=True, slots=True)
class Sources(Event):
    """All that was cited, once the text is complete."""

    type: ClassVar[str] = "sources"
    sources: tuple[Source, ...]


@dataclass(frozen=True, slots=True)
class Abstain(Event):
    """There is no answer, and why; `text` says so to the student, `related` are curated questions close to it."""

    type: ClassVar[str] = "abstain"
    reason: str
    text: str
    contact: Contact | None
    related: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Help(Event):
    """The message is a cry for help; `text` says what to do now."""

    type: ClassVar[str] = "help"
    text: str
    card: HelpCard


@dataclass(frozen=True, slots=True)
class Choice:
    """What a student may say when asked back; `tag` is what follows for the audience, empty where nothing does."""

    label: str
    tag: str


@dataclass(frozen=True, slots=True)
class Clarify(Event):
    """The student is asked back; a choice's label, sent as the next question, is understood as that choice.

    `kind` is the kind of tag that decides the answer, `question` what will be looked up then.
    """

    type: ClassVar[str] = "clarify"
    text: str
    choices: tuple[Choice, ...]
    kind: str
    question: str

    def to_wire(self) -> dict[str, Any]:
        return {"type": self.type, "text": self.text, "choices": [choice.label for choice in self.choices]}


@dataclass(frozen=True, slots=True)
class Queued(Event):
    """The model is busy with others; `position` is how many are served before, this one included."""

    type: ClassVar[str] = "queued"
    position: int


@dataclass(frozen=True, slots=True)
class Replace(Event):
    """The whole text so far is to be replaced, and what it cited is not cited any more."""

    type: ClassVar[str] = "message_replace"
    text: str


@dataclass(frozen=True, slots=True)
class Error(Event):
    """Something failed; `detail` is a sentence for the student in their language."""

    type: ClassVar[str] = "error"
    code: str
    detail: str
    retry_after: int | None = None


@dataclass(frozen=True, slots=True)
class End(Event):
    """The last event of every answer; the rest is for the record, not for the wire."""

    type: ClassVar[str] = "message_end"
    status: str
    strategy: str
    notice: str = ""
    model: str = ""
    profile: str = ""
    prompt: str = ""
    route: str = ""
    rewritten: str = ""
    prompt_tokens: int | None = None
    answer_tokens: int | None = None
    evidence: float | None = None
    retrieved: list[dict[str, Any]] = field(default_factory=list)
    faq: int | None = None
    faq_similarity: float | None = None
    timings_ms: dict[str, float] | None = None

    def to_wire(self) -> dict[str, Any]:
        return {"type": self.type, "status": self.status, "strategy": self.strategy, "notice": self.notice}
