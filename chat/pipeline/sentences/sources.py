"""Chooses the passages that an answer is made from: those whose sentences answer the question best."""

import time
from dataclasses import replace

from chat.pipeline.question import Context, logger
from chat.pipeline.sentences.ranking import rank_sentences
from chat.pipeline.sentences.unit_vectors import embed_with_question
from core.inference.embeddings import EmbeddingUnavailable
from knowledge.retrieval.types import Origin


def choose_sources(context: Context) -> None:
    """Keep the candidates with the best sentences, as many as the profile has sources, numbered from 1.

    The first one of the ranking is always among them. If no vectors can be had, these are the first ones.
    """
    most = context.ask.profile.sources
    if context.retrieval is None or len(context.candidates) <= most:
        return
    began = time.perf_counter()
    curated = {hit.passage_id: hit for hit in context.retrieval.runs.get(Origin.FAQ, ())}
    first, *_others = context.candidates
    chosen = context.candidates[:most]
    try:
        ranked = rank_sentences(context.turn.question, context.candidates, embed=embed_with_question, curated=curated)
    except EmbeddingUnavailable:
        logger.exception("sources chosen without their sentences")
    else:
        best = {each.candidate.passage_id: each.candidate for each in ranked}
        chosen = [*best.values(), *(each for each in context.candidates if each.passage_id not in best)][:most]
        if first not in chosen:
            chosen[-1] = first
    context.candidates = [replace(each, number=number) for number, each in enumerate(chosen, start=1)]
    context.timings_ms["sentences"] = (time.perf_counter() - began) * 1000
