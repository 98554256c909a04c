"""Saves a question whose client brings what was said before, as a conversation of its own."""

import datetime
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import uuid4

from django.utils import timezone

from chat.conversations.opening import ConversationState, StartedAnswer, begun_answer, new_question, save_question
from chat.errors import NotFound
from chat.models import APIClient, Assistant, Message
from chat.pipeline.question import Question, build_question
from chat.pipeline.understanding.clarify import audience_of, chosen, looked_up
from core.terms import make_title

#: How long a question back is found again by its texts.
ASKED_BACK_WITHIN = datetime.timedelta(days=1)
#: Stands in every reply with choices, as `chat.streaming.plain_text` writes it.
CHOICES = "\n\n- "

History = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class Choices:
    """What was chosen when the assistant asked back; `text` is what is looked up now."""

    text: str
    audience: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


def open_one_off(
    client: APIClient, *, assistant: Assistant, text: str, language: str, history: History
) -> StartedAnswer:
    """Save a question and the empty row of its answer. `history` is (role, text), oldest first, and is not saved.

    Raise NotFound if the assistant was deleted meanwhile.
    """
    ask = _build(client, assistant, read_choices(client, text=text, history=history), language, history)
    question = new_question(text, conversation=uuid4(), client_id=uuid4(), ask=ask)
    is_new = ConversationState(
        knows_visitor=True,
        owner=None,
        audience=(),
        site=None,
        is_site_active=None,
        assistant=assistant.pk,
        versions=(),
        experiment=None,  # its client brings what was said before, so a conversation is no more than a question
        arm="",
        newest=0,
        earlier=None,
        latest_question=None,
        is_being_answered=False,
        choices=None,
        asked_kinds=(),
        history=(),
    )
    saved = save_question(question, seen=is_new, visitor=client.visitor_id, title=make_title(text), ask=ask)
    if saved is None:
        raise NotFound
    return begun_answer(question, saved, ask)


def _build(client: APIClient, assistant: Assistant, choices: Choices, language: str, history: History) -> Question:
    return replace(
        build_question(assistant, choices.text, language),
        history=history,
        audience=choices.audience,
        asked_kinds=choices.kinds,
        caller=client.visitor_id.hex,
        may_lag=True,
    )


def read_choices(client: APIClient, *, text: str, history: History) -> Choices:
    """Find out which messages chose what the reply before them had offered, as the widget's conversations know it."""
    read = Choices(text)
    said = [*history, ("user", text)]
    turns = zip(said, said[1:], said[2:], strict=False)
    for at, ((_asker, question), (speaker, reply), (chooser, answer)) in enumerate(turns, start=3):
        offered = CHOICES in reply and (speaker, chooser) == ("assistant", "user")
        choices = _asked_back(client, question, reply) if offered else None
        if choices is None:
            continue
        read = replace(read, kinds=(*read.kinds, choices["kind"]))
        if choice := chosen(answer, choices):
            is_last = at == len(said)
            # What an earlier message chose still holds, but only the last one is looked up now.
            again = looked_up(choices, choice) if is_last else text
            read = replace(read, text=again, audience=(*read.audience, *audience_of(choice)))
    return read


def _asked_back(client: APIClient, question: str, reply: str) -> dict[str, Any] | None:
    """Return what a reply offered, from the row that was saved of it; a client's own choices do not count."""
    rows = Message.objects.filter(
        created_at__gt=timezone.now() - ASKED_BACK_WITHIN,
        status=Message.Status.CLARIFYING,
        conversation__visitor_id=client.visitor_id,
        question__text=question,
    )
    found = rows.order_by("-pk").values_list("text", "choices").first()
    return found[1] if found and reply.startswith(found[0]) else None
