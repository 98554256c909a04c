"""A question that is asked, answered and saved, without a socket."""

import uuid
from typing import Any

from asgiref.sync import async_to_sync

from chat.conversations.closing import close_answer
from chat.conversations.opening import open_question
from chat.conversations.visitors import new_visitor
from chat.models import Message
from chat.pipeline.run import collect


def ask_and_save(text: str, **more: Any) -> Message:
    """Return the answer's row; `more` is for `open_question`. There must be an assistant."""
    asked = {"visitor": new_visitor(), "conversation": uuid.uuid4(), "language": "en"} | more
    opened = open_question(client_id=uuid.uuid4(), text=text, **asked)
    reply = async_to_sync(collect)(opened.ask)
    assert reply.end
    close_answer(reply_id=opened.reply.pk, reply=reply, status=reply.end.status)
    return Message.objects.get(pk=opened.reply.pk)
