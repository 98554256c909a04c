"""The values and the protocol that retrievers share; pure, so that fusion and tests need no database."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Origin(StrEnum):
    """Which retriever found a passage."""

    LEXICAL = "lexical"
    DENSE = "dense"
    FAQ = "faq"


@dataclass(frozen=True, slots=True)
class Scope:
    """What may be retrieved; every retriever applies it inside its own query."""

    collection_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Query:
    """A question, with its unit vector of shape (DIMENSIONS,) for the retrievers that compare meanings."""

    text: str
    vector: "NDArray[np.float32]"
    recipe: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One retrieved passage; `rank` counts from 1, `score` is the origin's own and not comparable across origins.

    `confidence` (0 to 1) scales the retriever's weight in the fusion. Where staff linked the passage to a question,
    `hint` is what a good answer to that question says.
    """

    passage_id: int
    document_id: int
    rank: int
    score: float
    origin: Origin
    confidence: float = 1.0
    hint: str = ""


class Retriever(Protocol):
    origin: Origin

    def retrieve(self, query: Query, *, k: int, scope: Scope) -> Sequence[Hit]:
        """At most `k` hits, best first."""
