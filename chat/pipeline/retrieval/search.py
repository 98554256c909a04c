"""How likely the retrieved passages hold an answer: the first gate of abstention."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from chat.models import Message
from chat.pipeline.question import Context, Question, Turn, logger
from chat.pipeline.retrieval.candidates import BETWEEN, Candidate, load_candidates
from chat.pipeline.retrieval.profiles import PROFILES, Profile, retrieve_with
from chat.pipeline.understanding.rewrite import has_anaphora
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from core.terms import content_words
from knowledge.chunking import periods
from knowledge.chunking.period_match import grade_passage
from knowledge.chunking.periods import Grade, Period, without_periods
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Origin

#: Whose scores are similarities to the question itself, on one scale for all models.
SIMILARITIES = (Origin.DENSE, Origin.DENSE_SENTENCE, Origin.DENSE_PROPOSITION, Origin.FAQ)


def evidence_of(question: str, retrieval: Retrieval, candidates: Sequence[Candidate]) -> float:
    """0 to 1: the best similarity of a passage or a curated question, helped by finding the question's words.

    A year or term counts as one word, however it is written, and passages of others do not count at all.
    """
    runs = [retrieval.runs.get(origin, ()) for origin in SIMILARITIES]
    firsts = [next((hit for hit in run if hit.passage_id not in retrieval.other_periods), None) for run in runs]
    best = max((first.score for first in firsts if first), default=None)
    asked, wanted = content_words(without_periods(question)), periods.asked(question)
    covered = max((len(asked & content_words(each.text)) + _is_of(wanted, each) for each in candidates), default=0)
    words = len(asked) + bool(wanted)
    coverage = covered / words if words else 0.0
    if best is None:
        return coverage
    return min(1.0, max(0.0, 0.8 * best + 0.2 * coverage))


def _is_of(wanted: Sequence[Period], candidate: Candidate) -> bool:
    """Return whether a passage is about the year or term that is asked for."""
    return bool(wanted) and grade_passage(wanted, candidate.label.split(BETWEEN), candidate.text)[0] == Grade.FITS


def found_for(ask: Question) -> Context:
    """What retrieval finds for the question as it is asked; raises as `gather`."""
    context = Context(ask, Turn(Message.Route.QUESTION, ask.text))
    gather(context)
    return context


@dataclass(frozen=True, slots=True)
class Found:
    """What retrieval found for one reading of a question."""

    question: str
    retrieval: Retrieval
    candidates: list[Candidate]
    evidence: float


def look_up(ask: Question, turn: Turn, retrieved: Callable[[str], Retrieval], *, sources: int) -> Found:
    """A question that the rule put behind the one before only because it says little may begin anew: both readings are
    looked up, and the one is taken whose best passage has more of its own words, or else that the pages say more to."""
    readings = [turn.question]
    if turn.question != ask.text and not turn.by_model and not has_anaphora(ask.text):
        readings.append(ask.text)
    found = []
    for question in readings:
        retrieval = retrieved(question)
        hits = [hit for hit in retrieval.hits[:sources] if hit.passage_id not in retrieval.other_periods]
        candidates = load_candidates(hits)
        found.append(Found(question, retrieval, candidates, evidence_of(question, retrieval, candidates)))
    own = content_words(ask.text)

    def answers(each: Found) -> tuple[int, float]:
        return max((len(own & content_words(best.text)) for best in each.candidates[:1]), default=0), each.evidence

    return max(found, key=answers)


def gather(context: Context, guesses: Sequence[str] = ()) -> None:
    """All database work before an answer: retrieval and its passages; raises UnknownCollection.

    Where the embedding model or the reranker is away, what is left of the profile searches, and `notice` says so.
    """
    began = time.perf_counter()
    ask = context.ask
    scope = context.scope = build_scope(ask.collections, audience=ask.audience)

    def retrieved(question: str, profile: Profile = ask.profile) -> Retrieval:
        return retrieve_with(profile, question, scope=scope, k=ask.profile.sources, guesses=guesses)

    def retrieved_anyhow(question: str) -> Retrieval:
        try:
            return retrieved(question)
        except EmbeddingUnavailable:
            logger.exception("searched by words alone")
            context.notice = "words_only"
            return retrieved(question, PROFILES["bm25"])
        except RerankerUnavailable:
            logger.exception("searched without reranking")
            context.notice = "not_reranked"
            return retrieved(question, replace(ask.profile, plan=replace(ask.profile.plan, rerank_first=0)))

    found = look_up(ask, context.turn, retrieved_anyhow, sources=ask.profile.sources)
    if found.question != context.turn.question:
        context.turn = replace(context.turn, question=found.question, begins_anew=True)
    context.retrieval, context.evidence = found.retrieval, found.evidence
    context.found = context.candidates = found.candidates
    context.timings_ms.update(found.retrieval.timings_ms)
    context.timings_ms["retrieval"] = (time.perf_counter() - began) * 1000
