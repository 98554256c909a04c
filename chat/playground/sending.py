"""What the language model was told for an answer, or why it was not asked."""

from enum import StrEnum

from chat.events import End
from chat.models import Message
from chat.replies import Reply
from knowledge.inference import chat_model

#: Reasons to abstain that are known only once the model has written.
AFTER_THE_MODEL = frozenset({"model_declined", "ungrounded", "unsupported", "leaked"})


class NotAsked(StrEnum):
    """Why an answer was made without the language model; empty where the model was asked."""

    NO_MODEL = "no_model"
    NO_QUESTION = "no_question"
    ABSTAINED = "abstained"
    ASKED_BACK = "asked_back"
    TOO_LONG = "too_long"
    WAS_ASKED = ""


def why_not_asked(reply: Reply, end: End) -> NotAsked:
    if end.route != Message.Route.QUESTION:
        return NotAsked.NO_QUESTION
    if end.status == Message.Status.CLARIFYING:
        return NotAsked.ASKED_BACK
    if reply.reason and reply.reason not in AFTER_THE_MODEL:
        return NotAsked.ABSTAINED
    if not chat_model.is_configured():
        return NotAsked.NO_MODEL
    return NotAsked.TOO_LONG if end.notice == "window_too_small" else NotAsked.WAS_ASKED
