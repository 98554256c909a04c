"""The page that staff linked with an FAQ, as a link alone: no sentence on it is about the question."""

from collections.abc import AsyncGenerator, Collection
from dataclasses import replace

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.abstain import abstain
from chat.pipeline.question import Context
from chat.pipeline.retrieval.candidates import Candidate, as_source
from chat.protocol.answer_events import Cited, Delta, Sources
from chat.protocol.event import Event
from chat.protocol.shapes import Source
from knowledge.chunking.plain_text import escape_marks


def point_or_abstain(context: Context, reason: str) -> AsyncGenerator[Event]:
    """Answer with the link where staff named a page for the question, else abstain for `reason`."""
    return _point(context, context.pointed) if context.pointed else abstain(context, reason)


async def _point(context: Context, page: Candidate) -> AsyncGenerator[Event]:
    """Answer with the page's title and address; quote nothing of it."""
    source = as_pointed(page, n=context.first_source, question=context.ask.text)
    context.mark("first_token")
    yield Cited(source, page.passage_id, page.document_id)
    with translation.override(context.ask.language):
        text = _(
            "The university names this page for your question: “%(page)s” [%(n)d]. I found no sentence on it that I "
            "could quote as an answer, so please read it yourself."
        )
        yield Delta(text % {"page": escape_marks(page.full_title), "n": source.n})
    yield Sources((source,))
    yield context.end(Message.Status.COMPLETE, Message.Strategy.FIXED)


def add_pointer(context: Context, *, cited: Collection[int], n: int) -> list[Cited | Delta]:
    """Return the events that lead to the page below what other pages say, as source `n`; none if it is cited there.

    `cited` are ids of documents.
    """
    page = context.pointed
    if page is None or page.document_id in cited:
        return []
    source = as_pointed(page, n=n, question=context.ask.text)
    with translation.override(context.ask.language):
        text = _("The university also names this page for your question: “%(page)s” [%(n)d].")
        text %= {"page": escape_marks(page.full_title), "n": n}
    return [Cited(source, page.passage_id, page.document_id), Delta(f"\n\n{text}")]


def as_pointed(page: Candidate, *, n: int, question: str) -> Source:
    """Describe the whole page as a source of which nothing is quoted."""
    return replace(as_source(page, n=n, question=question), url=page.url, heading="", page=None, quote="")
