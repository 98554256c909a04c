"""How likely the retrieved passages hold an answer: the first gate of abstention."""

from collections.abc import Sequence

from chat.sources import Candidate
from chat.wording import terms
from knowledge.retrieval.contracts import Origin
from knowledge.retrieval.hybrid import Retrieval

#: Whose scores are similarities to the question itself, on one scale for all models.
SIMILARITIES = (Origin.DENSE, Origin.DENSE_SENTENCE, Origin.DENSE_PROPOSITION, Origin.FAQ)


def evidence_of(question: str, retrieval: Retrieval, candidates: Sequence[Candidate]) -> float:
    """0 to 1: the best similarity of a passage or a curated question, helped by finding the question's words."""
    best = max((run[0].score for origin in SIMILARITIES if (run := retrieval.runs.get(origin))), default=None)
    asked = terms(question)
    covered = max((len(asked & terms(candidate.text)) for candidate in candidates), default=0)
    coverage = covered / len(asked) if asked else 0.0
    if best is None:
        return coverage
    return min(1.0, max(0.0, 0.8 * best + 0.2 * coverage))
