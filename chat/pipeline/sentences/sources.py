"""Chooses the passages that an answer is made from: those whose sentences answer the question best."""

import statistics
import time
from collections.abc import Sequence
from dataclasses import replace

from chat.pipeline.question import Context, logger
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.retrieval.evidence import measure_evidence
from chat.pipeline.retrieval.trace import boosting_faq
from chat.pipeline.sentences.ranking import RankedSentence, list_off_topic, rank_sentences
from chat.pipeline.sentences.unit_vectors import embed_with_question
from chat.pipeline.tuning import CLOSENESS_WEIGHT, MIDDLE_CLOSENESS, WEIGHED_SENTENCES
from core.inference.embeddings import EmbeddingUnavailable
from knowledge.retrieval.types import Origin


def choose_sources(context: Context) -> None:
    """Keep the candidates with the best sentences, as many as the profile has sources, and weigh these as evidence.

    The first one of the ranking is always among them; they are numbered from 1. If no vectors can be had, these are the
    first ones, and the evidence stays that of the passages. If the closest FAQ's pages say nothing about the question,
    the evidence without FAQs decides; if the question surely means that one, the student is led to its page.
    """
    profile = context.ask.profile
    if context.retrieval is None or not context.candidates or not profile.reads_sentences:
        return
    began = time.perf_counter()
    faqs = context.retrieval.runs.get(Origin.FAQ, ())
    curated = {hit.passage_id: hit for hit in faqs}
    first, *_others = context.candidates
    chosen = context.candidates[: profile.sources]
    try:
        ranked = rank_sentences(context.turn.question, context.candidates, embed=embed_with_question, curated=curated)
    except EmbeddingUnavailable:
        logger.exception("sources chosen without their sentences")
    else:
        asked_before = max((hit.score for hit in faqs), default=0.0)
        closest = boosting_faq(context.retrieval)
        if closest and closest.faq_id in list_off_topic(ranked, faqs):
            # What is a little further than the wrong FAQ is not meant either.
            rest = replace(context.retrieval, runs={**context.retrieval.runs, Origin.FAQ: []})
            without = measure_evidence(context.turn.question, rest, context.candidates[: profile.sources])
            context.without_faqs = weigh_sentences(without, ranked, asked_before=0.0)
            context.pointed = _find_pointed(context, closest.faq_id)
        context.evidence = weigh_sentences(context.evidence or 0.0, ranked, asked_before=asked_before)
        if len(context.candidates) > profile.sources:
            best = {each.candidate.passage_id: each.candidate for each in ranked}
            others = (each for each in context.candidates if each.passage_id not in best)
            chosen = [*best.values(), *others][: profile.sources]
            if first not in chosen:
                chosen[-1] = first
    context.candidates = [replace(each, number=number) for number, each in enumerate(chosen, start=1)]
    context.timings_ms["sentences"] = (time.perf_counter() - began) * 1000


def _find_pointed(context: Context, faq_id: int) -> Candidate | None:
    """Return the page that staff linked first with the FAQ, if it is surely meant and has no written answer."""
    if context.office or context.retrieval is None or context.meant is None or context.meant.faq_id != faq_id:
        return None
    linked = [hit for hit in context.retrieval.runs[Origin.FAQ] if hit.faq_id == faq_id]
    read = {each.passage_id: each for each in context.candidates}
    return next((read[hit.passage_id] for hit in linked if hit.passage_id in read), None)


def weigh_sentences(evidence: float, ranked: Sequence[RankedSentence], *, asked_before: float) -> float:
    """Return the evidence, from 0 to 1, more where the best sentences are close to the question, else less.

    `asked_before` is the similarity of the closest curated question: the closer it is, the less the sentences tell.
    """
    if not ranked:
        return evidence
    closeness = statistics.fmean(each.closeness for each in ranked[:WEIGHED_SENTENCES])
    weight = CLOSENESS_WEIGHT * (1 - min(1.0, max(0.0, asked_before)))
    return min(1.0, max(0.0, evidence + weight * (closeness - MIDDLE_CLOSENESS)))
