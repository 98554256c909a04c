"""Refers somebody who would rather talk to a person: to the assistant's contact, and to that of the matter."""

import logging
from collections.abc import AsyncGenerator
from functools import partial

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.canned import person_reply
from chat.pipeline.answering.extract import QUOTATION_MARKS
from chat.pipeline.guardrails.addresses import emails, phones
from chat.pipeline.question import Context
from chat.pipeline.reading import read_pages
from chat.pipeline.retrieval.candidates import Candidate, as_source, load_candidates
from chat.pipeline.retrieval.profiles import retrieve_with
from chat.pipeline.sentences.quotable import Quotable, quotable
from chat.pipeline.sentences.ranking import compare
from chat.pipeline.sentences.unit_vectors import embed_with_question
from chat.pipeline.tuning import LEAST_MATTER_CLOSENESS, READ_PASSAGES
from chat.protocol.answer_events import Cited, Delta, Sources
from chat.protocol.event import Event
from core.db.prepared import in_database
from core.inference.embeddings import EmbeddingUnavailable
from core.inference.reranker import RerankerUnavailable
from knowledge.chunking.plain_text import escape_marks
from knowledge.retrieval.scope import build_scope

logger = logging.getLogger(__name__)

#: Words that are looked up with the message, since pages describe offices with them.
CONTACT = {
    "en": "contact of the office, e-mail, opening hours",
    "de": "Kontakt der Stelle, E-Mail, Sprechzeiten",
}


async def refer(context: Context) -> AsyncGenerator[Event]:
    """Name the assistant's contact, and quote the one that a page names for the matter, if there is such a page."""
    ask = context.ask
    with translation.override(ask.language):
        text, leads = person_reply(ask.contact), _("For what you write about, the pages name this contact:")
    context.mark("first_token")
    yield Delta(text)
    if found := await in_database(read_pages)(ask, partial(find_contact, context)):
        candidate, quote = found
        source = as_source(candidate, n=1, quoted=quote.shown, question=ask.text)
        opening, closing = QUOTATION_MARKS.get(ask.language, QUOTATION_MARKS["en"])
        yield Cited(source, candidate.passage_id, candidate.document_id)
        yield Delta(f"\n\n{leads} {opening}{escape_marks(quote.shown)}{closing} [{source.n}]")
        yield Sources((source,))
    yield context.end(Message.Status.COMPLETE, Message.Strategy.FIXED)


def find_contact(context: Context) -> tuple[Candidate, Quotable] | None:
    """Return the sentence or row with an address or a telephone that is closest to what the message is about.

    None if none is close to it, if that is the assistant's own contact, or if it cannot be searched. Raises
    UnknownCollection.
    """
    ask = context.ask
    scope = context.scope or build_scope(ask.collections, audience=ask.audience)
    asked = f"{ask.text} {CONTACT.get(ask.language, CONTACT['en'])}"
    try:
        found = retrieve_with(ask.profile, asked, scope=scope, k=READ_PASSAGES)
        candidates = load_candidates(found.hits, language=ask.language)
        units = [(each, quote) for each in candidates for quote in quotable(each.text) if _has_contact(quote.shown)]
        if not units:
            return None
        closeness = compare(ask.text, units, embed_with_question).centred
    except (EmbeddingUnavailable, RerankerUnavailable):
        logger.exception("no contact looked up for a matter")
        return None
    closest = int(closeness.argmax())
    if closeness[closest] < LEAST_MATTER_CLOSENESS:
        return None
    is_own = ask.contact is not None and ask.contact.email and ask.contact.email in units[closest][1].shown
    return None if is_own else units[closest]


def _has_contact(text: str) -> bool:
    return any(emails(text)) or any(phones(text))
