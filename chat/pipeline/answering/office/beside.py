"""Chooses what stands below the answer in staff's own words: pages linked with its FAQ, and pages on the question."""

import math
from collections.abc import Sequence

from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.retrieval.evidence import measure_evidence, without_documents
from chat.pipeline.tuning import LEAST_TOPIC_SHARE
from chat.pipeline.verification.alignment import has_word
from chat.pipeline.verification.facts import read_facts
from chat.pipeline.verification.words import Word
from core.terms import GENERAL_WORDS
from faqs.answers.choice import ChosenAnswer
from knowledge.chunking.periods import without_periods


def keep_evident(context: Context, office: ChosenAnswer) -> None:
    """Keep the candidates that may stand below the office's answer; none if they are not evidence enough alone.

    A page that is not linked with the FAQ must have the words that say what the question is about.
    """
    retrieval = context.retrieval
    if retrieval is None:
        return
    others = [each for each in context.candidates if each.document_id not in office.documents]
    on_topic = {each.passage_id for each in _on_topic(context.turn.question, others)}
    kept = [each for each in others if each.document_id in office.linked or each.passage_id in on_topic]
    left_out = {hit.document_id for run in retrieval.runs.values() for hit in run}
    rest = without_documents(retrieval, left_out - {each.document_id for each in kept})
    evidence = measure_evidence(context.turn.question, rest, kept)
    context.candidates = kept if evidence >= context.ask.profile.threshold else []


def _on_topic(question: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """Return the candidates with the question's words; one that few of them have counts more than a common one."""
    words = [word for word in read_facts(without_periods(question)).content if word.text.lower() not in GENERAL_WORDS]
    keys = [read_facts(f"{each.label}. {each.text}").keys for each in candidates]
    weights = [_weigh(word, keys) for word in words]
    least = LEAST_TOPIC_SHARE * sum(weights)
    if not words:
        return []
    return [
        each
        for each, own in zip(candidates, keys, strict=True)
        if sum(weight for weight, word in zip(weights, words, strict=True) if has_word(word, own)) >= least
    ]


def _weigh(word: Word, keys: Sequence[frozenset[str]]) -> float:
    return math.log(1 + len(keys) / (sum(has_word(word, own) for own in keys) + 0.5))
