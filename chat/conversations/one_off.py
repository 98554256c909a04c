"""Saves a question whose client brings what was said before, as a conversation of its own."""

from collections.abc import Sequence
from dataclasses import replace
from uuid import uuid4

from chat.conversations.opening import ConversationState, StartedAnswer, begun_answer, new_question, save_question
from chat.errors import NotFound
from chat.models import APIClient, Assistant
from chat.pipeline.question import build_question
from chat.pipeline.understanding.clarify import kinds_asked_in
from core.terms import make_title


def open_one_off(
    client: APIClient, *, assistant: Assistant, text: str, language: str, history: Sequence[tuple[str, str]]
) -> StartedAnswer:
    """Save a question and the empty row of its answer. `history` is (role, text), oldest first, and is not saved.

    Raise NotFound if the assistant was deleted meanwhile.
    """
    asked = kinds_asked_in(text for role, text in history if role == "assistant")
    caller = client.visitor_id.hex
    ask = replace(build_question(assistant, text, language), history=history, asked_kinds=asked, caller=caller)
    question = new_question(text, conversation=uuid4(), client_id=uuid4(), ask=ask)
    is_new = ConversationState(
        knows_visitor=True,
        owner=None,
        audience=(),
        site=None,
        is_site_active=None,
        assistant=assistant.pk,
        versions=(),
        newest=0,
        earlier=None,
        is_being_answered=False,
        choices=None,
        asked_kinds=asked,
        history=(),
    )
    saved = save_question(question, seen=is_new, visitor=client.visitor_id, title=make_title(text), ask=ask)
    if saved is None:
        raise NotFound
    return begun_answer(question, saved, ask)
