"""What an answer was made from at its moment: the texts that were read, the FAQs near it, instructions and settings.

It is stored as JSON beside the answer (`chat.models.AnswerRecord`). A field that is added later needs a default, so
that what is stored already can be read.
"""

from dataclasses import asdict, dataclass
from functools import cache
from typing import Any

from pydantic import TypeAdapter


@dataclass(frozen=True, slots=True)
class PassageRead:
    """A passage whose sentences were compared with the question.

    The answer was made from those with a `number`, from 1, under which a language model saw them; the others have 0.
    `cited` are its numbers among the answer's sources.
    """

    passage_id: int
    document_id: int
    number: int
    title: str
    heading: str
    url: str
    text: str
    page: int | None = None
    language: str = ""
    edition: str = ""
    checked_on: str = ""
    cited: tuple[int, ...] = ()
    read_by_ocr: bool = False


@dataclass(frozen=True, slots=True)
class FAQNearby:
    """A curated question that lifted its documents; `similarity` and `confidence` are from 0 to 1."""

    faq_id: int
    question: str
    answer: str
    similarity: float
    confidence: float


@dataclass(frozen=True, slots=True)
class OfficeAnswerShown:
    """The answer in staff's own words that was shown above what the pages say."""

    faq_id: int
    title: str
    text: str
    language: str
    office: str
    checked_on: str


@dataclass(frozen=True, slots=True)
class Instructions:
    """The texts of `chat.prompt_template.Template` that a language model was sent, and what was put into them."""

    name: str
    system: str
    question: str
    most_sources: int
    assistant: str
    institution: str
    persona: str


@dataclass(frozen=True, slots=True)
class RetrieverUsed:
    """A retriever's part in a profile, by its registered name."""

    name: str
    weight: float
    k: int


@dataclass(frozen=True, slots=True)
class ProfileUsed:
    """The values of a retrieval profile (`chat.pipeline.retrieval.profiles.Profile`)."""

    name: str
    retrievers: tuple[RetrieverUsed, ...]
    fusion: str
    sources: int
    threshold: float
    rerank_first: int
    protect_faqs: bool
    word_steps: tuple[str, ...]
    prefers_editions: bool


@dataclass(frozen=True, slots=True)
class Moment:
    """`passages` are in the order in which they were given, then in that of the ranking.

    `instructions` are None, and `model` is empty, where no language model wrote. `generation` is the id of the index,
    `embedding_model` what its vectors are of.
    """

    passages: tuple[PassageRead, ...]
    faqs: tuple[FAQNearby, ...]
    office: OfficeAnswerShown | None
    profile: ProfileUsed
    instructions: Instructions | None
    model: str
    temperature: float
    longest_answer: int
    strictness: str
    collections: tuple[str, ...]
    audience: tuple[str, ...]
    language: str
    generation: int
    embedding_model: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@cache
def _adapter() -> TypeAdapter[Moment]:
    return TypeAdapter(Moment)


def read_moment(stored: dict[str, Any]) -> Moment:
    """Read what `Moment.to_json` has made."""
    return _adapter().validate_python(stored)
