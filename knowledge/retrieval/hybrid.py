"""Several retrievers, one ranking."""

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from knowledge.inference.embedder import get_embedder
from knowledge.models import Collection
from knowledge.prepared import fetch_all
from knowledge.retrieval.contracts import Hit, Origin, Query, Retriever, Scope
from knowledge.retrieval.fusion import weighted_rrf


class UnknownCollection(ValueError):
    """A collection was named that does not exist; the message lists those that do."""


@dataclass(frozen=True, slots=True)
class Leg:
    """One retriever's part in a fusion."""

    retriever: Retriever
    weight: float
    k: int


@dataclass(frozen=True, slots=True)
class Fused:
    """A passage after fusion; `ranks` tells which retriever had it where."""

    passage_id: int
    document_id: int
    rank: int
    score: float
    ranks: Mapping[Origin, int]


@dataclass(frozen=True, slots=True, eq=False)
class Retrieval:
    """A fused ranking, the rankings it was made of, and milliseconds by step."""

    query: Query
    hits: Sequence[Fused]
    runs: Mapping[Origin, Sequence[Hit]]
    timings_ms: Mapping[str, float]


def scope_of(slugs: Iterable[str] = ()) -> Scope:
    """The named collections, or those searched by default; raises UnknownCollection."""
    wanted = list(slugs)
    if not wanted:
        return Scope(tuple(pk for (pk,) in fetch_all("SELECT id FROM knowledge_collection WHERE searched_by_default")))
    found = dict(Collection.objects.filter(slug__in=wanted).values_list("slug", "pk"))
    if missing := [slug for slug in wanted if slug not in found]:
        known = ", ".join(Collection.objects.values_list("slug", flat=True)) or "none yet"
        raise UnknownCollection(f"No collection is called {', '.join(missing)}. There are: {known}.")
    return Scope(tuple(found.values()))


def retrieve(text: str, *, legs: Sequence[Leg], scope: Scope, k: int) -> Retrieval:
    """Runs every leg over `scope` and fuses their rankings into the `k` best passages."""
    timings: dict[str, float] = {}
    embedder = get_embedder()
    started = time.perf_counter()
    query = Query(text=text, vector=embedder.embed([text])[0], recipe=embedder.recipe)
    timings["embed"] = (time.perf_counter() - started) * 1000

    runs: dict[Origin, Sequence[Hit]] = {}
    for leg in legs:
        started = time.perf_counter()
        runs[leg.retriever.origin] = leg.retriever.retrieve(query, k=leg.k, scope=scope)
        timings[leg.retriever.origin.value] = (time.perf_counter() - started) * 1000

    weights = {leg.retriever.origin: leg.weight for leg in legs}
    scores = weighted_rrf(
        [(hit.passage_id, weights[origin] * hit.confidence) for hit in hits] for origin, hits in runs.items()
    )
    documents: dict[int, int] = {}
    ranks: dict[int, dict[Origin, int]] = {}
    for origin, found in runs.items():
        for hit in found:
            documents[hit.passage_id] = hit.document_id
            ranks.setdefault(hit.passage_id, {})[origin] = hit.rank
    hits = [
        Fused(passage_id=passage, document_id=documents[passage], rank=rank, score=score, ranks=ranks[passage])
        for rank, (passage, score) in enumerate(list(scores.items())[:k], start=1)
    ]
    return Retrieval(query=query, hits=hits, runs=runs, timings_ms=timings)
