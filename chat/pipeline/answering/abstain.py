"""Abstains: says what is missing, in the student's words, and what is known instead."""

from collections.abc import AsyncGenerator
from dataclasses import replace
from functools import partial

from django.utils import translation
from django.utils.translation import gettext as _

from chat.models import Message
from chat.pipeline.answering.editions import missing_note
from chat.pipeline.question import Context
from chat.pipeline.reading import read_pages
from chat.pipeline.retrieval.related import related_questions
from chat.protocol.answer_events import Abstain
from chat.protocol.event import Event
from core.db.prepared import in_database
from core.terms import GENERAL_WORDS, distinct_words, topic_words
from knowledge.retrieval.lexical import LexicalRetriever
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Query, Scope
from knowledge.words.readings import Step

WORDS = LexicalRetriever()
#: Words that are looked up, letters of those that may be figures or endings, and words that are named.
MOST_LOOKED_UP, SHORT, MOST_WORDS = 16, 3, 3
QUESTION_CHARACTERS, WORD_CHARACTERS = 160, 40


async def abstain(context: Context, reason: str) -> AsyncGenerator[Event]:
    """`reason` is nothing_found, no_evidence or model_declined."""
    related, missing = await in_database(read_pages)(context.ask, partial(_known_instead, context))
    with translation.override(context.ask.language):
        text = _text(context, reason, missing)
    if reason != "nothing_found" and (note := missing_note(context.retrieval, context.ask.language)):
        text = f"{note} {text}"
    yield Abstain(reason, text, context.ask.contact, related)
    yield context.end(Message.Status.ABSTAINED, Message.Strategy.NONE)


def _known_instead(context: Context) -> tuple[tuple[str, ...], list[str]]:
    """Curated questions that are close, and the question's words that stand on no page."""
    if (retrieval := context.retrieval) is None:
        return (), []
    scope = context.scope or build_scope(context.ask.collections, audience=context.ask.audience)
    return related_questions(context), missing_words(context.ask.text, retrieval.query, scope)


def missing_words(question: str, query: Query, scope: Scope) -> list[str]:
    """Return the words of a question that stand on no page in scope, as the student wrote them.

    A word is on a page too if what it was read as is: its right spelling, a synonym, the parts of a compound.
    """
    words = [word for word in dict.fromkeys(topic_words(question)) if says_something(word)]
    words = words[:MOST_LOOKED_UP]
    return [word for word in words if not _stands_on_page(word, query, scope)][:MOST_WORDS]


def _stands_on_page(word: str, query: Query, scope: Scope) -> bool:
    own = distinct_words(word)
    readings = [reading for reading in query.readings if own & distinct_words(reading.word)]
    spelled = [form for reading in readings if reading.step == Step.SPELLING for form in reading.read_as]
    asked = replace(query, text=" ".join((word, *spelled)), readings=readings)
    return bool(WORDS.retrieve(asked, k=1, scope=scope))


def says_something(word: str) -> bool:
    """Return whether a word may be named: "VPD" and "gym", but neither "2" nor "st"."""
    is_word = len(word) > SHORT or (word.isalpha() and (len(word) == SHORT or word.isupper()))
    return is_word and word.lower().replace("’", "'") not in GENERAL_WORDS


def shortened(word: str) -> str:
    return word if len(word) <= WORD_CHARACTERS else f"{word[:WORD_CHARACTERS]}…"


def _text(context: Context, reason: str, missing: list[str]) -> str:
    if reason == "nothing_found":
        return _("There is nothing to look this up in yet, so I cannot answer it.")
    own = context.ask.abstention or _(
        "I could not find an answer to this in the pages I know, so I would rather not guess."
    )
    if missing:
        words = ", ".join(_("“%(word)s”") % {"word": shortened(word)} for word in missing)
        return f"{own} " + _("They say nothing about %(words)s.") % {"words": words}
    question = context.turn.question if context.turn.by_model else context.ask.text
    if len(question) > QUESTION_CHARACTERS:
        question = question[:QUESTION_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return f"{own} " + _("They touch on it, but do not say: “%(question)s”") % {"question": question}
