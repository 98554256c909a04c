"""The retrieval stage: what is found for a question, and how likely it holds an answer (the evidence)."""

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from chat.pipeline.question import Context, Question, Turn, logger
from chat.pipeline.reading import read_pages
from chat.pipeline.retrieval.candidates import Candidate, load_candidates
from chat.pipeline.retrieval.evidence import measure_evidence
from chat.pipeline.retrieval.office import find_office_answer, find_sure_faq
from chat.pipeline.retrieval.other_languages import add_other_languages
from chat.pipeline.retrieval.profiles import PROFILES, Profile, retrieve_with
from chat.pipeline.retrieval.related import next_questions
from chat.pipeline.retrieval.sections import add_named_sections
from chat.pipeline.sentences.sources import choose_sources
from chat.pipeline.understanding.clarify import matches_audience, mentioned_tags
from chat.pipeline.understanding.hyde import hypothesise
from chat.pipeline.understanding.rewrite import points_outside
from core.db.prepared import in_database
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from core.telemetry.tracing import span
from core.terms import GENERAL_WORDS, content_words, topic_words
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import Retrieval

#: Languages of pages that are searched where an assistant names none.
LANGUAGES = ("en", "de")


@dataclass(frozen=True, slots=True)
class Found:
    """The results of retrieval for one `reading` of a question; `question` is the reading without slips."""

    reading: str
    question: str
    retrieval: Retrieval
    candidates: list[Candidate]
    evidence: float


def look_up(ask: Question, turn: Turn, retrieved: Callable[[str], Retrieval], *, profile: Profile) -> Found:
    """Retrieve for the rewritten question and, if only the rule rewrote it, for the original; keep the better result.

    The better one has more of the original's own words in its best passage, or else the higher evidence. If neither
    has any of them, the original is asked: what was said before must not answer in its place.
    """
    readings = [turn.question]
    if turn.question != ask.text and not turn.by_model and not points_outside(ask.text):
        readings.append(ask.text)
    found = []
    for reading in readings:
        retrieval = retrieved(reading)
        question = retrieval.text
        hits = [hit for hit in retrieval.hits[: profile.passages] if hit.passage_id not in retrieval.left_out]
        candidates = load_candidates(hits, language=ask.language if profile.plan.prefers_editions else "")
        evidence = measure_evidence(question, retrieval, candidates[: profile.sources])
        found.append(Found(reading, question, retrieval, candidates, evidence))
    own = content_words(found[-1].question)

    def answers(each: Found) -> tuple[int, float]:
        return max((len(own & content_words(best.text)) for best in each.candidates[:1]), default=0), each.evidence

    names_something = any(word.lower() not in GENERAL_WORDS for word in topic_words(ask.text))
    if names_something and not any(answers(each)[0] for each in found):
        return found[-1]
    return max(found, key=answers)


async def retrieve(context: Context) -> None:
    """Find the passages that a question is answered from; do nothing for a message that is no question.

    Raises UnknownCollection. If the embedding model or the reranker is away, the rest of the profile searches, and the
    answer's notice says so.
    """
    if context.is_question:
        await guess(context)
        # The connection is given back before the model speaks.
        await in_database(gather)(context)
        with span("choose sentences"):
            await asyncio.to_thread(choose_sources, context)


def gather(context: Context) -> None:
    """Find the passages and what leads on from them, on a replica if the question may be answered from one.

    Raises as `retrieve`.
    """
    turn, notice = context.turn, context.notice

    def read() -> None:
        context.turn, context.notice = turn, notice  # if it is read again
        find_passages(context)
        context.leads_on = next_questions(context)

    read_pages(context.ask, read)


async def guess(context: Context) -> None:
    """Have the model guess what a page with the answer says, if the profile uses HyDE."""
    if context.ask.profile.uses_hyde and context.ask.may_ask_model:
        context.guesses = await hypothesise(context.turn.question, caller=context.ask.caller)


def find_passages(context: Context, *, depth: int = 0, degrades: bool = True) -> None:
    """Do all database work before an answer: rank passages, load the sources, narrow them to the readers named.

    `depth` is how many passages are ranked, if more than are read. A `scope` that the context has already is used.
    Raises UnknownCollection, and unless it `degrades`: EmbeddingUnavailable, RerankerUnavailable.
    """
    began = time.perf_counter()
    ask, profile = context.ask, context.ask.profile
    scope = context.scope = context.scope or build_scope(ask.collections, audience=ask.audience)

    def rank(question: str, profile: Profile = profile) -> Retrieval:
        return retrieve_with(profile, question, scope=scope, k=depth or profile.passages, guesses=context.guesses)

    def rank_anyhow(question: str) -> Retrieval:
        try:
            return rank(question)
        except EmbeddingUnavailable:
            logger.exception("searched by words alone")
            context.notice = "words_only"
            return rank(question, PROFILES["bm25"])
        except RerankerUnavailable:
            logger.exception("searched without reranking")
            context.notice = "not_reranked"
            return rank(question, replace(profile, plan=replace(profile.plan, rerank_first=0)))

    found = look_up(ask, context.turn, rank_anyhow if degrades else rank, profile=profile)
    if found.question != context.turn.question:
        begins_anew = found.reading != context.turn.question
        context.turn = replace(context.turn, question=found.question, begins_anew=begins_anew)
    read = found.candidates
    if profile.reads_sentences:
        languages = ask.languages or LANGUAGES
        read = add_other_languages(found.question, read, found.retrieval, scope=scope, languages=languages)
        read = add_named_sections(
            found.question, read, found.retrieval, language=ask.language if profile.plan.prefers_editions else ""
        )
    context.retrieval, context.evidence = found.retrieval, found.evidence
    context.found = context.candidates = read
    context.meant = find_sure_faq(found.retrieval)
    context.office = find_office_answer(context.meant, language=ask.language, scope=scope)
    if named := mentioned_tags(context.turn.question, read):
        context.named = named
        context.candidates = [each for each in read if matches_audience(each, named)]
    context.timings_ms.update(found.retrieval.timings_ms)
    context.timings_ms["retrieval"] = (time.perf_counter() - began) * 1000
