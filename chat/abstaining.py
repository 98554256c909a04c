"""How the assistant says that it does not know: what is missing, in the student's words, and what it does know."""

from collections.abc import AsyncGenerator

from django.utils import translation
from django.utils.translation import gettext as _

from chat.context import Context
from chat.events import Abstain, Event
from chat.models import Message
from chat.rewriting import topic_words
from chat.threads import in_database
from chat.wording import terms
from faqs.matching import match
from knowledge.retrieval.scoping import scope_of

#: Curated questions that are offered, and how close they must be.
RELATED, LEAST_SIMILARITY = 3, 0.35
#: FAQs that are looked at for them: one may come with several passages.
LOOKED_AT = 6
MOST_WORDS = 3
QUESTION_CHARACTERS = 160


async def abstain(context: Context, reason: str) -> AsyncGenerator[Event]:
    """`reason` is nothing_found, no_evidence, model_declined, ungrounded, unsupported or leaked."""
    related = await in_database(related_questions)(context)
    with translation.override(context.ask.language):
        text = _text(context, reason)
    yield Abstain(reason, text, context.ask.contact, related)
    yield context.end(Message.Status.ABSTAINED, Message.Strategy.NONE)


def missing_words(context: Context) -> list[str]:
    """The question's words that no passage holds, as the student wrote them."""
    held: set[str] = set().union(*(terms(f"{candidate.label} {candidate.text}") for candidate in context.candidates))
    words = dict.fromkeys(topic_words(context.ask.text))
    return [word for word in words if (own := terms(word)) and not own & held]


def related_questions(context: Context) -> tuple[str, ...]:
    """Curated questions close to the one asked; none where it was not compared by meaning."""
    retrieval = context.retrieval
    if retrieval is None or not len(retrieval.query.vector):
        return ()
    scope = scope_of(context.ask.collections, audience=context.ask.audience)
    near = match(retrieval.query, scope=scope, faqs=LOOKED_AT)
    questions = dict.fromkeys(found.question for found in near if found.similarity >= LEAST_SIMILARITY)
    return tuple(questions)[:RELATED]


def _text(context: Context, reason: str) -> str:
    if reason == "nothing_found":
        return _("There is nothing to look this up in yet, so I cannot answer it.")
    if reason in {"ungrounded", "unsupported", "leaked"}:
        return _("I had begun an answer, but could not confirm it in the pages I know, so I took it back.")
    own = context.ask.abstention or _(
        "I could not find an answer to this in the pages I know, so I would rather not guess."
    )
    if missing := missing_words(context):
        words = ", ".join(_("“%(word)s”") % {"word": word} for word in missing[:MOST_WORDS])
        return f"{own} " + _("They say nothing about %(words)s.") % {"words": words}
    question = context.turn.question if context.turn.by_model else context.ask.text
    if len(question) > QUESTION_CHARACTERS:
        question = question[:QUESTION_CHARACTERS].rsplit(" ", 1)[0] + " …"
    return f"{own} " + _("They touch on it, but do not say: “%(question)s”") % {"question": question}
