"""Measures of one reply: by its words, by the product's own models, and by a judge if there is one."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from django.conf import settings

from analytics.evaluation.answers import configured
from analytics.evaluation.answers.judge import Judge
from analytics.evaluation.metrics.answers import MEASURES, faithfulness_overlap, split_claims
from analytics.evaluation.metrics.perplexity import Perplexity
from analytics.evaluation.metrics.selectivity import declines
from analytics.evaluation.metrics.text import bertscore, get_token_encoder, overlap, without_markers, words
from chat.models import Message
from core.inference.embeddings import get_embedder
from core.inference.llm import client as llm_client
from core.inference.reranker import get_reranker


@dataclass(frozen=True, slots=True)
class Said:
    """A reply to a question, and what it is measured against; `passages` are the texts of what it cites."""

    question: str
    reference: str
    text: str
    abstained: bool
    strategy: str
    passages: Sequence[str]

    @property
    def is_answer(self) -> bool:
        """Return whether the pipeline gave an answer; its words may decline all the same."""
        return not self.abstained and self.strategy != Message.Strategy.FIXED


class Measurer:
    """Measures the replies of one run, within one event loop."""

    def __init__(self) -> None:
        self.judge = Judge() if configured.is_configured() else None
        self.perplexity = Perplexity() if llm_client.is_configured() else None

    async def measure(self, said: Said) -> tuple[bool, dict[str, float | None]]:
        """Return whether it declines, and all MEASURES but perplexity; None for what cannot be measured.

        Raise JudgeUnavailable, EmbeddingUnavailable, RerankerUnavailable.
        """
        text = without_markers(said.text)
        values: dict[str, float | None] = dict.fromkeys(MEASURES)
        values["words"] = float(len(words(text)))
        values |= await asyncio.to_thread(_against_reference, text, said.reference)
        declined = await self._declined(said, text)
        # Every reply that the pipeline gave as an answer: a judge may take one for a refusal.
        claims = split_claims(text) if said.is_answer else []
        if said.is_answer:
            values["faithfulness_overlap"] = faithfulness_overlap(claims, said.passages)
            values["relevance_cosine"] = await asyncio.to_thread(_relevance_cosine, said.question, text)
        if self.judge:
            values |= await _judged(self.judge, said, text, claims)
        return declined, values

    async def reference_perplexity(self, question: str, reference: str) -> float | None:
        return await self.perplexity.of(question, reference) if self.perplexity and reference else None

    async def close(self) -> None:
        for client in (self.judge, self.perplexity):
            if client:
                await client.close()

    async def _declined(self, said: Said, text: str) -> bool:
        if not said.is_answer:
            return True  # small talk, and asking back, answer nothing
        if said.strategy in {Message.Strategy.EXTRACTIVE, Message.Strategy.WRITTEN}:
            return False  # whoever is quoted may not know something; the answer quotes
        if self.judge and (found := await self.judge.declined(said.question, text)) is not None:
            return found
        return declines(text)


async def _judged(judge: Judge, said: Said, text: str, claims: Sequence[str]) -> dict[str, float | None]:
    """Return the scores, and faithfulness and answer relevance as in RAGAS; a refusal has no `claims`."""
    scores, held, asked = await asyncio.gather(
        judge.scores(said.question, text, said.reference, said.passages),
        judge.supported(claims, said.passages) if claims else _nothing(),
        judge.questions(text) if claims else _nothing(),
    )
    return {
        **{f"judge_{name}": float(score) for name, score in (scores or {}).items()},
        "faithfulness": sum(held) / len(held) if held else None,
        "answer_relevance": await asyncio.to_thread(_answer_relevance, said.question, asked) if asked else None,
    }


async def _nothing() -> None:
    return None


def _against_reference(text: str, reference: str) -> dict[str, float | None]:
    if not reference:
        return {}
    encoder, embedder = get_token_encoder(), get_embedder()
    values: dict[str, float | None] = {**overlap(text, reference)}
    values |= bertscore(encoder.pieces(text), encoder.pieces(reference))
    said, right = embedder.embed([text, reference])
    values["answer_cosine"] = float(said @ right)
    if settings.RERANKER_MODEL:
        values["cross_encoder_similarity"] = float(get_reranker().scores(reference, [text])[0])
    return values


def _relevance_cosine(question: str, text: str) -> float:
    embedder = get_embedder()
    return float(embedder.embed_questions([question])[0] @ embedder.embed([text])[0])


def _answer_relevance(question: str, asked: Sequence[str]) -> float:
    """Return the mean cosine of the question and those that a judge made of the answer."""
    first, *rest = get_embedder().embed_questions([question, *asked])
    return float(np.mean([vector @ first for vector in rest]))
