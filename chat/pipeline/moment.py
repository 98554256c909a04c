"""Describes what an answer is made from, in the words of its moment, so that staff can see it later."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from chat.models import Message
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate
from chat.pipeline.retrieval.profiles import KINDS, Profile
from chat.protocol.answer_events import Cited
from chat.protocol.moment import (
    FAQNearby,
    Instructions,
    Moment,
    OfficeAnswerShown,
    PassageRead,
    ProfileUsed,
    RetrieverUsed,
)
from core.inference.llm.client import Sampling
from faqs.answers.choice import ChosenAnswer
from knowledge.retrieval.search import Retrieval
from knowledge.retrieval.types import Hit, Origin


def describe_moment(context: Context, strategy: str) -> Moment | None:
    """Describe what was read, at the end of an answer that was given by a strategy; None if nothing was looked up.

    Where neither a model wrote nor pages were quoted, no passage has a number.
    """
    ask, retrieval = context.ask, context.retrieval
    if retrieval is None:
        return None
    is_made_of_pages = context.model or strategy == Message.Strategy.EXTRACTIVE
    sampling = ask.sampling if context.model else Sampling("", 0.0)
    return Moment(
        passages=tuple(_passages(context, context.candidates if is_made_of_pages else [])),
        faqs=tuple(_faqs(retrieval)),
        office=_office(context.office) if context.office else None,
        profile=describe_profile(ask.profile),
        instructions=_instructions(context) if context.model else None,
        model=context.model,
        temperature=sampling.temperature,
        longest_answer=sampling.max_tokens,
        strictness=ask.strictness.value if context.model else "",
        collections=tuple(ask.collections),
        audience=tuple(ask.audience),
        language=ask.language,
        generation=retrieval.query.generation_id,
        embedding_model=retrieval.query.model,
    )


def with_citations(moment: Moment, cited: Sequence[Cited]) -> Moment:
    """Return the moment with the number of each source at the passage that it is of."""
    numbers: dict[int, list[int]] = {}
    for event in cited:
        numbers.setdefault(event.passage_id, []).append(event.source.n)
    passages = [replace(each, cited=tuple(numbers.get(each.passage_id, ()))) for each in moment.passages]
    return replace(moment, passages=tuple(passages))


def describe_profile(profile: Profile) -> ProfileUsed:
    plan = profile.plan
    retrievers = [
        RetrieverUsed(str(KINDS.get(id(leg.retriever), leg.retriever.origin)), leg.weight, leg.k) for leg in plan.legs
    ]
    return ProfileUsed(
        name=profile.name,
        retrievers=tuple(retrievers),
        fusion=plan.fusion.value,
        sources=profile.sources,
        threshold=profile.threshold,
        rerank_first=plan.rerank_first,
        protect_faqs=plan.protect_faqs,
        word_steps=tuple(sorted(step.value for step in plan.word_steps)),
        prefers_editions=plan.prefers_editions,
    )


def _passages(context: Context, given: Sequence[Candidate]) -> Iterator[PassageRead]:
    """Those that were given first, and each whole, though a long one may have been cut to a model's window."""
    whole = {each.passage_id: each for each in context.found}
    for each in given:
        yield _passage(whole.pop(each.passage_id, each), each.number)
    for each in whole.values():
        yield _passage(each, 0)


def _passage(candidate: Candidate, number: int) -> PassageRead:
    return PassageRead(
        passage_id=candidate.passage_id,
        document_id=candidate.document_id,
        number=number,
        title=candidate.title,
        heading=candidate.heading,
        url=candidate.url,
        text=candidate.text,
        page=candidate.page,
        language=candidate.language,
        edition=candidate.edition,
        checked_on=candidate.checked_on,
        read_by_ocr=candidate.read_by_ocr,
    )


def _faqs(retrieval: Retrieval) -> Iterator[FAQNearby]:
    """Each FAQ once, at its best passage; none that was too far away to count."""
    seen: dict[int, Hit] = {}
    for hit in retrieval.runs.get(Origin.FAQ, ()):
        if hit.faq_id is not None and hit.confidence > 0:
            seen.setdefault(hit.faq_id, hit)
    for faq_id, hit in seen.items():
        yield FAQNearby(faq_id, hit.faq_question, hit.hint, round(hit.score, 4), round(hit.confidence, 4))


def _office(chosen: ChosenAnswer) -> OfficeAnswerShown:
    return OfficeAnswerShown(
        faq_id=chosen.faq_id,
        title=chosen.title,
        text=chosen.text,
        language=chosen.language,
        office=chosen.office,
        checked_on=chosen.checked_on.isoformat(),
    )


def _instructions(context: Context) -> Instructions:
    ask, template = context.ask, context.ask.template
    return Instructions(
        name=template.name,
        system=template.system,
        question=template.question,
        most_sources=template.most_sources,
        assistant=ask.assistant,
        institution=ask.institution,
        persona=ask.persona,
    )
