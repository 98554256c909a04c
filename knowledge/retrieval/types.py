"""Values and the protocol that retrievers share; pure, so that fusion and tests need no database."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

from django.utils import timezone

from core.inference.embeddings.calibration import COMMON, Scale
from knowledge.words.readings import Reading

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Origin(StrEnum):
    """The built-in retrievers, as `Hit.origin` names them; others have names of their own."""

    LEXICAL = "lexical"
    DENSE = "dense"
    DENSE_SENTENCE = "dense-sentence"
    DENSE_PROPOSITION = "dense-proposition"
    HYDE = "hyde"
    FAQ = "faq"


@dataclass(frozen=True, slots=True)
class Scope:
    """The part of the index that may be retrieved; every retriever applies it inside its own query.

    `language` is that of the documents, empty for any. `audience` is what is known of the asker, as tags `kind:value`:
    a document with tags of such a kind must have one of these; documents without such tags are for everybody. `on` is
    the day on which documents must be valid.
    """

    collection_ids: tuple[int, ...]
    language: str = ""
    audience: tuple[str, ...] = ()
    on: date = field(default_factory=timezone.localdate)


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question with its unit vector, and the generation to search.

    `model` made the vector, and `scale` reads its cosines. `guess` is the vector of an answer that a language model
    guessed; `newest_change` is the index change that lexical indexes must have read, if that is known already.
    `readings` are what lexical retrievers look up beside the text's own words.
    """

    text: str
    vector: "NDArray[np.float32]"
    generation_id: int
    model: str = ""
    scale: Scale = COMMON
    guess: "NDArray[np.float32] | None" = None
    newest_change: int | None = None
    readings: Sequence[Reading] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved passage; `rank` counts from 1, `score` is the origin's own and not comparable across origins.

    `confidence` (0 to 1) scales the retriever's weight in the fusion. If staff linked the passage to a question,
    `faq_id` is that question's, `faq_question` its words and `hint` its reference answer. If a finer part was compared,
    `matched` is that part: a sentence in the passage's words, or a proposition in its own.
    """

    passage_id: int
    document_id: int
    rank: int
    score: float
    origin: str
    confidence: float = 1.0
    hint: str = ""
    matched: str = ""
    faq_id: int | None = None
    faq_question: str = ""


def matched_parts(runs: Iterable[Sequence[Hit]]) -> dict[int, str]:
    """Return the matched part of each passage by its id, if a retriever compared finer parts; the first one wins."""
    found: dict[int, str] = {}
    for hit in (hit for run in runs for hit in run if hit.matched):
        found.setdefault(hit.passage_id, hit.matched)
    return found


class Retriever(Protocol):
    """A retriever; `needs_vector` says whether it must wait for the question's vector."""

    needs_vector: bool

    @property
    def origin(self) -> str:
        """Its name in rankings."""

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> Sequence[Hit]:
        """Return at most `k` hits, best first."""
