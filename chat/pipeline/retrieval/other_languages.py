"""Passages in other languages than the question's: they have none of its words, so each language has its own share."""

from collections.abc import Sequence
from dataclasses import replace

from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.tuning import OTHER_LANGUAGE_SHARE
from core.inference.embeddings.ensemble import CENTRED_SCALE, JOINED, centred_multilingual
from core.language import detect_language
from knowledge.retrieval.dense import DenseRetriever
from knowledge.retrieval.search import RankedPassage, Retrieval
from knowledge.retrieval.types import Hit, Origin, Query, Scope


def add_other_languages(
    question: str, candidates: Sequence[Candidate], retrieval: Retrieval, *, scope: Scope, languages: Sequence[str]
) -> list[Candidate]:
    """Return the candidates with the closest passages of other languages behind them."""
    asked = detect_language(question)
    here = list(candidates)
    if asked is None or Origin.DENSE not in retrieval.runs or not len(retrieval.query.vector):
        return here
    hits = [hit for language in languages if language != asked for hit in _nearest(retrieval.query, scope, language)]
    hits = sorted(hits, key=lambda hit: -hit.score)[:OTHER_LANGUAGE_SHARE]
    known = {each.passage_id for each in here}
    new = [hit for hit in hits if hit.passage_id not in known and hit.passage_id not in retrieval.left_out]
    ranked = [RankedPassage(hit.passage_id, hit.document_id, 0, hit.score, {}) for hit in new]
    added = load_candidates(ranked) if ranked else []
    return [replace(each, number=place, rank=place) for place, each in enumerate([*here, *added], start=1)]


def _nearest(query: Query, scope: Scope, language: str) -> list[Hit]:
    """Return the nearest passages of a language, by the multilingual model alone where two models search."""
    scope = replace(scope, language=language)
    if query.model != JOINED:
        return DenseRetriever().retrieve(query, k=OTHER_LANGUAGE_SHARE, scope=scope)
    vector = centred_multilingual(query.vector, detect_language(query.text))
    alone = replace(query, vector=vector, scale=CENTRED_SCALE)
    return DenseRetriever().retrieve(alone, k=OTHER_LANGUAGE_SHARE, scope=scope)
