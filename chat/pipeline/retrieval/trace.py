"""The record of an answer's retrieval, so that staff can see later what it was made from; pure."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chat.pipeline.retrieval.candidates import Candidate
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Origin

#: Passages that are kept of a ranking.
KEPT = 10


@dataclass(frozen=True, slots=True)
class BoostingFAQ:
    """The curated question that ranked its documents first, and how close it is to the one asked (0 to 1)."""

    faq_id: int
    similarity: float


def describe_ranking(retrieval: Retrieval, found: Sequence[Candidate], given: Collection[int]) -> list[dict[str, Any]]:
    """Describe the head of the ranking as a message's `retrieved`, best first.

    A row is {"passage", "document", "title", "heading", "page", "rank", "score", "origins": {origin: rank}, "given"}.
    `given` are the ids of the passages that the answer could be made from. A passage that was withdrawn between search
    and reading is not among `found`, and left out.
    """
    read = {each.passage_id: each for each in found}
    return [
        {
            "passage": hit.passage_id,
            "document": hit.document_id,
            "title": read[hit.passage_id].title,
            "heading": read[hit.passage_id].heading,
            "page": read[hit.passage_id].page,
            "rank": hit.rank,
            "score": round(hit.score, 4),
            "origins": {str(origin): rank for origin, rank in hit.ranks.items()},
            "given": hit.passage_id in given,
        }
        for hit in retrieval.hits[:KEPT]
        if hit.passage_id in read
    ]


def describe_readings(retrieval: Retrieval) -> list[dict[str, Any]]:
    """Describe how the words of the question were read as a message's `readings`, in the order of the steps.

    A row is {"step", "word", "read_as": [other words or phrases]}.
    """
    return [
        {"step": reading.step.value, "word": reading.word, "read_as": list(reading.read_as)}
        for reading in retrieval.readings
    ]


def boosting_faq(retrieval: Retrieval) -> BoostingFAQ | None:
    """Return the closest FAQ, if it was close enough to count at all."""
    run = retrieval.runs.get(Origin.FAQ, ())
    if not run or run[0].faq_id is None or run[0].confidence == 0:
        return None
    return BoostingFAQ(run[0].faq_id, run[0].score)
