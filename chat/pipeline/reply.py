"""The events of an answer folded into one value, for whoever saves, returns or measures it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, field

from chat.protocol.answer_events import Abstain, Cited, Clarify, Delta, End, Error, Help, OfficeAnswer
from chat.protocol.event import Event
from chat.protocol.shapes import Contact, HelpCard, OfficeWords, Source


@dataclass(slots=True)
class Reply:
    """The part of an answer that a student sees so far, and its record.

    At most one of `abstained`, `clarified`, `help` and `office` is set. The words of an `office` are the beginning of
    the text. `error` is the sentence that says what failed.
    """

    text: str = ""
    cited: list[Cited] = field(default_factory=list)
    abstained: Abstain | None = None
    clarified: Clarify | None = None
    help: Help | None = None
    office: OfficeWords | None = None
    error: str = ""
    end: End | None = None

    def take(self, event: Event) -> None:
        """Apply the next event."""
        match event:
            case Delta():
                self.text = add_below(self.office, self.text, event.text)
            case OfficeAnswer():
                self.office = event.answer
                self.text = event.answer.as_text
            case Cited():
                self.cited.append(event)
            case Abstain():
                self._replace(event.text)
                self.abstained = event
            case Clarify():
                self._replace(event.text)
                self.clarified = event
            case Help():
                self._replace(event.text)
                self.help = event
            case Error():
                self.error = event.detail
            case End():
                self.end = event

    def _replace(self, text: str) -> None:
        """Set the whole text. The sources of the text before are no longer cited."""
        self.text = text
        self.cited.clear()

    @property
    def sources(self) -> list[tuple[Source, int]]:
        """Each cited source with the id of its document."""
        return [(event.source, event.document_id) for event in self.cited]

    @property
    def reason(self) -> str:
        """Return why there is no answer; empty if there is one."""
        return self.abstained.reason if self.abstained else ""

    @property
    def contact(self) -> Contact | None:
        return self.abstained.contact if self.abstained else None

    @property
    def related(self) -> tuple[str, ...]:
        """Curated questions close to one that was not answered, or that lead on from an answer."""
        if self.abstained:
            return self.abstained.related
        return self.end.related if self.end else ()

    @property
    def choices(self) -> tuple[str, ...]:
        """Return what the student may choose from when asked back."""
        return tuple(choice.label for choice in self.clarified.choices) if self.clarified else ()

    @property
    def card(self) -> HelpCard | None:
        return self.help.card if self.help else None


def add_below(office: OfficeWords | None, text: str, more: str) -> str:
    """Return the text with more; a paragraph apart from an office's answer."""
    is_first = office is not None and text == office.as_text
    return f"{text}\n\n{more.lstrip()}" if is_first else text + more


def text_below(office: OfficeWords | None, text: str) -> str:
    """Return what stands below an office's answer in a message's text."""
    return text.removeprefix(office.as_text).lstrip("\n") if office else text


async def fold(events: AsyncGenerator[Event]) -> Reply:
    """Read all events of an answer into one reply."""
    reply = Reply()
    async with aclosing(events) as stream:
        async for event in stream:
            reply.take(event)
    return reply
