"""The same question to one profile or to two: what each would answer, and every step that led there.

The steps are those of `chat.pipeline.run`, taken one by one so that they can be shown. Only the ranking is made once
more, in full, where an answer needs its first passages alone.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from asgiref.sync import async_to_sync

from chat.models import Message
from chat.pipeline.answering.prompt import Prompt, build_prompt
from chat.pipeline.question import Context, Question, Turn
from chat.pipeline.reply import Reply, fold
from chat.pipeline.retrieval.profiles import retrieve_with
from chat.pipeline.retrieval.search import retrieve
from chat.pipeline.run import respond
from chat.pipeline.understanding.rewrite import needs_context
from chat.pipeline.understanding.route import understand
from chat.playground.rankings import (
    SHOWN,
    NearFAQ,
    Ranking,
    Row,
    build_ranking,
    faq_retriever,
    fused_rows,
    load_passages,
    near_faqs,
    rank_change,
)
from chat.protocol.answer_events import End
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.llm import client
from core.inference.llm.token_budget import estimate_tokens
from core.inference.reranker import RerankerUnavailable
from knowledge.guardrails.injection import flag_document, flag_injection
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Scope

#: Reasons to abstain that are known only once the model has written.
AFTER_THE_MODEL = frozenset({"model_declined"})


class NotAsked(StrEnum):
    """The reason for an answer without the language model; empty where the model was asked."""

    NO_MODEL = "no_model"
    SWITCHED_OFF = "switched_off"
    NO_QUESTION = "no_question"
    ABSTAINED = "abstained"
    ASKED_BACK = "asked_back"
    TOO_LONG = "too_long"
    WAS_ASKED = ""


def why_not_asked(ask: Question, reply: Reply, end: End) -> NotAsked:
    if end.route != Message.Route.QUESTION:
        return NotAsked.NO_QUESTION
    if end.status == Message.Status.CLARIFYING:
        return NotAsked.ASKED_BACK
    if reply.reason and reply.reason not in AFTER_THE_MODEL:
        return NotAsked.ABSTAINED
    if not client.is_configured():
        return NotAsked.NO_MODEL
    if not ask.uses_model:
        return NotAsked.SWITCHED_OFF
    return NotAsked.TOO_LONG if end.notice == "window_too_small" else NotAsked.WAS_ASKED


class Rewriter(StrEnum):
    """The means by which the question stands alone; `ALONE` where it did already, or nothing was said before."""

    ALONE = "alone"
    RULE = "rule"
    RULE_AFTER_MODEL = "rule-after-model"
    MODEL = "model"


@dataclass(frozen=True, slots=True)
class Reading:
    """The kind that the message was taken for; `flags` are signs of an attempt to instruct the model."""

    turn: Turn
    rewriter: Rewriter
    flags: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Search:
    """The retrieval of a trial.

    `retrieval` has the whole fused ranking, `fused` its rows that are shown; `context` holds the passages that an
    answer is made from, `source_flags` the signs that one of them speaks to the model.
    """

    scope: Scope
    retrieval: Retrieval
    context: Context
    rankings: Sequence[Ranking]
    faqs: Sequence[NearFAQ]
    matches_faqs: bool
    steers_softly: bool
    fused: Sequence[Row]
    source_flags: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Sent:
    """The two messages with an estimate of their tokens; or `why_not` there are none."""

    prompt: Prompt | None
    tokens: int
    why_not: NotAsked


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """`search` is None where nothing was looked up, or where that failed: then `failure` says why."""

    ask: Question
    reply: Reply
    end: End
    reading: Reading
    search: Search | None
    failure: str
    sent: Sent


@dataclass(frozen=True, slots=True, eq=False)
class _Answered:
    """`context` is what the answer was made in."""

    context: Context
    reply: Reply


def try_question(asks: Sequence[Question]) -> list[Trial]:
    """One ask or two, at once; with two their fused rankings are compared. Raises UnknownCollection."""
    trials = [_retraced(answered) for answered in async_to_sync(_answer_all)(asks)]
    return [_compared(trial, other) for trial, other in zip(trials, reversed(trials), strict=True)]


async def _answer_all(asks: Sequence[Question]) -> list[_Answered]:
    return await asyncio.gather(*map(_answer, asks))


async def _answer(ask: Question) -> _Answered:
    """Answer as `chat.pipeline.run.answer` does, with its context kept."""
    context = await understand(ask)
    await retrieve(context)
    return _Answered(context, await fold(respond(context)))


def _retraced(answered: _Answered) -> Trial:
    ask, turn, reply = answered.context.ask, answered.context.turn, answered.reply
    if reply.end is None:
        raise AssertionError("an answer ended without an End")
    search, failure = None, ""
    if answered.context.is_question:
        try:
            search = _searched(answered)
        except (EmbeddingUnavailable, RerankerUnavailable) as error:
            failure = str(error)
    sent = _sent(answered.context, reply, reply.end)
    return Trial(ask, reply, reply.end, describe_reading(ask, turn), search, failure, sent)


def describe_reading(ask: Question, turn: Turn) -> Reading:
    rewriter = Rewriter.ALONE
    if turn.by_model:
        rewriter = Rewriter.MODEL
    elif ask.history and needs_context(ask.text) and not turn.begins_anew:
        asks_model = ask.uses_model and client.is_configured()
        rewriter = Rewriter.RULE_AFTER_MODEL if asks_model else Rewriter.RULE
    return Reading(turn, rewriter, flag_injection(ask.text))


def _searched(answered: _Answered) -> Search:
    context = answered.context
    ask, profile, question = context.ask, context.ask.profile, context.turn.question
    scope = build_scope(ask.collections, audience=ask.audience)
    everything = sum(leg.k for leg in profile.legs)
    retrieval = retrieve_with(profile, question, scope=scope, k=everything, guesses=context.guesses)
    shown = max(SHOWN, profile.sources)
    passages = load_passages(retrieval, shown)
    given = {each.passage_id for each in context.candidates}
    matcher = faq_retriever(profile)
    return Search(
        scope=scope,
        retrieval=retrieval,
        context=context,
        rankings=[build_ranking(leg, retrieval.runs[leg.retriever.origin], passages) for leg in profile.legs],
        faqs=near_faqs(matcher, retrieval, scope) if matcher else [],
        matches_faqs=matcher is not None,
        steers_softly=matcher is not None and matcher.steering,
        fused=list(fused_rows(retrieval, profile, passages, given, shown)),
        source_flags=tuple(sorted({flag for each in context.candidates for flag in flag_document(each.text)})),
    )


def _sent(context: Context, reply: Reply, end: End) -> Sent:
    why_not = why_not_asked(context.ask, reply, end)
    if why_not:
        return Sent(None, 0, why_not)
    prompt = build_prompt(context)
    return Sent(prompt, estimate_tokens(prompt.system) + estimate_tokens(prompt.user), why_not)


def _compared(trial: Trial, other: Trial) -> Trial:
    if other is trial or trial.search is None or other.search is None:
        return trial
    others = {hit.passage_id: hit.rank for hit in other.search.retrieval.hits}
    fused = [replace(row, move=rank_change(row.passage_id, row.rank, others)) for row in trial.search.fused]
    return replace(trial, search=replace(trial.search, fused=fused))
