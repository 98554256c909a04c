"""The part of a model's answer that may be shown: proven sentences, and the page's own words in place of others."""

import logging
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from chat.pipeline.answering.citations import CitationProcessor, split_markers
from chat.pipeline.answering.proof import Prover
from chat.pipeline.answering.sentence_stream import HeldSentence
from chat.pipeline.guardrails.eligibility import decisions
from chat.pipeline.guardrails.output import OutputGuard
from chat.pipeline.question import SentenceRecord
from chat.pipeline.retrieval.candidates import Candidate, as_source
from chat.protocol.answer_events import HeldBack, Outcome
from chat.protocol.event import Event
from core.terms import WORD

logger = logging.getLogger(__name__)

#: Lines that name what follows. They are shown if proven, and never replaced by a quote.
HEADING = re.compile(r"#{1,6}\s|\*\*[^*\n]+\*\*:?$")
TABLE_RULE = re.compile(r"\|?[\s:|-]+\|?$")


@dataclass(frozen=True, slots=True)
class Doubted:
    """A sentence that is not proven, why, and the page's words that it was compared with."""

    sentence: HeldSentence
    text: str
    reasons: Sequence[tuple[str, str]]
    unit: str
    candidate: Candidate


@dataclass(slots=True)
class HeldAnswer:
    """Takes the sentences of one answer, gives the events that show them.

    `shown` are the sentences that it shows, bare of marks; `is_quoted` tells whether one of them is a quote; `lead` is
    connective text, which is shown with the next sentence, `table` the header of the table that is written. `record` is
    kept for staff: each sentence that states something is in it once. Quotes are `waiting` until a sentence is proven:
    if none is, the pages are quoted as without a model, which answers better than what stands nearest to its errors.
    `repeats` tells whether a sentence only repeats what stands above the answer; it is not shown again then.
    """

    resolver: CitationProcessor
    guard: OutputGuard
    prover: Prover
    numbers: frozenset[int]
    marks: tuple[str, str]
    shown: set[str] = field(default_factory=set)
    is_quoted: bool = False
    record: SentenceRecord = field(default_factory=SentenceRecord)
    lead: list[HeldSentence] = field(default_factory=list)
    table: list[HeldSentence] = field(default_factory=list)
    is_table_shown: bool = False
    waiting: list[Doubted] = field(default_factory=list)
    repeats: Callable[[str], bool] | None = None

    def take(self, sentence: HeldSentence) -> list[Event]:
        """Return the events of the next sentence: as written, quoted, or none."""
        text, numbers = split_markers(sentence.text)
        if not sentence.is_row:
            self.table, self.is_table_shown = [], False
        elif not self.table or (TABLE_RULE.match(text) and len(self.table) == 1):
            self.table.append(sentence)
            return []
        if not text.strip() or (self.repeats and self.repeats(text)):
            return []
        if violations := self.guard.check_piece(f"{sentence.separator}{text}"):
            logger.warning("sentence left out by the guard")
            self._hold(text, [(each.kind, each.text) for each in violations])
            return []
        cited = [number for number in numbers if number in self.numbers]
        verdict, candidate = self.prover.prove(self._statement(sentence, text), cited)
        if verdict.is_connective:
            self.lead.append(sentence)
            return []
        decided = decisions(text)
        if verdict.is_supported and candidate is not None and not decided:
            self.record.shown += 1
            return [*self._show_waiting(), *self._show(sentence, candidate, has_citation=bool(cited))]
        reasons = [(each.kind, each.text) for each in verdict.reasons] or [("decision", "")]
        if candidate is None or HEADING.match(text):
            self._hold(text, reasons)
            return []
        self.waiting.append(Doubted(sentence, text, reasons, verdict.unit, candidate))
        return self._show_waiting() if self.record.shown else []

    def finish(self) -> list[Event]:
        """Return the connective text that ends the answer, if there is an answer."""
        if not self.record.shown:
            for each in self.waiting:
                self._hold(each.text, each.reasons, Outcome.LEFT_OUT, each.unit, each.candidate)
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
        self.shown.add(_bare(split_markers(sentence.text)[0]))
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

    def _show_waiting(self) -> list[Event]:
        """Return the quotes in place of the sentences that are not proven."""
        events: list[Event] = []
        for each in self.waiting:
            is_repeated = bool(each.unit) and _bare(each.unit) in self.shown
            quoted = list(self._quote(each.sentence, each.unit, each.candidate))
            instead = Outcome.QUOTED if quoted else Outcome.REPEATED if is_repeated else Outcome.LEFT_OUT
            self._hold(each.text, each.reasons, instead, each.unit, each.candidate)
            events += quoted
        self.waiting = []
        return events

    def _quote(self, sentence: HeldSentence, unit: str, candidate: Candidate) -> Iterator[Event]:
        """Quote the page's own words in the sentence's place, once, if they may be shown."""
        if not unit or _bare(unit) in self.shown or decisions(unit) or self.guard.check_piece(f" {unit}"):
            return
        self.shown.add(_bare(unit))
        self.is_quoted = True
        self.is_table_shown = False
        yield from self._begin()
        separator = "\n\n" if sentence.is_row else sentence.separator
        separator = separator if self.resolver.text else ""
        yield from self.resolver.show(f"{separator}{sentence.list_mark}{self.marks[0]}{unit}{self.marks[1]}")
        yield from self.resolver.cite(candidate, quoted=unit)

    def _hold(
        self,
        text: str,
        reasons: Sequence[tuple[str, str]],
        outcome: Outcome = Outcome.LEFT_OUT,
        unit: str = "",
        candidate: Candidate | None = None,
    ) -> None:
        """Record a sentence that is not shown as written, with the page's words that it was compared with."""
        held = HeldBack(text.strip(), tuple(reasons), outcome)
        if candidate and unit:
            source = as_source(candidate, n=candidate.number, quoted=unit)
            held = replace(
                held,
                page_words=unit,
                document_id=candidate.document_id,
                title=source.title,
                url=source.url,
                heading=source.heading,
                page=source.page,
            )
        self.record.held_back.append(held)

    def _begin(self) -> Iterator[Event]:
        for each in self.lead:
            yield from self._write(each.separator, each.text)
        self.lead = []

    def _write(self, separator: str, text: str) -> Iterator[Event]:
        yield from self.resolver.feed((separator if self.resolver.text else "") + text)
        yield from self.resolver.finish()


def _cells(row: str) -> list[str]:
    return [cell.strip() for cell in row.strip().strip("|").split("|")]


def _bare(text: str) -> str:
    return " ".join(WORD.findall(text.casefold()))
