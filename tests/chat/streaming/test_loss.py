"""Nothing is lost and nothing is doubled: disconnects, several tabs, several questions at once, stops."""

import uuid
from contextlib import ExitStack

import pytest
from django.db import connections
from pytest_django import Settings

from chat.models import Conversation, Message
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Server, Tab, wait_until

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("pages")]

TEXT = (
    "The semester contribution is 318.40 euros each semester [1]. "
    "It covers the semester ticket and student services [1]."
)


@pytest.fixture(autouse=True)
def _says_the_text(llm: FakeLLM) -> None:
    llm.says_words(TEXT)


def closed(message_id: int) -> Message:
    """Return the answer once it is saved."""
    wait_until(lambda: Message.objects.exclude(status="generating").filter(pk=message_id).exists())
    return Message.objects.get(pk=message_id)


# --- several at once ---


@pytest.mark.parametrize("same_client_id", [False, True])
def test_first_questions_of_a_new_visitor_at_once_make_one_conversation(
    server: Server, llm: FakeLLM, same_client_id: bool
) -> None:
    llm.says_words(TEXT, hold_before=0)
    token, conversation, client_id = server.session(), str(uuid.uuid4()), str(uuid.uuid4())
    with ExitStack() as stack:
        tabs = [stack.enter_context(Tab(server, token)) for _ in range(10)]
        for tab in tabs:
            tab.ask(QUESTION, conversation=conversation, client_id=client_id if same_client_id else None)
        if same_client_id:
            wait_until(lambda: Message.objects.count() == 2)
        else:
            for tab in tabs:  # each gets a refusal or the start of an answer, many get both
                tab.until("error", "message_start")
        llm.release()
        for tab in tabs:
            tab.until("message_end")
        errors = {event["code"] for tab in tabs for event in tab.seen if event["type"] == "error"}
        assert errors <= (set() if same_client_id else {"busy"})
        assert tabs[0].answer(QUESTION, conversation=conversation).end["status"] == "complete"
    assert Conversation.objects.count() == 1
    questions = Message.objects.filter(role="user")
    assert questions.count() == 2
    assert len(set(questions.values_list("client_id", flat=True))) == 2
    assert Message.objects.filter(role="assistant", status="complete").count() == 2


def test_ten_new_visitors_at_once_are_all_served(server: Server) -> None:
    with ExitStack() as stack:
        tabs = [stack.enter_context(server.connect()) for _ in range(10)]
        for tab in tabs:
            tab.ask(QUESTION)
        assert all(tab.until("message_end")[-1]["status"] == "complete" for tab in tabs)
    assert Conversation.objects.count() == 10
    assert Message.objects.filter(text=TEXT, status="complete").count() == 10


def test_a_question_sent_again_is_the_same_question(server: Server, llm: FakeLLM) -> None:
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
        tab.ask(QUESTION, client_id=answer.start["question"]["client_id"])
        snapshot = tab.next()
        assert snapshot["type"] == "conversation"
        assert [message["id"] for message in snapshot["messages"]] == [answer.start["question"]["id"], answer.id]
        assert tab.quiet()
    assert Message.objects.count() == 2
    assert len(llm.requests) == 1


def test_a_question_sent_again_while_it_is_answered_joins_the_answer(server: Server, llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    token = server.session()
    with Tab(server, token) as lost, Tab(server, token) as tab:
        client_id = lost.ask(QUESTION)
        lost.until("message_delta")
        lost.drop()
        tab.ask(QUESTION, conversation=lost.conversation, client_id=client_id)
        tab.until("message_delta")
        llm.release()
        tab.until("message_end")
        assert "".join(event["text"] for event in tab.seen if event["type"] == "message_delta") == TEXT
    assert Message.objects.count() == 2


def test_a_second_question_must_wait_for_the_answer(server: Server, llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    with server.connect() as tab:
        tab.ask(QUESTION)
        tab.until("message_delta")
        client_id = tab.ask("And the library?")
        error = tab.until("error")[-1]
        assert (error["code"], error["client_id"]) == ("busy", client_id)
        llm.release()
        tab.until("message_end")
        assert tab.answer("What is the semester contribution, please?").end["status"] == "complete"
    assert Message.objects.filter(role="user").count() == 2


# --- disconnects ---


@pytest.mark.parametrize("leave", ["close", "drop"])
def test_an_answer_is_completed_and_saved_when_its_reader_leaves(server: Server, llm: FakeLLM, leave: str) -> None:
    llm.says_words(TEXT, hold_before=12)
    with server.connect() as tab:
        tab.ask(QUESTION)
        message = tab.until("message_delta")[0]["message"]["id"]
        getattr(tab, leave)()
        llm.release()
        reply = closed(message)
    assert (reply.text, reply.status, reply.citations.count()) == (TEXT, "complete", 1)


def test_an_answer_is_completed_when_its_reader_leaves_before_the_first_word(server: Server, llm: FakeLLM) -> None:
    llm.hangs()
    llm.says_words(TEXT, hold_before=0)
    with server.connect() as tab:
        tab.ask(QUESTION)
        wait_until(lambda: llm.requests)
        tab.drop()
    llm.release()
    wait_until(lambda: Message.objects.filter(role="assistant", status="complete", text=TEXT).exists())


def test_a_new_conversation_in_the_middle_of_an_answer_takes_nothing_from_the_old_one(
    server: Server, llm: FakeLLM
) -> None:
    llm.says_words(TEXT, hold_before=12)
    with server.connect() as tab:
        tab.ask(QUESTION)
        old = tab.until("message_delta")[0]
        tab.conversation = str(uuid.uuid4())
        tab.ask("What is the semester contribution, please?")
        new = tab.until("message_start")[-1]
        llm.release()
        tab.until("message_end")
        tab.until("message_end")
    assert new["conversation"] == tab.conversation != old["conversation"]
    for started, question in ((old, QUESTION), (new, "What is the semester contribution, please?")):
        kept = Message.objects.filter(conversation=started["conversation"])
        assert [message.text for message in kept] == [question, TEXT]
        of_it = [event for event in tab.seen if event["conversation"] == started["conversation"]]
        assert {event["message"] for event in of_it if event["type"] == "message_delta"} == {started["message"]["id"]}


# --- stop ---


def test_stopping_keeps_what_was_written_and_hangs_up_on_the_model(server: Server, llm: FakeLLM) -> None:
    llm.says_words(TEXT, hold_before=12)
    with server.connect() as tab:
        tab.ask(QUESTION)
        message = tab.until("message_delta")[0]["message"]["id"]
        tab.send({"type": "stop", "message": message})
        tab.until("message_end")
        shown = "".join(event["text"] for event in tab.seen if event["type"] == "message_delta")
        assert tab.seen[-1]["status"] == "stopped"
        assert 0 < len(shown) < len(TEXT)
        reply = Message.objects.get(pk=message)
        assert (reply.text, reply.status) == (shown, "stopped")
        assert llm.hung_up.wait(2)
        llm.says_words(TEXT)
        assert tab.answer(QUESTION).end["status"] == "complete"


def test_an_answer_can_be_stopped_before_its_first_word(server: Server, llm: FakeLLM) -> None:
    llm.hangs()
    with server.connect() as tab:
        tab.ask(QUESTION)
        message = tab.until("message_start")[-1]["message"]["id"]
        tab.send({"type": "stop", "message": message})
        assert tab.until("message_end")[-1]["status"] == "stopped"
    assert Message.objects.get(pk=message).text == ""


def test_only_an_answer_that_is_being_written_can_be_stopped(server: Server) -> None:
    with server.connect() as tab:
        done = tab.answer(QUESTION)
        for message in (done.id, done.id + 1000, None, "1", 10**30, [1], -1):
            assert tab.refused({"type": "stop", "message": message})["code"] == "not_found"


# --- several tabs, and coming back ---


def test_two_tabs_of_a_visitor_see_the_same_events_numbered_without_gaps(server: Server) -> None:
    with server.connect() as one, Tab(server, one.token) as two:
        two.resume()
        assert two.next()["messages"] == []
        events = one.answer(QUESTION).events + one.answer(QUESTION).events
        assert two.until("message_end") + two.until("message_end") == events
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert {event["conversation"] for event in events} == {one.conversation}


def test_a_tab_that_comes_back_gets_exactly_what_it_missed(server: Server) -> None:
    with server.connect() as tab:
        events = tab.answer(QUESTION).events
        for after in (1, 4, len(events) - 1):
            tab.resume(after=after)
            assert [tab.next() for _ in range(len(events) - after)] == events[after:]
        tab.resume(after=len(events))
        assert tab.quiet()


@pytest.mark.parametrize("after", [None, True, 0.5, "3", [1], 10_000, 10**30, -1, -(10**30)])
def test_a_tab_that_knows_nothing_gets_the_conversation(server: Server, after: object) -> None:
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
        tab.resume(after=after)  # type: ignore[arg-type]
        snapshot = tab.next()
        assert tab.quiet(0.1)
    assert (snapshot["type"], snapshot["last_seq"]) == ("conversation", answer.end["seq"])
    question, reply = snapshot["messages"]
    assert (question["role"], question["text"]) == ("user", QUESTION)
    assert question["client_id"] == answer.start["question"]["client_id"]
    assert (reply["role"], reply["text"], reply["status"]) == ("assistant", answer.text, "complete")
    assert reply["sources"] == answer.cited


@pytest.mark.parametrize("after", [None, 0, 1])
def test_a_tab_that_comes_back_in_the_middle_of_an_answer_gets_all_of_it(
    server: Server, llm: FakeLLM, after: int | None
) -> None:
    llm.says_words(TEXT, hold_before=12)
    with server.connect() as one, Tab(server, one.token) as two:
        one.ask(QUESTION)
        one.until("message_delta")
        two.resume(conversation=one.conversation, after=after)
        first = two.next()
        begun = after if after is not None else first["last_seq"]
        if after is None:
            assert [message["status"] for message in first["messages"]] == ["complete", "generating"]
        llm.release()
        one.until("message_end")
        two.until("message_end")
    numbered = {event["seq"]: event for event in two.seen if event["seq"]}
    assert numbered == {event["seq"]: event for event in one.seen if event["seq"] > begun}
    written = [event for event in one.seen if event["type"] == "message_delta" and event["seq"] <= begun]
    written += [event for event in numbered.values() if event["type"] == "message_delta"]
    assert "".join(event["text"] for event in written) == TEXT


def test_events_that_are_no_longer_kept_are_made_up_for_by_the_conversation(server: Server, settings: Settings) -> None:
    import redis

    with server.connect() as tab:
        answer = tab.answer(QUESTION)
        with redis.Redis.from_url(settings.REDIS_URL) as valkey:
            assert valkey.delete(f"marcelcms:log:{tab.conversation}")
        tab.resume(after=2)
        snapshot = tab.next()
        assert (snapshot["type"], snapshot["last_seq"]) == ("conversation", answer.end["seq"])
        assert tab.answer(QUESTION).start["seq"] == answer.end["seq"] + 1


# --- parts that are away ---


def test_a_lost_broker_is_said_and_the_socket_outlives_it(server: Server, settings: Settings) -> None:
    url = settings.REDIS_URL
    with server.connect() as tab:
        tab.answer(QUESTION)
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        tab.ask(QUESTION)
        assert tab.refused()["code"] == "unavailable"
        tab.resume()
        assert tab.refused()["code"] == "unavailable"
        settings.REDIS_URL = url
        assert tab.answer(QUESTION).end["status"] == "complete"
    assert Message.objects.count() == 4


def test_an_answer_is_saved_when_the_broker_goes_while_it_is_written(
    server: Server, llm: FakeLLM, settings: Settings
) -> None:
    llm.says_words(TEXT, hold_before=12)
    url = settings.REDIS_URL
    with server.connect() as tab:
        tab.ask(QUESTION)
        message = tab.until("message_delta")[0]["message"]["id"]
        settings.REDIS_URL = "redis://127.0.0.1:1/0"
        llm.release()
        assert closed(message).text == TEXT
        settings.REDIS_URL = url
        tab.resume()
        assert tab.until("conversation")[-1]["messages"][-1]["text"] == TEXT


@pytest.fixture
def database(transactional_db: None) -> dict[str, object]:
    """Return what the server's threads connect by; this test's own connection stays."""
    return connections["default"].settings_dict


def test_a_lost_database_is_said_and_the_socket_outlives_it(
    server: Server, database: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    with server.connect() as tab:
        tab.answer(QUESTION)
        with monkeypatch.context() as patch:
            patch.setitem(database, "PORT", "1")
            tab.ask(QUESTION)
            assert tab.refused()["code"] == "unavailable"
            tab.resume()
            assert tab.refused()["code"] == "unavailable"
        assert tab.answer(QUESTION).end["status"] == "complete"
    assert Message.objects.count() == 4


def test_an_answer_is_saved_once_a_database_that_went_while_it_was_written_is_back(
    server: Server, llm: FakeLLM, database: dict[str, object], monkeypatch: pytest.MonkeyPatch
) -> None:
    llm.says_words(TEXT, hold_before=12)
    with server.connect() as tab:
        tab.ask(QUESTION)
        message = tab.until("message_delta")[0]["message"]["id"]
        with monkeypatch.context() as patch:
            patch.setitem(database, "PORT", "1")
            llm.release()
            tab.until("sources")
            assert tab.quiet(0.5)
        assert tab.until("message_end")[-1]["status"] == "complete"
    assert closed(message).text == TEXT
