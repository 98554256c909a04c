"""Answers whose process died."""

import asyncio
import datetime
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest
from django.db import OperationalError
from django.utils import timezone

from chat.conversations.closing import close_answer
from chat.conversations.opening import StartedAnswer, open_question
from chat.models import Message
from chat.sites import session_tokens
from chat.streaming import event_log, holder
from core import redis
from tests.conftest import QUESTION
from tests.servers import Server, Tab, wait_until


@dataclass
class Abandoned:
    token: str
    opened: StartedAnswer

    @property
    def saved(self) -> Message:
        return Message.objects.get(pk=self.opened.reply.pk)


@pytest.fixture
def abandoned(server: Server) -> Abandoned:
    """Create a question whose answer nobody writes any more."""
    token = server.session()
    question = {"conversation": uuid.uuid4(), "client_id": uuid.uuid4(), "text": "How much?", "language": "en"}
    opened = open_question(visitor=session_tokens.read(token).visitor, **question)
    Message.objects.update(created_at=timezone.now() - datetime.timedelta(seconds=30))
    return Abandoned(token, opened)


def in_valkey(work: Callable[[], Awaitable[object]]) -> None:
    async def run() -> None:
        await work()
        await redis.connections().aclose()

    asyncio.run(run())


def snapshot(server: Server, token: str, conversation: uuid.UUID) -> dict:
    with Tab(server, token) as tab:
        tab.resume(conversation=str(conversation))
        return tab.until("conversation")[-1]


def test_what_was_said_is_saved_as_a_failed_answer_on_the_next_visit(server: Server, abandoned: Abandoned) -> None:
    async def say() -> None:
        for text in ("The fee ", "is 3"):
            event = {"type": "message_delta", "message": abandoned.opened.reply.pk, "text": text}
            await event_log.append_all([event_log.Entry(uuid.uuid4(), abandoned.opened.conversation, event)])

    in_valkey(say)
    answer = snapshot(server, abandoned.token, abandoned.opened.conversation)["messages"][-1]
    assert (answer["status"], answer["text"], answer["reason"]) == ("failed", "The fee is 3", "interrupted")


@pytest.mark.usefixtures("pages")
def test_the_next_question_is_answered(server: Server, abandoned: Abandoned) -> None:
    with Tab(server, abandoned.token) as tab:
        again = tab.answer("How much is the semester contribution?", conversation=str(abandoned.opened.conversation))
    assert again.end["status"] == "complete"
    assert abandoned.saved.status == Message.Status.FAILED


def test_an_answer_whose_process_lives_is_left_alone(server: Server, abandoned: Abandoned) -> None:
    in_valkey(lambda: event_log.renew_lease(abandoned.opened.reply.pk))
    snapshot(server, abandoned.token, abandoned.opened.conversation)
    assert abandoned.saved.status == Message.Status.GENERATING


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_an_answer_whose_process_was_killed_on_this_machine_waits_for_no_lease(
    server: Server, abandoned: Abandoned, monkeypatch: pytest.MonkeyPatch
) -> None:
    Message.objects.update(created_at=timezone.now())
    with subprocess.Popen(["sleep", "60"]) as other:
        name = holder.name_process(other.pid)
        monkeypatch.setattr("chat.streaming.event_log.name_process", lambda _pid: name)
        in_valkey(lambda: event_log.renew_lease(abandoned.opened.reply.pk))
        snapshot(server, abandoned.token, abandoned.opened.conversation)
        assert abandoned.saved.status == Message.Status.GENERATING
        other.kill()
    answer = snapshot(server, abandoned.token, abandoned.opened.conversation)["messages"][-1]
    assert (answer["status"], answer["reason"]) == ("failed", "interrupted")


def test_nobody_else_ends_a_visitors_answer(server: Server, abandoned: Abandoned) -> None:
    assert snapshot(server, server.session(), abandoned.opened.conversation)["messages"] == []
    assert abandoned.saved.status == Message.Status.GENERATING


@pytest.mark.usefixtures("pages")
def test_an_answer_that_waits_for_the_database_is_left_alone(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.streaming.event_log.LEASE_SECONDS", 1)
    monkeypatch.setattr("chat.streaming.cancellation.RENEW_EVERY", 1)
    monkeypatch.setattr("chat.conversations.closing.JUST_BEGUN", datetime.timedelta())
    monkeypatch.setattr("chat.streaming.runner.SAVE_AGAIN_AFTER", [0.1] * 100)
    tried, is_back = [], threading.Event()

    def save(**values: Any) -> None:
        tried.append(time.monotonic())
        if not is_back.is_set():
            raise OperationalError
        close_answer(**values)

    monkeypatch.setattr("chat.streaming.runner.close_answer", save)
    with server.connect() as tab:
        tab.ask(QUESTION)
        wait_until(lambda: tried and time.monotonic() - tried[0] > 2)  # longer than the sign of life lasts
        seen = snapshot(server, tab.token, uuid.UUID(tab.conversation))
        is_back.set()
        assert seen["messages"][-1]["status"] == "generating"
        assert tab.until("message_end")[-1]["status"] == "complete"
    assert Message.objects.get(role="assistant").status == "complete"
