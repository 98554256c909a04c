"""Curated questions close to the one asked: beside an abstention, and as a next step below an answer."""

from chat.pipeline.question import Context
from chat.pipeline.retrieval.trace import boosting_faq
from chat.pipeline.tuning import LEAST_RELATED_SIMILARITY, RELATED, SAME_QUESTION_SIMILARITY
from core.terms import distinct_words
from faqs.models import main_language
from faqs.retriever import Match, match
from knowledge.retrieval.scope import build_scope

#: FAQs that are looked at for them: one may come with several passages, or be in another language.
LOOKED_AT = 12


def related_questions(context: Context) -> tuple[str, ...]:
    """Return curated questions in the language of the answer; none where the question was not compared by meaning."""
    return _questions(context, _near(context))


def next_questions(context: Context) -> tuple[str, ...]:
    """Return curated questions that lead on from an answer: not what was asked already, in other words either."""
    answered = {context.office.faq_id} if context.office else set()
    if context.retrieval and (steering := boosting_faq(context.retrieval)):
        answered.add(steering.faq_id)
    asked = [distinct_words(text) for role, text in context.ask.history if role == "user"]
    near = (
        found
        for found in _near(context)
        if found.faq_id not in answered
        and found.similarity < SAME_QUESTION_SIMILARITY
        and distinct_words(found.question) not in asked
    )
    return _questions(context, list(near))


def _near(context: Context) -> list[Match]:
    """Return the FAQs whose pages the student may read and that are worded alike.

    What a collection's fit learned tells whether an FAQ is meant, which is asked of answers, not of suggestions.
    """
    if context.retrieval is None or not len(context.retrieval.query.vector):
        return []
    scope = context.scope or build_scope(context.ask.collections, audience=context.ask.audience)
    near = match(context.retrieval.query, scope=scope, faqs=LOOKED_AT)
    return [found for found in near if found.similarity >= LEAST_RELATED_SIMILARITY]


def _questions(context: Context, near: list[Match]) -> tuple[str, ...]:
    spoken = (found.question for found in near if main_language(found.language) == context.ask.language)
    return tuple(dict.fromkeys(spoken))[:RELATED]
