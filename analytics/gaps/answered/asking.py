"""A question asked once more as a student would ask it, without a conversation and without a language model."""

from dataclasses import dataclass, replace

from asgiref.sync import async_to_sync

from chat.models import Assistant, Message
from chat.pipeline.question import Context, build_question
from chat.pipeline.reply import Reply, fold
from chat.pipeline.retrieval.search import find_passages
from chat.pipeline.run import respond
from chat.pipeline.sentences.sources import choose_sources
from chat.pipeline.understanding.route import understand
from knowledge.retrieval.scope import build_scope
from knowledge.retrieval.types import Scope


@dataclass(frozen=True, slots=True, eq=False)
class AskedAgain:
    """The passages found for a question, and the reply that a student would see."""

    context: Context
    scope: Scope
    reply: Reply


def ask_again(assistant: Assistant | None, text: str, language: str) -> AskedAgain | None:
    """Ask a question of the assistant as it is now; return None if it is not answered.

    The pages are quoted: what a language model writes differs from time to time, and takes long.
    Raise EmbeddingUnavailable, RerankerUnavailable, UnknownCollection: with less than all, it would be judged wrongly.
    """
    ask = replace(build_question(assistant, text, language), uses_model=False)
    scope = build_scope(ask.collections, audience=ask.audience)
    context = async_to_sync(understand)(ask, scope)
    if not context.is_question:
        return None
    find_passages(context, degrades=False)
    choose_sources(context)
    if not (context.office or context.is_answerable):
        return None
    reply = async_to_sync(fold)(respond(context))
    is_answered = reply.end is not None and reply.end.status == Message.Status.COMPLETE
    return AskedAgain(context, scope, reply) if is_answered and (reply.cited or reply.office) else None
