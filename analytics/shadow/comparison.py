"""A question as it is served and as it would be: looked up twice on one connection, answered where that differs."""

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from asgiref.sync import async_to_sync

from analytics.models import ShadowResult
from analytics.shadow.overlays import Overlay, rolled_back
from analytics.shadow.questions import TriedQuestion
from analytics.shadow.verdicts import Difference, Served, difference
from chat.models import Assistant
from chat.pipeline.question import Context, Question, Turn, build_question
from chat.pipeline.reply import fold
from chat.pipeline.retrieval.search import find_passages, guess
from chat.pipeline.run import respond
from chat.pipeline.sentences.sources import choose_sources
from chat.pipeline.understanding.route import understand
from core.language import detect_language
from knowledge.retrieval.live_index import served_generation
from knowledge.retrieval.query_vectors import question_vector
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Origin, Scope

Unchanged = ShadowResult.Unchanged
#: The caller's name in the language model's queue, so that students do not wait behind all its requests.
CALLER = "shadow"
#: How long a transaction that holds a change may last: saving an answer that cites a passage which the change removes
#: waits for it.
HELD_SECONDS = 1.0
#: Questions looked up in one transaction at most.
BATCH = 25


@dataclass(frozen=True, slots=True)
class Found:
    """A question's two contexts: without the change, and with it; `is_reached` if either led to what is changed."""

    question: TriedQuestion
    before: Context
    after: Context
    is_reached: bool


@dataclass(frozen=True, slots=True)
class Compared:
    """The effect of the change on a question; `before` and `after` as a result's row keeps them.

    `unchanged` says why there is none. `tokens` are those that the language model read and wrote for both.
    """

    question: TriedQuestion
    difference: Difference
    before: dict[str, Any]
    after: dict[str, Any]
    unchanged: str
    tokens: tuple[int, int] = (0, 0)


class Asking:
    """The way each assistant is asked; read once. The language model writes only where `asks_model` says so."""

    def __init__(self, assistants: Mapping[int, Assistant], *, asks_model: bool = False) -> None:
        self._plain = {pk: build_question(assistant, "", "en") for pk, assistant in assistants.items()}
        self._assistants, self._asks_model = assistants, asks_model
        self._scopes: dict[tuple[Sequence[str], Sequence[str]], Scope] = {}

    def ask(self, question: TriedQuestion) -> Question:
        assistant, plain = self._assistants[question.assistant_id], self._plain[question.assistant_id]
        language = assistant.language_for(detect_language(question.text) or "en")
        return replace(
            plain,
            text=question.text,
            language=language,
            abstention=assistant.abstention_in(language),
            history=question.history,
            audience=question.audience,
            caller=CALLER,
            allow_llm=self._asks_model,
        )

    def find_scope(self, ask: Question) -> Scope:
        """Return the scope that a question is looked up in. Raise UnknownCollection."""
        key = ask.collections, ask.audience
        if key not in self._scopes:
            self._scopes[key] = build_scope(ask.collections, audience=ask.audience)
        return self._scopes[key]


def look_up_batch(overlay: Overlay, asking: Asking, questions: Sequence[TriedQuestion]) -> list[Found]:
    """Look up the first of the questions, at least one, without the change and with it.

    Raise EmbeddingUnavailable, RerankerUnavailable, UnknownCollection, IndexReplaced.
    """
    pairs = [_pair(overlay, asking, question) for question in questions[:BATCH]]
    _embed(list(dict.fromkeys(text for pair in pairs for text in (pair.turn.question, pair.before.text))))
    found: list[Found] = []
    with rolled_back():
        former = [_look_up(pair, pair.before) for pair in pairs]
        overlay.lay()
        began = time.monotonic()
        for pair, before in zip(pairs, former, strict=True):
            after = before
            if overlay.touches(before, pair.scope):
                after = _look_up(pair, pair.after)
            is_reached = overlay.is_reached(before) or overlay.is_reached(after)
            found.append(Found(pair.question, before, after, is_reached))
            if time.monotonic() - began > HELD_SECONDS:
                break
    return found


def _look_up(pair: "_Pair", ask: Question) -> Context:
    """Retrieve for one of a pair's two questions. A part that is away ends the test: it alone would change answers."""
    context = Context(ask, pair.turn, scope=pair.scope, guesses=pair.guesses)
    if context.is_question:
        find_passages(context, degrades=False)
        choose_sources(context)
    return context


def without_answers(found: Found) -> Compared:
    """Compare the sources and the decision to answer."""
    return _compared(found, _served(found.before), _served(found.after))


def with_answers(found: Found) -> Compared:
    """Compare the answers too, unless both are made from the same passages; not to be called in a transaction."""
    if _is_same(found.before, found.after):
        return without_answers(found)
    before, spent_before = _answered(found.before)
    after, spent_after = _answered(found.after)
    tokens = (spent_before[0] + spent_after[0], spent_before[1] + spent_after[1])
    return _compared(found, before, after, tokens)


def _compared(found: Found, before: Served, after: Served, tokens: tuple[int, int] = (0, 0)) -> Compared:
    change = difference(before, after, found.question.truth)
    unchanged = "" if change.severity else _why_unchanged(found, after)
    return Compared(found.question, change, _row(before, found.before), _row(after, found.after), unchanged, tokens)


def _why_unchanged(found: Found, after: Served) -> str:
    if not found.after.is_question:
        return Unchanged.NO_QUESTION
    if not found.is_reached:
        return Unchanged.NOT_REACHED
    return Unchanged.ABSTAINS if after.abstains else Unchanged.SAME


@dataclass(frozen=True, slots=True)
class _Pair:
    """A question as it is asked without the change and with it, and what is the same for both."""

    question: TriedQuestion
    turn: Turn
    before: Question
    after: Question
    scope: Scope
    guesses: Sequence[str]


def _pair(overlay: Overlay, asking: Asking, question: TriedQuestion) -> _Pair:
    ask = asking.ask(question)
    before, after = overlay.asks(ask)
    return async_to_sync(_understand)(question, asking.find_scope(ask), before, after)


async def _understand(question: TriedQuestion, scope: Scope, before: Question, after: Question) -> _Pair:
    """Understand once what both versions share; the guesses of HyDE too, so that chance makes no difference."""
    context = await understand(before, scope)
    for ask in (before, after):
        if context.is_question and not context.guesses:
            context.ask = ask
            await guess(context)
    return _Pair(question, context.turn, before, after, scope, context.guesses)


def _embed(questions: Sequence[str]) -> None:
    """Compute the questions' vectors in parallel, before a transaction needs them."""
    model = served_generation().model
    with ThreadPoolExecutor(os.cpu_count() or 1, "shadow-vectors") as pool:
        list(pool.map(partial(question_vector, model), questions))


def _is_same(before: Context, after: Context) -> bool:
    """Return whether an answer is made from the same passages in the same way."""
    return (
        list(_read(before)) == list(_read(after))
        and _served(before).abstains == _served(after).abstains
        and before.ask.template == after.ask.template
    )


def _read(context: Context) -> Iterator[tuple[Any, ...]]:
    """Return all that an answer depends on, without ids: a passage that is written again has a new one."""
    curated = {hit.passage_id: hit for hit in context.retrieval.runs.get(Origin.FAQ, ())} if context.retrieval else {}
    for each in context.candidates:
        hit = curated.get(each.passage_id)
        steered = (hit.score, hit.confidence, hit.hint) if hit else ()
        yield each.document_id, each.label, each.url, each.text, each.page, each.audience, steered


def _served(context: Context) -> Served:
    if context.pointed and not context.is_answerable:
        return Served((context.pointed.document_id,), abstains=False)
    documents = tuple(dict.fromkeys(each.document_id for each in context.candidates))
    abstains = context.is_question and not context.is_answerable and context.office is None
    return Served(documents, abstains=abstains)


def _answered(context: Context) -> tuple[Served, tuple[int, int]]:
    """Return what a student would get, and the tokens that the model read and wrote for it."""
    looked_up = _served(context)
    if looked_up.abstains:
        return looked_up, (0, 0)
    reply = async_to_sync(fold)(respond(context))
    spent = (reply.end.prompt_tokens or 0, reply.end.answer_tokens or 0) if reply.end else (0, 0)
    if reply.reason:  # the model declined, or its answer was taken back
        return replace(looked_up, abstains=True), spent
    return replace(looked_up, answer=reply.text), spent


def _row(served: Served, context: Context) -> dict[str, Any]:
    """{"abstains", "evidence", "answer", "sources": [{"document", "title", "url"}, best first]}"""
    sources = {each.document_id: {"title": each.title, "url": each.url} for each in reversed(context.found)}
    return {
        "abstains": served.abstains,
        "evidence": round(context.deciding_evidence or 0.0, 3),
        "answer": served.answer,
        "sources": [{"document": document, **sources[document]} for document in served.documents],
    }
