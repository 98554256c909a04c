"""Finds out if staff curated an answer to a message that would else be small talk."""

import logging
from dataclasses import replace

from chat.models import Kind
from chat.pipeline.question import Question
from chat.pipeline.tuning import LEAST_CURATED_SIMILARITY, LEAST_SIMILARITY_OF_PERSONS
from chat.pipeline.understanding.kind_classifier import recognised_kind
from core.inference.embeddings import EmbeddingUnavailable
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import retrieve
from knowledge.retrieval.types import Origin, Scope

logger = logging.getLogger(__name__)


def means_faq(ask: Question, kind: Kind, scope: Scope | None) -> bool:
    """Return whether a message of this kind surely means a curated FAQ of the scope, which is its own if None.

    Who wants a person often says what about. An FAQ on that matter is not what they ask for, one on reaching people is.
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
    close = [hit for hit in hits if hit.score >= LEAST_CURATED_SIMILARITY]
    if kind != Kind.PERSON:
        return bool(close)
    return any(
        hit.score >= LEAST_SIMILARITY_OF_PERSONS or recognised_kind(hit.faq_question, ask.own_kinds) == kind
        for hit in close
    )
