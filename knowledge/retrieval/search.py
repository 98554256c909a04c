"""Hybrid retrieval: several retrievers, one ranking."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass, replace

import numpy as np

from core.inference.embeddings.calibration import Scale
from core.inference.reranker import get_reranker
from core.telemetry.tracing import span
from knowledge.chunking.periods import asked, in_full
from knowledge.retrieval.editions import EditionsFound, Missing, find_editions, prefer_editions
from knowledge.retrieval.fusion import Fusion, weighted_rrf, weighted_scores
from knowledge.retrieval.live_index import Served, lexical_index, served_generation
from knowledge.retrieval.query_vectors import guess_vector, search_vector
from knowledge.retrieval.reordering import prefer_programmes, put_other_periods_last, rerank
from knowledge.retrieval.tuning import EDITIONS_AMONG, PROTECTED_CONFIDENCE
from knowledge.retrieval.types import Hit, Origin, Query, Retriever, Scope
from knowledge.words.dictionary import is_common_word
from knowledge.words.question import read_question
from knowledge.words.readings import Reading, Step

#: Embeds while the lexical index is searched; the model releases the interpreter meanwhile.
_embedding = ThreadPoolExecutor(os.cpu_count() or 1, "question-vector")


@dataclass(frozen=True, slots=True)
class RetrieverConfig:
    """One retriever's weight and depth in a fusion."""

    retriever: Retriever
    weight: float
    k: int


@dataclass(frozen=True, slots=True)
class Plan:
    """The retrievers that run, how their rankings are fused, and whether a cross-encoder reranks the first ones.

    `word_steps` are the ways in which the words of a question are read; a published system's profile has none, nor does
    it prefer editions.
    """

    legs: Sequence[RetrieverConfig]
    fusion: Fusion = Fusion.RRF
    rerank_first: int = 0
    protect_faqs: bool = True
    word_steps: AbstractSet[Step] = frozenset()
    prefers_editions: bool = False


@dataclass(frozen=True, slots=True)
class RankedPassage:
    """A passage after fusion; `ranks` has its rank in each retriever's ranking."""

    passage_id: int
    document_id: int
    rank: int
    score: float
    ranks: Mapping[str, int]


@dataclass(frozen=True, slots=True, eq=False)
class Retrieval:
    """A fused ranking, the rankings it was made of, and milliseconds by step.

    `text` is the question as it was read: without slips of spelling, if the plan corrects them. `readings` are all that
    its words were read as.
    Where the question names a year or a term, `other_periods` are the passages of others, which must not answer it.
    `other_editions` are passages that give way to another edition of their document, and `missing` says of what the
    edition is missing that the question asks for.
    """

    text: str
    query: Query
    hits: Sequence[RankedPassage]
    runs: Mapping[str, Sequence[Hit]]
    timings_ms: Mapping[str, float]
    other_periods: AbstractSet[int] = frozenset()
    readings: Sequence[Reading] = ()
    other_editions: AbstractSet[int] = frozenset()
    missing: Missing | None = None

    @property
    def left_out(self) -> AbstractSet[int]:
        """Return the passages that are not to answer the question."""
        return self.other_periods | self.other_editions


def retrieve(text: str, *, plan: Plan, scope: Scope, k: int, guesses: Sequence[str] = ()) -> Retrieval:
    """Run every retriever over `scope` and fuse their rankings into the `k` best passages.

    Passages of another year or term than `text` names come last, and its short forms are looked up as pages write them.

    `guesses` are answers that a language model guessed, for HyDE. Raises EmbeddingUnavailable, RerankerUnavailable.
    """
    timings: dict[str, float] = {}
    generation = served_generation()
    reranker = get_reranker() if plan.rerank_first else None
    readings: Sequence[Reading] = ()
    if plan.word_steps:
        with _timed(timings, "words"):
            text, readings = _read_words(text, plan.word_steps, generation, scope)
    read_as = text
    wanted = asked(text)
    text = in_full(text) if wanted else text
    runs, query = _run(text, readings, plan.legs, scope, generation, guesses, timings)
    scores = _fuse(plan, runs)
    order = list(scores)
    if reranker:
        sure = {hit.passage_id for hit in runs.get(Origin.FAQ, ()) if hit.confidence >= PROTECTED_CONFIDENCE}
        with _timed(timings, "rerank"):
            order = rerank(
                text,
                order,
                first=plan.rerank_first,
                protected=sure if plan.protect_faqs else (),
                reranker=reranker,
            )
    documents: dict[int, int] = {}
    ranks: dict[int, dict[str, int]] = {}
    for origin, found in runs.items():
        for hit in found:
            documents[hit.passage_id] = hit.document_id
            ranks.setdefault(hit.passage_id, {})[origin] = hit.rank
    editions, missing = EditionsFound(), None
    others: AbstractSet[int] = frozenset()
    replaced: AbstractSet[int] = frozenset()
    if plan.prefers_editions and generation.has_editions:
        with _timed(timings, "editions"):
            editions = find_editions({documents[passage] for passage in order[:EDITIONS_AMONG]}, read_as, scope)
            missing = editions.missing([documents[passage] for passage in order[:1]])
    if wanted:
        with _timed(timings, "periods"):
            order, others = put_other_periods_last(order, wanted, editions)
    if editions.choices:
        with _timed(timings, "prefer"):
            order, replaced = prefer_editions(order, documents, _without_faqs(plan, runs, scores), editions)
    if plan.prefers_editions:
        with _timed(timings, "programmes"):
            order = prefer_programmes(order, documents, _without_faqs(plan, runs, scores), read_as)
    hits = [
        RankedPassage(passage, documents[passage], rank, scores[passage], ranks[passage])
        for rank, passage in enumerate(order[:k], start=1)
    ]
    return Retrieval(
        text=read_as,
        query=query,
        hits=hits,
        runs=runs,
        timings_ms=timings,
        other_periods=others,
        readings=readings,
        other_editions=replaced,
        missing=missing,
    )


def _run(
    text: str,
    readings: Sequence[Reading],
    legs: Sequence[RetrieverConfig],
    scope: Scope,
    generation: Served,
    guesses: Sequence[str],
    timings: dict[str, float],
) -> tuple[dict[str, Sequence[Hit]], Query]:
    """Run every retriever; those that need no vector run while the question is embedded."""

    def embed() -> "tuple[np.ndarray[tuple[int, ...], np.dtype[np.float32]], Scale]":
        with _timed(timings, "embed"):
            return search_vector(generation.model, text)

    wanted = _embedding.submit(copy_context().run, embed) if any(leg.retriever.needs_vector for leg in legs) else None
    nothing = np.empty(0, dtype=np.float32)
    query = Query(
        text, nothing, generation.pk, generation.model, newest_change=generation.newest_change, readings=readings
    )
    runs: dict[str, Sequence[Hit]] = {}
    for leg in sorted(legs, key=lambda leg: leg.retriever.needs_vector):
        if leg.retriever.needs_vector and wanted and not len(query.vector):
            vector, scale = wanted.result()
            guess = guess_vector(generation.model, vector, guesses) if guesses else None
            query = replace(query, vector=vector, scale=scale, guess=guess)
        with _timed(timings, leg.retriever.origin):
            runs[leg.retriever.origin] = leg.retriever.retrieve(query, k=leg.k, scope=scope)
    return {leg.retriever.origin: runs[leg.retriever.origin] for leg in legs}, query


def _read_words(text: str, steps: AbstractSet[Step], generation: Served, scope: Scope) -> tuple[str, Sequence[Reading]]:
    index = lexical_index(generation.pk)
    index.follow(generation.newest_change)
    return read_question(text, index.pages(scope, is_known=is_common_word), steps=steps)


def _without_faqs(plan: Plan, runs: Mapping[str, Sequence[Hit]], scores: dict[int, float]) -> dict[int, float]:
    """Return the fused scores as they would be without what staff linked to questions."""
    others = {origin: hits for origin, hits in runs.items() if not any(hit.faq_id for hit in hits[:1])}
    return scores if len(others) == len(runs) else _fuse(plan, others)


def _fuse(plan: Plan, runs: Mapping[str, Sequence[Hit]]) -> dict[int, float]:
    weights = {leg.retriever.origin: leg.weight for leg in plan.legs}
    if plan.fusion == Fusion.SCORES:
        return weighted_scores(
            [(hit.passage_id, weights[origin] * hit.confidence, hit.score) for hit in hits]
            for origin, hits in runs.items()
        )
    return weighted_rrf(
        [(hit.passage_id, weights[origin] * hit.confidence) for hit in hits] for origin, hits in runs.items()
    )


@contextmanager
def _timed(timings: dict[str, float], step: str) -> Iterator[None]:
    started = time.perf_counter()
    with span(step):
        yield
    timings[step] = (time.perf_counter() - started) * 1000
