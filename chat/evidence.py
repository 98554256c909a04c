"""How likely the retrieved passages hold an answer: the first gate of abstention."""

from collections.abc import Sequence

from chat.sources import BETWEEN, Candidate
from chat.wording import terms
from knowledge import periods
from knowledge.passages.period_match import grade_passage
from knowledge.periods import Grade, Period, without_periods
from knowledge.retrieval.contracts import Origin
from knowledge.retrieval.hybrid import Retrieval

#: Whose scores are similarities to the question itself, on one scale for all models.
SIMILARITIES = (Origin.DENSE, Origin.DENSE_SENTENCE, Origin.DENSE_PROPOSITION, Origin.FAQ)


def evidence_of(question: str, retrieval: Retrieval, candidates: Sequence[Candidate]) -> float:
    """0 to 1: the best similarity of a passage or a curated question, helped by finding the question's words.

    A year or term counts as one word, however it is written, and passages of others do not count at all.
    """
    runs = [retrieval.runs.get(origin, ()) for origin in SIMILARITIES]
    firsts = [next((hit for hit in run if hit.passage_id not in retrieval.other_periods), None) for run in runs]
    best = max((first.score for first in firsts if first), default=None)
    asked, wanted = terms(without_periods(question)), periods.asked(question)
    covered = max((len(asked & terms(each.text)) + _is_of(wanted, each) for each in candidates), default=0)
    words = len(asked) + bool(wanted)
    coverage = covered / words if words else 0.0
    if best is None:
        return coverage
    return min(1.0, max(0.0, 0.8 * best + 0.2 * coverage))


def _is_of(wanted: Sequence[Period], candidate: Candidate) -> bool:
    """Return whether a passage is about the year or term that is asked for."""
    return bool(wanted) and grade_passage(wanted, candidate.label.split(BETWEEN), candidate.text)[0] == Grade.FITS
