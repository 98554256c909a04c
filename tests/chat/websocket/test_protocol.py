"""What goes over the line is what the protocol's schema says; and how lines end."""

import json
import secrets
import socket
import threading
import time
import uuid
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from pytest_django import Settings
from websockets.exceptions import ConnectionClosed

from chat.errors import Refused
from chat.models import Conversation, Message
from chat.pipeline.guardrails.input import CONTROLS, clean_question
from chat.protocol.frames import CloseCode
from chat.websocket import consumer as websocket_consumer
from core.telemetry.metrics import SOCKETS
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.factories import AssistantFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Server, Tab, server_process, wait_until

SCHEMA = json.loads((Path(__file__).parents[3] / "chat" / "widget" / "protocol.schema.json").read_text("utf-8"))
NAUGHTY = Path(__file__).parents[4] / "shared" / "data" / "security" / "naughty-strings.json"
TEXT = (
    "The semester contribution is 318.40 euros each semester [1]. "
    "It covers the semester ticket and student services [1]."
)


def check(name: str, value: Any) -> None:
    jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}"}).validate(value)


@pytest.mark.usefixtures("pages")
def test_all_that_is_sent_has_the_shape_that_the_schema_names(server: Server, llm: FakeLLM) -> None:
    AssistantFactory(contact_name="Office", suggestions="One?")
    client = Client.begin(server)
    check("SessionReply", client.session)
    check("AssistantInfo", client.get("/api/v1/assistant").json)
    with Tab(server, client.token) as tab:
        tab.resume()
        good = tab.answer(QUESTION)
        tab.answer("Wie backe ich einen Apfelkuchen mit Zimt?")
        llm.says("It is ", "318.40 euros [1]", end="cut")
        tab.answer(QUESTION)
        tab.send({"type": "feedback", "message": good.id, "value": -1, "reasons": ["wrong"], "comment": "x"})
        tab.until("feedback")
        tab.send({"type": "rating", "conversation": tab.conversation, "stars": 4})
        tab.until("rating")
        tab.send({"type": "contact", "message": good.id, "kind": "email"})
        tab.refused({"type": "stop", "message": good.id})
        tab.refused({"type": "ask", "text": "", "client_id": "x", "conversation": tab.conversation})
        tab.resume()
        snapshot = tab.until("conversation")[-1]
        check("ConversationSummary", client.get("/api/v1/conversations").json[0])
        client.delete(f"/api/v1/conversations/{tab.conversation}")
        tab.until("conversation_deleted")
    for event in tab.seen:
        check("ServerEvent", event)
        if event["type"] not in {"conversation", "error", "conversation_deleted"}:
            assert event["seq"]
    assert {event["type"] for event in tab.seen} >= {
        *("message_start", "message_delta", "citation", "sources", "abstain", "message_end", "error"),
        *("feedback", "rating", "conversation", "conversation_deleted"),
    }
    assert (snapshot["stars"], snapshot["title"]) == (4, QUESTION)
    check("Problem", client.get("/api/v1/nonsense").json)


# --- frames ---


@pytest.mark.usefixtures("pages")
def test_unknown_properties_of_a_frame_are_passed_over(server: Server) -> None:
    with server.connect() as tab:
        assert tab.answer(QUESTION, colour="red", seq=5, nested={"a": [1]}).end["status"] == "complete"


@pytest.mark.usefixtures("pages")
def test_a_frame_that_is_too_long_is_refused_and_the_socket_stays_usable(server: Server) -> None:
    with server.connect() as tab:
        tab.resume()
        tab.next()
        tab.ask("x" * 5_000_000)
        assert tab.refused()["code"] == "frame_too_large"
        assert tab.answer(QUESTION).end["status"] == "complete"
    assert Message.objects.count() == 2


def test_the_visitor_chooses_the_language_on_the_way(server: Server) -> None:
    with server.connect() as tab:
        tab.send({"type": "language", "language": "de"})
        assert "Frage" in tab.refused({"type": "ask", "text": ""})["detail"]
        for language in ("fr", None, 5, ["de"], ""):
            assert tab.refused({"type": "language", "language": language})["code"] == "bad_frame"
        assert "Frage" in tab.refused({"type": "ask", "text": ""})["detail"]
        tab.send({"type": "language", "language": "en"})
        assert "question" in tab.refused({"type": "ask", "text": ""})["detail"]


@pytest.mark.usefixtures("pages")
def test_a_rating_is_one_to_five_stars_and_can_be_changed_and_is_told_to_all_tabs(server: Server) -> None:
    with server.connect() as tab, Tab(server, tab.token) as second:
        second.resume()
        second.next()
        tab.answer(QUESTION)
        second.until("message_end")
        for stars in (2, 5):
            tab.send({"type": "rating", "conversation": tab.conversation, "stars": stars})
            for each in (tab, second):
                event = each.next()
                assert (event["type"], event["stars"], event["conversation"]) == ("rating", stars, tab.conversation)
        for stars in (999_999, -5, 0, 6, True, "5", 4.0, 4.5, None, [5], 10**40):
            assert (
                tab.refused({"type": "rating", "conversation": tab.conversation, "stars": stars})["code"]
                == "bad_rating"
            )
        missing = {"type": "rating", "conversation": str(uuid.uuid4()), "stars": 5}
        assert tab.refused(missing)["code"] == "not_found"
    assert Conversation.objects.get().stars == 5


# --- lines ---


def test_a_silent_line_is_pinged(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.websocket.consumer.PING_SECONDS", 0.1)
    with server.connect() as tab:
        assert [tab.next() for _ in range(3)] == [{"type": "ping"}] * 3
        check("ServerEvent", tab.seen[0])


def closing_code(tab: Tab) -> int:
    """Return the code that the server closes with; what it sends before that is read."""
    with pytest.raises(ConnectionClosed) as closed:
        tab.until("never")
    assert closed.value.rcvd is not None
    return closed.value.rcvd.code


def test_a_socket_that_never_sends_a_token_is_closed_and_its_place_is_free(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.websocket.consumer.TOKEN_SECONDS", 0.5)
    before = SOCKETS._value.get()
    with Tab(server, "") as tab:
        wait_until(lambda: SOCKETS._value.get() == before + 1)
        assert closing_code(tab) == CloseCode.NO_TOKEN
        wait_until(lambda: SOCKETS._value.get() == before)


@pytest.mark.parametrize(
    "frame",
    [
        *("nonsense", "{}", '{"type": "ask"}', '{"type": "resume", "token": "forged"}', b"\x00\xff", "[" * 60_000),
        '{"type": "resume", "token": null}',
    ],
)
def test_no_other_frame_keeps_a_socket_open_without_a_token(
    server: Server, monkeypatch: pytest.MonkeyPatch, frame: str | bytes
) -> None:
    monkeypatch.setattr("chat.websocket.consumer.TOKEN_SECONDS", 0.6)
    monkeypatch.setattr(
        "chat.websocket.backpressure.BURST", 3
    )  # those that wait for their turn do not keep it open either
    before = SOCKETS._value.get()
    with Tab(server, "") as tab:

        def flood() -> None:
            with suppress(ConnectionClosed):
                while True:
                    tab.socket.send(frame)
                    time.sleep(0.02)

        sender = threading.Thread(target=flood)
        sender.start()
        assert closing_code(tab) == CloseCode.NO_TOKEN
        sender.join()
        wait_until(lambda: SOCKETS._value.get() == before)


@pytest.mark.usefixtures("pages")
def test_a_socket_that_has_sent_its_token_stays_open(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.websocket.consumer.TOKEN_SECONDS", 1.0)
    with server.connect() as tab:
        tab.resume()
        tab.until("conversation")
        assert tab.quiet(1.5)
        assert tab.answer(QUESTION).end["status"] == "complete"


def test_the_schema_names_the_codes_that_the_server_closes_with() -> None:
    assert set(SCHEMA["$defs"]["CloseCode"]["enum"]) == set(CloseCode)
    assert f"for {websocket_consumer.TOKEN_SECONDS:.0f} s" in SCHEMA["$defs"]["CloseCode"]["description"]


@pytest.mark.slow
@pytest.mark.usefixtures("pages")
def test_who_reads_too_slowly_is_cut_off_and_finds_all_of_the_answer_later(
    server: Server, llm: FakeLLM, monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    monkeypatch.setattr("chat.websocket.backpressure.SLOW_SECONDS", 0.5)
    monkeypatch.setattr("chat.websocket.backpressure.MOST_WAITING", 16)
    monkeypatch.setattr("chat.websocket.consumer.CLOSE_SECONDS", 0.5)
    from chat.websocket.consumer import ChatConsumer

    left: list[float] = []
    leave = ChatConsumer.leave

    async def leaving(consumer: ChatConsumer) -> None:
        if consumer.session is not None:
            left.append(time.monotonic())
        await leave(consumer)

    monkeypatch.setattr(ChatConsumer, "leave", leaving)
    with server.connect() as tab, Tab(server, tab.token) as slow:
        answer = tab.answer(QUESTION)
        slow.socket.socket.settimeout(None)
        slow.socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)  # or it may grow to hold them all
        # Each of these brings the whole conversation, and nobody reads it: more than any buffer between holds.
        # At random, because what repeats itself is sent compressed.
        Message.objects.filter(pk=answer.id).update(text=secrets.token_hex(250_000))
        for _ in range(100):
            slow.resume(conversation=tab.conversation)
        wait_until(lambda: left, seconds=60)
        again = tab.answer(QUESTION)
        assert again.end["status"] == "complete"
        with pytest.raises(ConnectionClosed):
            slow.until("never")
        slow.close()
    with Tab(server, tab.token) as back:
        back.resume(conversation=tab.conversation)
        assert len(back.next()["messages"]) == 4


@pytest.mark.slow
@pytest.mark.usefixtures("transactional_db", "pages")
def test_a_server_that_stops_says_so_and_what_was_said_is_saved(llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    with server_process(LLM_BASE_URL=llm.base_url, LLM_MODEL="fake") as server:
        tab = server.connect()
        tab.ask(QUESTION)
        tab.until("message_delta")
        token, conversation = tab.token, tab.conversation
    with pytest.raises(ConnectionClosed) as closed:
        tab.until("never")
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
    with server_process() as other, Tab(other, token) as back:

        def messages() -> list[dict[str, Any]]:
            back.resume(conversation=conversation)
            found: list[dict[str, Any]] = back.until("conversation")[-1]["messages"]
            return found

        # The process that wrote counts as dead once it has not said for some seconds that it lives.
        wait_until(lambda: messages()[1]["status"] != "generating", 20)
        question, reply = messages()
    assert question["text"] == QUESTION
    assert reply["status"] == "failed"
    assert reply["text"]
    assert TEXT.startswith(reply["text"])


# --- what people type ---


@pytest.mark.timeout(300)
@pytest.mark.slow
@pytest.mark.skipif(not NAUGHTY.exists(), reason="the naughty strings are not here")
def test_naughty_strings_come_back_as_they_were_sent(server: Server, settings: Settings) -> None:
    settings.QUESTIONS_PER_MINUTE = settings.QUESTIONS_PER_MINUTE_AND_ADDRESS = 100_000
    settings.QUESTIONS_PER_MINUTE_AND_SITE = 100_000
    texts = dict.fromkeys(json.loads(NAUGHTY.read_text("utf-8")))
    expected = {str(uuid.uuid4()): (text, cleaned(text)) for text in texts}
    questions = {id_: each for id_, each in expected.items() if each[1] is not None}
    with server.connect() as tab:
        for batch in batched(expected, 10):
            for conversation in batch:
                tab.ask(expected[conversation][0], conversation=conversation)
            awaited = set(batch)
            while awaited:
                event = tab.until("message_end", "error")[-1]
                assert event["type"] == "message_end" or event["conversation"] not in questions
                awaited.discard(event["conversation"])
    told = {event["conversation"]: event["question"]["text"] for event in tab.seen if event["type"] == "message_start"}
    saved = dict(Message.objects.filter(role="user").values_list("conversation_id", "text"))
    assert len(questions) > 300
    for conversation, (text, clean) in questions.items():
        assert told[conversation] == saved[uuid.UUID(conversation)] == clean
        # Nothing but controls and outer space may be lost.
        assert "".join(clean.split()) == "".join(CONTROLS.sub("", text).split())


def batched(items: Iterable[str], size: int) -> Iterator[list[str]]:
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def cleaned(text: str) -> str | None:
    try:
        return clean_question(text, limit=2000)
    except Refused:
        return None
