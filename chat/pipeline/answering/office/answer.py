"""The answer in staff's own words to a question that surely means an FAQ: shown first, word for word.

It is exempt from the check of sentences, since its office wrote it. Below it stands what other pages say.
"""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from dataclasses import replace

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.office.beside import keep_evident
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import QUOTE_CHARACTERS, references
from chat.protocol.answer_events import Abstain, Cited, End, OfficeAnswer, Sources
from chat.protocol.event import Event
from chat.protocol.shapes import OfficeWords, Source
from faqs.answers.choice import ChosenAnswer
from faqs.answers.links import link_addresses
from faqs.answers.signature import sign
from knowledge.chunking.plain_text import make_plain

#: The number of the answer's own page among the sources.
FIRST = 1
Answering = Callable[[Context], AsyncGenerator[Event]]


async def show_office_answer(context: Context, office: ChosenAnswer, from_pages: Answering) -> AsyncGenerator[Event]:
    """Show the office's words, then what the other pages say; if they say nothing, that is no abstention."""
    keep_evident(context, office)
    source = _as_source(office)
    context.mark("first_token")
    yield Cited(source, office.passage_id, office.document_id)
    yield OfficeAnswer(_as_words(context, office))
    if not context.is_answerable:
        yield Sources((source,))
        yield context.end(Message.Status.COMPLETE, Message.Strategy.WRITTEN)
        return
    async with aclosing(from_pages(context)) as events:
        async for event in events:
            if isinstance(event, Sources):
                yield Sources((source, *event.sources))
            elif isinstance(event, End) and event.status == Message.Status.ABSTAINED:
                yield Sources((source,))
                yield replace(event, status=Message.Status.COMPLETE.value, strategy=Message.Strategy.WRITTEN.value)
            elif not isinstance(event, Abstain):
                yield event


def _as_source(office: ChosenAnswer) -> Source:
    words = make_plain(office.text)
    return Source(
        n=FIRST,
        title=office.title,
        url=office.url,
        heading="",
        page=None,
        quote=words if len(words) <= QUOTE_CHARACTERS else words[:QUOTE_CHARACTERS].rsplit(" ", 1)[0] + " …",
        links=references(link_addresses(office.text), office.url),
        language=office.language,
        checked_on=office.checked_on.isoformat(),
    )


def _as_words(context: Context, office: ChosenAnswer) -> OfficeWords:
    note = ""
    if office.language != context.ask.language:
        with translation.override(context.ask.language):
            written = {"de": _("This answer was written in German."), "en": _("This answer was written in English.")}
        note = written.get(office.language, "")
    return OfficeWords(
        n=FIRST,
        question=office.title,
        text=office.text,
        language=office.language,
        office=office.office,
        checked_on=office.checked_on.isoformat(),
        signature=sign(office.office, office.checked_on, office.language),
        note=note,
    )
