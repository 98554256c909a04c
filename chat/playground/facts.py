"""What is known of a document and a question, from which `chat.playground.diagnosing` tells why it was not found."""

import datetime
from dataclasses import dataclass

from knowledge.retrieval.contracts import Origin, Scope


@dataclass(frozen=True, slots=True)
class Place:
    """A document's best passage in one retriever's ranking, of which the first `k` are handed on.

    `rank` is None where it is not among the first `looked_at` found; `score` may be known all the same. `last_score`
    is that of the last passage handed on. None: there is none.
    """

    origin: Origin
    k: int
    looked_at: int
    rank: int | None = None
    score: float | None = None
    last_score: float | None = None

    @property
    def is_handed_on(self) -> bool:
        return self.rank is not None and self.rank <= self.k


@dataclass(frozen=True, slots=True)
class LinkedFAQ:
    """A published FAQ that is linked to the document: the `rank`-th closest, None where it is not among those looked
    at. `steers` says whether it lifts its documents."""

    question: str
    rank: int | None = None
    similarity: float = 0.0
    steers: bool = False


@dataclass(frozen=True, slots=True)
class Merged:
    """The document's best passage after fusion and after reranking, whose first `rerank_first` are read by the
    reranker (0: there is none). `pushed_by` are FAQs without whose documents it would be as many places further up.
    `is_other_period`: the question names a year or term, and all of its passages are about others."""

    fused_rank: int
    fused_score: float
    rank: int
    rerank_first: int = 0
    last_given_score: float | None = None
    pushed_by: tuple[tuple[str, int], ...] = ()
    is_other_period: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of its passage: whether it concerns whom the question names, found room in the prompt, was cited.
    `reason` is why there was no answer; empty: there was one."""

    reason: str = ""
    concerns_asker: bool = True
    fits_prompt: bool = True
    is_cited: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """The document itself; `indexed` is None before its first indexing, else whether the index holds its present
    state, and `passages` what it was cut into there, of which
    `withheld` wait for staff to check them."""

    status: str
    collection_id: int
    collection: str
    language: str
    audience: tuple[str, ...] = ()
    valid_from: datetime.date | None = None
    valid_until: datetime.date | None = None
    indexed: bool | None = True
    passages: int = 1
    withheld: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """`scope` is what was searched, in collections of these names. The rest is known only of a document that can be
    found there, for a question that was looked up: `places` are in the order of the profile's retrievers."""

    standing: Standing
    scope: Scope
    searched: tuple[str, ...]
    is_question: bool = True
    question_language: str | None = None
    sources: int = 6
    words_in: tuple[str, ...] = ()
    words_missing: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    linked_faqs: tuple[LinkedFAQ, ...] = ()
    merged: Merged | None = None
    outcome: Outcome | None = None
