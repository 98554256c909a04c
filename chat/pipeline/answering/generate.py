"""The answer that a language model writes: each sentence is held until a page proves it."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field

from django.conf import settings
from django.utils import timezone, translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.abstain import abstain
from chat.pipeline.answering.citations import CitationProcessor, RefusalDetector, split_markers
from chat.pipeline.answering.extract import QUOTATION_MARKS, quote
from chat.pipeline.answering.prompt import Prompt, WindowTooSmall, build_prompt
from chat.pipeline.answering.proof import Prover
from chat.pipeline.answering.sentence_stream import HeldSentence, SentenceStream
from chat.pipeline.guardrails.eligibility import decisions
from chat.pipeline.guardrails.output import OutputGuard
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate
from chat.protocol.events import Delta, Error, Event, Queued, Sources
from core.inference.llm import client
from core.inference.llm.client import ModelUnavailable, Usage, Waiting

logger = logging.getLogger(__name__)

#: Evidence this far above the profile's threshold is not thin: small models also refuse what their sources hold, and
#: just above the threshold lie most questions that the pages do not answer.
GOOD_EVIDENCE_MARGIN = 0.08
#: Lines that name what follows. They are shown if proven, and never replaced by a quote.
HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]+\*\*:?$")
TABLE_RULE = re.compile(r"\|?[\s:|-]+\|?$")


async def generate(context: Context) -> AsyncGenerator[Event]:
    """Have the model write. If it is away, quote the pages instead; if it breaks off, say so."""
    try:
        prompt = build_prompt(context)
    except WindowTooSmall:
        logger.error("prompt too long for LLM_CONTEXT_TOKENS=%d", settings.LLM_CONTEXT_TOKENS)
        async with aclosing(quote(context, notice="window_too_small")) as events:
            async for event in events:
                yield event
        return
    context.model = context.ask.sampling.model or settings.LLM_MODEL
    context.candidates = prompt.candidates
    shown = False
    try:
        async with aclosing(_relay(context, prompt)) as events:
            async for event in events:
                if isinstance(event, Delta) and not shown:
                    shown = True
                    context.mark("first_token")
                yield event
            return
    except ModelUnavailable as error:
        logger.warning("model unavailable code=%s partial=%s", error.code, shown)
        failure = error.code
    if shown:
        with translation.override(context.ask.language):
            detail = _("The answer broke off because the language model stopped. Please try again.")
        yield Error("model_interrupted", detail)
        yield context.end(Message.Status.FAILED, Message.Strategy.GENERATED, notice=failure)
        return
    context.model = ""
    async with aclosing(quote(context, notice="model_unavailable")) as events:
        async for event in events:
            yield event


async def _relay(context: Context, prompt: Prompt) -> AsyncGenerator[Event]:
    """Relay the proven sentences of what the model writes. Raise ModelUnavailable."""
    # It reads all sources, which takes no time of the student's while the model begins.
    preparing = asyncio.ensure_future(asyncio.to_thread(_prepare, context, prompt))
    verdict, sentences = RefusalDetector(), SentenceStream()
    writing = client.stream(prompt.messages, sampling=context.ask.sampling, caller=context.ask.caller)
    try:
        async with aclosing(writing) as pieces:
            async for piece in pieces:
                if isinstance(piece, Waiting):
                    yield Queued(piece.position)
                elif isinstance(piece, Usage):
                    context.usage.append(piece)
                else:
                    for sentence in sentences.feed(verdict.feed(piece)):
                        for event in await asyncio.to_thread((await preparing).take, sentence):
                            yield event
                    if verdict.declined:
                        break
        held = [] if verdict.declined else sentences.feed(verdict.finish()) + sentences.finish()
    except ModelUnavailable:
        for sentence in sentences.interrupt():
            for event in await asyncio.to_thread((await preparing).take, sentence):
                yield event
        raise
    answer = await preparing
    for sentence in held:
        for event in await asyncio.to_thread(answer.take, sentence):
            yield event
    for event in answer.finish():
        yield event
    if answer.resolver.sources:
        yield Sources(tuple(answer.resolver.sources))
        notice = "partly_quoted" if answer.quoted else ""
        yield context.end(Message.Status.COMPLETE, Message.Strategy.GENERATED, notice=notice)
        return
    if verdict.declined and not _has_good_evidence(context):
        without = abstain(context, "model_declined")
    else:
        without = quote(context, notice="model_declined" if verdict.declined else "nothing_proven")
    async with aclosing(without) as events:
        async for event in events:
            yield event


def _has_good_evidence(context: Context) -> bool:
    """Return whether the pages are so close that a model's refusal does not count; unmeasured evidence is thin."""
    return context.evidence is not None and context.evidence >= context.ask.profile.threshold + GOOD_EVIDENCE_MARGIN


def _prepare(context: Context, prompt: Prompt) -> "_HeldAnswer":
    ask = context.ask
    return _HeldAnswer(
        resolver=CitationProcessor({each.number: each for each in prompt.candidates}, question=ask.text),
        guard=_guard(context, prompt),
        prover=Prover(prompt.candidates, language=ask.language, strictness=ask.strictness),
        numbers=frozenset(each.number for each in prompt.candidates),
        marks=QUOTATION_MARKS.get(ask.language, QUOTATION_MARKS["en"]),
    )


def _guard(context: Context, prompt: Prompt) -> OutputGuard:
    ask, template = context.ask, context.ask.template
    contact = ask.contact
    known = [ask.text, context.turn.question, *(text for _role, text in ask.history)]
    known += [contact.name, contact.email, contact.url] if contact else []
    return OutputGuard(
        system=f"{prompt.system}\n{template.question}",
        sources=[f"{each.label}\n{each.url}\n{each.text}" for each in prompt.candidates],
        question="\n".join([*known, f"{timezone.localdate():%d.%m.%Y}"]),
    )


@dataclass(slots=True)
class _HeldAnswer:
    """The part of the answer that may be shown: proven sentences, and the page's own words in place of others.

    `lead` is connective text, which is shown with the next sentence, `table` the header of the table that is written.
    """

    resolver: CitationProcessor
    guard: OutputGuard
    prover: Prover
    numbers: frozenset[int]
    marks: tuple[str, str]
    quoted: set[str] = field(default_factory=set)
    lead: list[HeldSentence] = field(default_factory=list)
    table: list[HeldSentence] = field(default_factory=list)
    is_table_shown: bool = False

    def take(self, sentence: HeldSentence) -> list[Event]:
        """Return the events of the next sentence: as written, quoted, or none."""
        text, numbers = split_markers(sentence.text)
        if not sentence.is_row:
            self.table, self.is_table_shown = [], False
        elif not self.table or (TABLE_RULE.match(text) and len(self.table) == 1):
            self.table.append(sentence)
            return []
        if not text.strip():
            return []
        if self.guard.check_piece(f"{sentence.separator}{text}"):
            logger.warning("sentence left out by the guard")
            return []
        cited = [number for number in numbers if number in self.numbers]
        verdict, candidate = self.prover.prove(self._statement(sentence, text), cited)
        if verdict.is_connective:
            self.lead.append(sentence)
            return []
        if verdict.is_supported and candidate is not None and not decisions(text):
            return list(self._show(sentence, candidate, has_citation=bool(cited)))
        if candidate is None or HEADING.match(text):
            return []
        return list(self._quote(sentence, verdict.unit, candidate))

    def finish(self) -> list[Event]:
        """Return the connective text that ends the answer, if there is an answer."""
        if not self.resolver.sources:
            return []
        return [event for each in self.lead for event in self._write(each.separator, each.text)]

    def _statement(self, sentence: HeldSentence, text: str) -> str:
        """Return what is to be proven: a list item without its mark, a table row with the names of its columns."""
        if not sentence.is_row:
            return text.removeprefix(sentence.list_mark)
        names, cells = _cells(split_markers(self.table[0].text)[0]), _cells(text)
        pairs = zip(names + [""] * len(cells), cells, strict=False)
        return "; ".join(f"{name}: {cell}" if name else cell for name, cell in pairs if cell)

    def _show(self, sentence: HeldSentence, candidate: Candidate, *, has_citation: bool) -> Iterator[Event]:
        yield from self._begin()
        separator = sentence.separator
        if sentence.is_row and not self.is_table_shown:
            self.is_table_shown = True
            for line in self.table:
                yield from self._write("\n\n" if line is self.table[0] else "\n", line.text)
            separator = "\n"
        yield from self._write(separator, sentence.text)
        if not has_citation:
            yield from self.resolver.cite(candidate)

    def _quote(self, sentence: HeldSentence, unit: str, candidate: Candidate) -> Iterator[Event]:
        """Quote the page's own words in the sentence's place, once, if they may be shown."""
        if not unit or unit in self.quoted or decisions(unit) or self.guard.check_piece(f" {unit}"):
            return
        self.quoted.add(unit)
        self.is_table_shown = False
        yield from self._begin()
        separator = "\n\n" if sentence.is_row else sentence.separator
        separator = separator if self.resolver.text else ""
        yield from self.resolver.show(f"{separator}{sentence.list_mark}{self.marks[0]}{unit}{self.marks[1]}")
        yield from self.resolver.cite(candidate, quoted=unit)

    def _begin(self) -> Iterator[Event]:
        for each in self.lead:
            yield from self._write(each.separator, each.text)
        self.lead = []

    def _write(self, separator: str, text: str) -> Iterator[Event]:
        yield from self.resolver.feed((separator if self.resolver.text else "") + text)
        yield from self.resolver.finish()


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]
