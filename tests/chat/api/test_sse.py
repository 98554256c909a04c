"""Answers over server-sent events: the same events as over the websocket."""

import uuid

import pytest

from chat.models import Message
from chat.streaming import tabs
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Server, Tab, wait_until

pytestmark = [pytest.mark.usefixtures("pages"), pytest.mark.slow]

TEXT = (
    "The semester contribution is 318.40 euros each semester [1]. "
    "It covers the semester ticket and student services [1]."
)


@pytest.fixture(autouse=True)
def _says_the_text(llm: FakeLLM) -> None:
    llm.says_words(TEXT)


def test_both_doors_tell_the_same_events(server: Server) -> None:
    client = Client.begin(server)
    with Tab(server, client.token) as tab:
        tab.resume()
        tab.until("conversation")
        asked = client.ask(QUESTION, conversation=tab.conversation)
        assert tab.until("message_end") == asked.events
        answer = tab.answer(QUESTION, conversation=tab.conversation)
    assert asked.text == TEXT
    assert asked.end["status"] == "complete"
    assert [event["seq"] for event in asked.events] == list(range(1, len(asked.events) + 1))
    with client.stream_events(tab.conversation, query=f"?after={asked.end['seq']}") as stream:
        assert stream.until("message_end") == answer.events
    assert Message.objects.filter(text=TEXT).count() == 2


def test_a_stream_that_comes_back_gets_exactly_what_it_missed(server: Server) -> None:
    client = Client.begin(server)
    asked = client.ask(QUESTION)
    for after in (0, 1, 4, len(asked.events) - 1):
        with client.stream_events(asked.conversation, query=f"?after={after}") as stream:
            assert stream.until("message_end") == asked.events[after:]
            assert stream.ids == [str(event["seq"]) for event in asked.events[after:]]
        header = {"Last-Event-ID": str(after)}
        with client.stream_events(asked.conversation, headers=header) as stream:
            assert stream.until("message_end") == asked.events[after:]


@pytest.mark.parametrize("query", ["", "?after=10000"])
def test_a_stream_that_knows_nothing_begins_with_the_conversation(server: Server, query: str) -> None:
    client = Client.begin(server)
    asked = client.ask(QUESTION)
    with client.stream_events(asked.conversation, query=query) as stream:
        snapshot = stream.next()
    assert snapshot is not None
    assert (snapshot["type"], snapshot["last_seq"]) == ("conversation", asked.end["seq"])
    assert snapshot == client.get(f"/api/v1/conversations/{asked.conversation}").json
    assert snapshot["messages"][-1]["text"] == TEXT


@pytest.mark.parametrize("after", ["-1", "x", "1.5", "9" * 40])
def test_a_number_that_is_none_is_refused(server: Server, after: str) -> None:
    client = Client.begin(server)
    asked = client.ask(QUESTION)
    assert client.get(f"/api/v1/conversations/{asked.conversation}/events?after={after}").status == 422


def test_an_answer_is_completed_when_its_stream_is_dropped_and_can_be_picked_up(server: Server, llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    client = Client.begin(server)
    with client.stream_ask(QUESTION) as lost:
        last = lost.until("message_delta")[-1]["seq"]
    with client.stream_events(lost.conversation, query=f"?after={last}") as stream:
        llm.release()
        rest = stream.until("message_end")
    assert [event["seq"] for event in rest] == list(range(last + 1, last + 1 + len(rest)))
    assert "".join(event["text"] for event in lost.seen + rest if event["type"] == "message_delta") == TEXT
    assert Message.objects.get(role="assistant").text == TEXT


def test_a_question_sent_again_is_the_same_question_over_both_doors(server: Server, llm: FakeLLM) -> None:
    client = Client.begin(server)
    first = client.ask(QUESTION)
    ids = {"conversation": first.conversation, "client_id": first.start["question"]["client_id"]}
    again = client.ask(QUESTION, **ids)
    assert [event["type"] for event in again.events] == ["conversation"]
    assert again.events[0]["messages"][-1]["text"] == TEXT
    with Tab(server, client.token) as tab:
        tab.ask(QUESTION, **ids)
        assert tab.until("conversation")[-1]["messages"] == again.events[0]["messages"]
    assert Message.objects.count() == 2
    assert len(llm.requests) == 1


def test_a_question_sent_again_while_it_is_answered_joins_the_answer(server: Server, llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    client = Client.begin(server)
    client_id = str(uuid.uuid4())
    with client.stream_ask(QUESTION, client_id=client_id) as lost:
        lost.until("message_delta")
    with client.stream_ask(QUESTION, conversation=lost.conversation, client_id=client_id) as stream:
        stream.until("message_delta")
        llm.release()
        stream.rest()
    assert "".join(event["text"] for event in stream.seen if event["type"] == "message_delta") == TEXT
    assert stream.seen[-1]["type"] == "message_end"
    assert Message.objects.count() == 2


def test_an_answer_is_stopped_over_http(server: Server, llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    client = Client.begin(server)
    with client.stream_ask(QUESTION) as stream:
        message = stream.until("message_delta")[0]["message"]["id"]
        assert client.post(f"/api/v1/messages/{message}/stop", {}).status == 204
        assert stream.rest()[-1]["status"] == "stopped"
    assert Message.objects.get(pk=message).status == "stopped"
    assert client.post(f"/api/v1/messages/{message}/stop", {}).status == 404


def test_a_second_question_must_wait_for_the_answer(server: Server, llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    client = Client.begin(server)
    with client.stream_ask(QUESTION) as stream:
        stream.until("message_delta")
        path = f"/api/v1/conversations/{stream.conversation}/ask"
        reply = client.post(path, {"client_id": str(uuid.uuid4()), "text": "And the library?"})
        assert (reply.status, reply.json["code"]) == (409, "busy")
        llm.release()
        stream.rest()


def test_silence_is_broken_by_comments(server: Server, llm: FakeLLM, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.streaming.subscription.HEARTBEAT_SECONDS", 0.1)
    llm.says_words(TEXT, hold_before=12)
    client = Client.begin(server)
    with client.stream_ask(QUESTION) as stream:
        stream.until("message_delta")
        before = stream.comments
        while stream.comments < before + 3:
            line = stream.response.readline()
            stream.comments += line.startswith(b":")
        llm.release()
        stream.rest()
    assert stream.seen[-1]["type"] == "message_end"


def test_ten_streams_at_once_are_told_all_and_let_go_of(server: Server) -> None:
    clients = [Client.begin(server) for _ in range(10)]
    assert all(client.ask(QUESTION).text == TEXT for client in clients)
    wait_until(lambda: not any(hub._tabs for hub in tabs._hubs.values()), 40)
