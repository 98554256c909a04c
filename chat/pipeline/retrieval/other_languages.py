"""Passages in other languages than the question's: they have none of its words, so each language has its own share."""

from collections.abc import Sequence
from dataclasses import replace

from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.tuning import COVERAGE_WEIGHT, OTHER_LANGUAGE_SHARE, SIMILARITY_WEIGHT
from chat.pipeline.verification.alignment import has_word
from chat.pipeline.verification.facts import read_facts
from core.inference.embeddings.ensemble import JOINED, MULTILINGUAL_SCALE, only_multilingual
from core.language import detect_language
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.search import RankedPassage, Retrieval
from knowledge.retrieval.types import Hit, Origin, Query, Scope


def add_other_languages(
    question: str, candidates: Sequence[Candidate], retrieval: Retrieval, *, scope: Scope, languages: Sequence[str]
) -> tuple[list[Candidate], float]:
    """Return the candidates with the closest passages of other languages behind them, and these passages' evidence."""
    asked = detect_language(question)
    here = list(candidates)
    if asked is None or Origin.DENSE not in retrieval.runs or not len(retrieval.query.vector):
        return here, 0.0
    hits = [hit for language in languages if language != asked for hit in _nearest(retrieval.query, scope, language)]
    hits = sorted(hits, key=lambda hit: -hit.score)[:OTHER_LANGUAGE_SHARE]
    known = {each.passage_id for each in here}
    new = [hit for hit in hits if hit.passage_id not in known and hit.passage_id not in retrieval.left_out]
    ranked = [RankedPassage(hit.passage_id, hit.document_id, 0, hit.score, {}) for hit in new]
    added = load_candidates(ranked) if ranked else []
    together = [replace(each, number=place, rank=place) for place, each in enumerate([*here, *added], start=1)]
    return together, _measure_evidence(question, hits, together)


def _nearest(query: Query, scope: Scope, language: str) -> list[Hit]:
    """Return the nearest passages of a language, by the multilingual model alone where two models search."""
    scope = replace(scope, language=language)
    if query.model != JOINED:
        return DenseRetriever().retrieve(query, k=OTHER_LANGUAGE_SHARE, scope=scope)
    alone = replace(query, vector=only_multilingual(query.vector), scale=MULTILINGUAL_SCALE)
    return DenseRetriever().retrieve(alone, k=OTHER_LANGUAGE_SHARE, scope=scope)


def _measure_evidence(question: str, hits: Sequence[Hit], candidates: Sequence[Candidate]) -> float:
    """Measure as `chat.pipeline.retrieval.search.measure_evidence`; words are compared across languages."""
    content = read_facts(question).content
    texts = {each.passage_id: f"{each.label} {each.text}" for each in candidates}
    found = [(hit.score, read_facts(texts[hit.passage_id]).keys) for hit in hits if hit.passage_id in texts]
    if not found or not content:
        return 0.0
    best = max(score for score, _keys in found)
    covered = max(sum(has_word(word, keys) for word in content) for _score, keys in found) / len(content)
    return min(1.0, max(0.0, SIMILARITY_WEIGHT * best + COVERAGE_WEIGHT * covered))
