"""Finds out if staff curated an answer to a message that would else be small talk."""

import logging
from dataclasses import replace

from chat.pipeline.question import Question
from chat.pipeline.tuning import LEAST_CURATED_SIMILARITY
from core.inference.embeddings import EmbeddingUnavailable
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import retrieve
from knowledge.retrieval.types import Origin, Scope

logger = logging.getLogger(__name__)


def means_faq(ask: Question, scope: Scope | None) -> bool:
    """Return whether a message surely means a curated FAQ of the scope, which is the question's own if None.

    Raises UnknownCollection.
    """
    plan = ask.profile.plan
    legs = [leg for leg in plan.legs if leg.retriever.origin == Origin.FAQ]
    if not legs:
        return False
    alone = replace(plan, legs=legs, rerank_first=0, word_steps=frozenset())
    scope = scope or build_scope(ask.collections, audience=ask.audience)
    try:
        hits = retrieve(ask.text, plan=alone, scope=scope, k=1).runs[Origin.FAQ]
    except EmbeddingUnavailable:
        logger.exception("small talk is not compared with FAQs")
        return False
    return any(hit.score >= LEAST_CURATED_SIMILARITY for hit in hits)
