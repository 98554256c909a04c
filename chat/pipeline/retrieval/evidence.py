"""Measures the evidence: how likely what was found holds an answer; pure."""

from collections.abc import Container, Sequence
from dataclasses import replace

from chat.pipeline.retrieval.candidates import BETWEEN, Candidate
from chat.pipeline.tuning import CLOSER_PERIOD, COVERAGE_WEIGHT, SIMILARITY_WEIGHT
from core.terms import content_words
from knowledge.chunking import periods
from knowledge.chunking.period_match import grade_passage
from knowledge.chunking.periods import Grade, Period, without_periods
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Origin

#: Whose scores are similarities to the question itself, on one scale for all models.
SIMILARITIES = (Origin.DENSE, Origin.DENSE_SENTENCE, Origin.DENSE_PROPOSITION, Origin.FAQ)


def measure_evidence(question: str, retrieval: Retrieval, candidates: Sequence[Candidate]) -> float:
    """Measure from 0 to 1 how likely an answer was found: the best similarity, and the question's words in a passage.

    A year or term counts as one word, however it is written, and passages of others do not count at all. If one of them
    is clearly closer to the question than what is left, the pages tell the matter for other years or terms alone: 0.
    """
    runs = [retrieval.runs.get(origin, ()) for origin in SIMILARITIES]
    firsts = [next((hit for hit in run if hit.passage_id not in retrieval.left_out), None) for run in runs]
    best = max((first.score for first in firsts if first), default=None)
    others = (hit.score for run in runs for hit in run if hit.passage_id in retrieval.other_periods)
    if best is not None and max(others, default=0.0) >= best + CLOSER_PERIOD:
        return 0.0
    asked, wanted = content_words(without_periods(question)), periods.asked(question)
    covered = max((len(asked & content_words(each.text)) + _is_of(wanted, each) for each in candidates), default=0)
    words = len(asked) + bool(wanted)
    coverage = covered / words if words else 0.0
    if best is None:
        return coverage
    return min(1.0, max(0.0, SIMILARITY_WEIGHT * best + COVERAGE_WEIGHT * coverage))


def without_documents(retrieval: Retrieval, documents: Container[int]) -> Retrieval:
    """Return what was found without the rankings' passages of these documents (ids)."""
    runs = {origin: [hit for hit in run if hit.document_id not in documents] for origin, run in retrieval.runs.items()}
    return replace(retrieval, runs=runs)


def _is_of(wanted: Sequence[Period], candidate: Candidate) -> bool:
    """Return whether a passage is about the year or term that is asked for."""
    return bool(wanted) and grade_passage(wanted, candidate.label.split(BETWEEN), candidate.text)[0] == Grade.FITS
