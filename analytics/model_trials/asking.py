"""Asks a known question through the pipeline that serves students, once for each way to answer."""

import time
from dataclasses import replace

from asgiref.sync import async_to_sync

from analytics.model_trials.outcomes import LAYOUT_BY_CODE, OWN, QUOTES, Outcome, holds, judge
from analytics.model_trials.questions import KnownQuestion
from chat.models import Assistant, Message
from chat.pipeline.question import Context, build_question
from chat.pipeline.reply import Reply, fold
from chat.pipeline.retrieval.candidates import load_candidates
from chat.pipeline.retrieval.evidence import measure_evidence
from chat.pipeline.retrieval.search import find_passages, guess
from chat.pipeline.run import respond
from chat.pipeline.sentences.sources import choose_sources
from chat.pipeline.understanding.clarify import clarifying_facet, matches_audience
from chat.pipeline.understanding.route import understand
from chat.prompt_template import Template, lay_out

#: The caller's name in the language model's queue, so that students do not wait behind all its requests.
CALLER = "trial"
#: Passages ranked for a question whose documents are left out.
DEPTH = 60
#: Notices of answers in which the page is quoted in place of what the model wrote.
HELD_BACK = frozenset({"partly_quoted", "nothing_proven"})


def look_up(assistant: Assistant, question: KnownQuestion) -> Context | None:
    """Return the context that a question is answered from; None if the model would not be asked, or could not be right.

    Raise EmbeddingUnavailable, RerankerUnavailable, UnknownCollection.
    """
    asked = build_question(assistant, question.text, question.language)
    context = async_to_sync(understand)(replace(asked, caller=CALLER, uses_model=True))
    if not context.is_question:
        return None
    async_to_sync(guess)(context)
    find_passages(context, depth=0 if question.is_answerable else DEPTH, degrades=False)
    context.office = None  # the model is tried, not what staff wrote
    if not question.is_answerable:
        _withhold(context, question)
    choose_sources(context)
    if question.is_answerable and not any(each.document_id in question.documents for each in context.candidates):
        return None
    return context if context.is_answerable and not clarifying_facet(context) else None


def _withhold(context: Context, question: KnownQuestion) -> None:
    """Leave out the passages that answer the question, as if nobody had written them."""
    if (retrieval := context.retrieval) is None:
        return
    others = [hit for hit in retrieval.hits if hit.document_id not in question.documents]
    candidates = load_candidates([hit for hit in others if hit.passage_id not in retrieval.left_out])
    left = [
        each
        for each in candidates
        if not holds(each.text, question.expected, language=question.language) and matches_audience(each, context.named)
    ]
    passages = {each.passage_id for each in left}
    profile = context.ask.profile
    context.candidates = [replace(each, number=number) for number, each in enumerate(left[: profile.passages], start=1)]
    runs = {origin: [hit for hit in hits if hit.passage_id in passages] for origin, hits in retrieval.runs.items()}
    hits = [hit for hit in others if hit.passage_id in passages]
    context.retrieval = replace(retrieval, hits=hits, runs=runs)
    context.found = context.candidates
    nearest = context.candidates[: profile.sources]
    context.evidence = measure_evidence(context.turn.question, context.retrieval, nearest)


def template_for(way: str, assistant: Assistant) -> Template:
    """Return the template of a way; that of OWN is the assistant's prompt version."""
    return assistant.template if way == OWN else lay_out(LAYOUT_BY_CODE[way])


async def ask(way: str, question: KnownQuestion, context: Context, assistant: Assistant) -> Outcome:
    """Answer in one way; `context` stays as it is."""
    asked = replace(context.ask, uses_model=False)
    if way != QUOTES:
        asked = replace(context.ask, template=template_for(way, assistant))
    own = replace(
        context,
        ask=asked,
        candidates=list(context.candidates),
        usage=[],
        started=time.perf_counter(),
        timings_ms={},
    )
    return outcome(way, question, await fold(respond(own)), failure=own.failure)


def outcome(way: str, question: KnownQuestion, reply: Reply, *, failure: str) -> Outcome:
    """Judge a reply, and note what it took."""
    end = reply.end
    if end is None:
        raise AssertionError("an answer ended without an End")
    timings = end.timings_ms or {}
    first = timings.get("first_token")
    documents = {document for _source, document in reply.sources}
    is_answered = bool(documents) and end.status == Message.Status.COMPLETE
    return Outcome(
        way=way,
        question=question.key,
        verdict=judge(question, text=reply.text, documents=documents, is_answered=is_answered),
        first_seconds=None if first is None else first / 1000,
        seconds=timings["total"] / 1000,
        tokens=(end.prompt_tokens or 0) + (end.answer_tokens or 0),
        is_held_back=end.notice in HELD_BACK,
        failure=failure,
    )
