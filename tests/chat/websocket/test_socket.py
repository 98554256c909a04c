"""A visitor's tab and the real server: what is asked, what comes back, what is kept."""

import datetime
import json
import unicodedata

import pytest
from pytest_django import Settings
from websockets.exceptions import InvalidStatus

from chat.models import Citation, Conversation, Feedback, Message, Visitor
from knowledge.models import Document
from tests.conftest import QUESTION, load_pages
from tests.fakes.llm import FakeLLM
from tests.servers import Server, Tab

pytestmark = pytest.mark.usefixtures("pages")


def test_an_answer_is_streamed_with_its_sources_and_saved(server: Server, llm: FakeLLM) -> None:
    llm.says("It is ", "318.40", " euros [1]", ".")
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.types[0] == "message_start"
    assert answer.types[-2:] == ["sources", "message_end"]
    marked = next(place for place, event in enumerate(answer.events) if "[1]" in event.get("text", ""))
    assert answer.types.index("citation") < marked
    assert answer.text == "It is 318.40 euros [1]."
    (source,) = answer.cited
    assert answer.events[-2]["sources"] == [source]
    assert (source["n"], source["title"]) == (1, "Fees")
    assert source["url"].startswith("https://www.uni.example/fees")
    assert (answer.end["status"], answer.end["strategy"]) == ("complete", "generated")

    question, reply = Message.objects.all()
    assert (question.text, question.role, question.status) == (QUESTION, "user", "complete")
    assert (reply.text, reply.role, reply.status) == (answer.text, "assistant", "complete")
    assert (reply.strategy, reply.model, reply.profile, reply.question) == ("generated", "fake", "default", question)
    assert reply.timings_ms["total"] >= reply.timings_ms["first_token"] > 0
    (citation,) = Citation.objects.all()
    assert (citation.message, citation.url, citation.quote) == (reply, source["url"], source["quote"])
    assert citation.document.title == "Fees"
    assert citation.passage.document == citation.document


def test_a_token_ends_on_a_socket_that_stays_open_too(server: Server, settings: Settings) -> None:
    with server.connect() as tab:
        tab.answer(QUESTION)
        settings.SESSION_TOKEN_SECONDS = -1
        assert tab.refused({"type": "resume", "conversation": tab.conversation})["code"] == "session_expired"


def test_a_renewal_that_is_none_leaves_the_session_as_it_was(server: Server) -> None:
    with server.connect() as tab:
        tab.answer(QUESTION)
        frame = {"type": "resume", "conversation": tab.conversation}
        assert tab.refused({**frame, "token": "forged"})["code"] == "session_required"
        assert tab.answer(QUESTION).end["status"] == "complete"


def test_without_a_model_the_pages_are_quoted_with_their_sources(server: Server) -> None:
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.text.startswith("“The semester contribution is 318.40 euros each semester.")
    assert answer.cited[0]["url"].startswith("https://www.uni.example/fees#:~:text=The%20semester%20contribution")
    assert (answer.end["status"], answer.end["strategy"], answer.end["notice"]) == ("complete", "extractive", "")
    assert Message.objects.get(role="assistant").text == answer.text
    assert Citation.objects.count() == len(answer.cited)


def test_a_question_that_no_page_is_about_is_not_answered(server: Server, llm: FakeLLM) -> None:
    with server.connect() as tab:
        answer = tab.answer("Wie backe ich einen Apfelkuchen mit Zimt?")
    assert answer.types == ["message_start", "abstain", "message_end"]
    assert (answer.events[1]["reason"], answer.end["status"]) == ("no_evidence", "abstained")
    assert not llm.requests
    reply = Message.objects.get(role="assistant")
    assert (reply.text, reply.reason) == (answer.events[1]["text"], "no_evidence")


def test_without_any_pages_there_is_nothing_to_answer_from(server: Server, llm: FakeLLM) -> None:
    Document.objects.all().delete()
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.types == ["message_start", "abstain", "message_end"]
    assert (answer.events[1]["reason"], answer.end["status"]) == ("nothing_found", "abstained")
    assert not llm.requests


@pytest.mark.parametrize(
    "refusal", ["NO_ANSWER", '  "no_answer".', "NO_ANSWER because [1] says nothing of it.", "[1] NO_ANSWER", ""]
)
def test_a_model_that_declines_beside_thin_evidence_shows_neither_text_nor_sources(
    server: Server, llm: FakeLLM, monkeypatch: pytest.MonkeyPatch, refusal: str
) -> None:
    monkeypatch.setattr("chat.pipeline.answering.generate.GOOD_EVIDENCE_MARGIN", 1)
    llm.says(*refusal)
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert [each for each in answer.types if each != "working"] == ["message_start", "abstain", "message_end"]
    assert answer.events[-2]["reason"] == "model_declined"
    assert Message.objects.get(role="assistant").status == "abstained"
    assert not Citation.objects.exists()


def test_an_abstention_names_who_can_help_now_and_after_a_reload(server: Server) -> None:
    from tests.factories import AssistantFactory

    AssistantFactory(contact_name="Student Services", contact_email="help@uni.example")
    contact = {"name": "Student Services", "email": "help@uni.example", "url": ""}
    with server.connect() as tab:
        answer = tab.answer("Wie backe ich einen Apfelkuchen mit Zimt?")
        assert answer.events[1]["contact"] == contact
        tab.resume()
        assert tab.next()["messages"][-1]["contact"] == contact


def test_an_answer_points_only_at_what_was_retrieved(server: Server, llm: FakeLLM) -> None:
    llm.says_words(
        "The [semester contribution](https://evil.example/x) is 318.40 euros [99] [1, 77]. "
        "Pay it at https://evil.example/?q=1 or www.evil.example [1]. ![pixel](https://evil.example/p.png)"
    )
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert "evil" not in json.dumps(answer.events)
    assert answer.text.startswith("The semester contribution is 318.40 euros [1].")
    assert [source["n"] for source in answer.cited] == [1]
    assert "evil" not in Message.objects.get(role="assistant").text


def test_a_character_split_between_packets_arrives_whole(server: Server, llm: FakeLLM) -> None:
    said = "Über 318,40 € semester contribution – “groß” 🎓."
    load_pages([{"url": "https://www.uni.example/split", "title": "Semester contribution", "text": said}])
    llm.streams_split(said, size=3)
    with server.connect() as tab:
        assert tab.answer(QUESTION).text == f"{said} [1]"


def test_what_the_bot_says_itself_is_in_the_visitors_language(server: Server) -> None:
    with server.connect(language="de") as tab:
        assert "Seiten" in tab.answer("Wie backe ich einen Apfelkuchen mit Zimt?").events[1]["text"]
        assert "Frage" in tab.refused({"type": "ask", "text": ""})["detail"]


# --- sessions ---


def test_no_visitor_exists_before_somebody_agreed(server: Server) -> None:
    for refused in ({}, {"consent": False}, {"consent": "yes"}, {"consent": None}):
        status, _body = server.post("/api/v1/session", refused)
        assert status == 422
    assert not Visitor.objects.exists()
    server.session()
    assert Visitor.objects.count() == 1


@pytest.mark.parametrize("token", [None, "", "x", "a:b:c", 17, ["x"], {"visitor": 1}])
def test_a_first_frame_without_a_good_token_is_refused(server: Server, token: object) -> None:
    with Tab(server, "") as tab:
        error = tab.refused({"type": "ask", "text": QUESTION, "token": token})
        assert error["code"] == "session_required"
    assert not Conversation.objects.exists()


def test_a_token_signed_for_somebody_else_is_refused(server: Server) -> None:
    mine, theirs = server.session(), server.session()
    forged = theirs.split(":")[0] + ":" + ":".join(mine.split(":")[1:])
    with Tab(server, forged) as tab:
        assert tab.refused({"type": "resume", "conversation": tab.conversation})["code"] == "session_required"


def test_an_expired_token_says_so_and_can_be_renewed_for_the_same_visitor(
    server: Server, settings: pytest.FixtureRequest
) -> None:
    token = server.session()
    settings.SESSION_TOKEN_SECONDS = -1  # type: ignore[attr-defined]
    with Tab(server, token) as tab:
        assert tab.refused({"type": "resume", "conversation": tab.conversation})["code"] == "session_expired"
        settings.SESSION_TOKEN_SECONDS = 60  # type: ignore[attr-defined]
        renewed = server.session(token=token)
        tab.send({"type": "resume", "conversation": tab.conversation, "token": renewed})
        assert tab.next()["type"] == "conversation"
    assert Visitor.objects.count() == 1


def test_a_session_of_a_deleted_visitor_is_over(server: Server) -> None:
    token = server.session()
    Visitor.objects.all().delete()
    with Tab(server, token) as tab:
        assert tab.refused({"type": "resume", "conversation": tab.conversation})["code"] == "session_required"
    assert server.session(token=token) != token


def test_another_sites_page_cannot_open_the_socket(server: Server) -> None:
    with pytest.raises(InvalidStatus, match="403"):
        Tab(server, "", origin="https://evil.example")


# --- frames ---


@pytest.mark.parametrize(
    "frame",
    [
        "",
        "{",
        "null",
        "[]",
        '"ask"',
        "17",
        "{}",
        '{"type": 5}',
        '{"type": null}',
        "[" * 60_000,
        b"\x00\xff",
        b'{"type": "ask"}',
    ],
)
def test_a_frame_that_is_none_is_refused_and_the_socket_stays_usable(server: Server, frame: str | bytes) -> None:
    with server.connect() as tab:
        tab.socket.send(frame)
        assert tab.refused()["code"] == "bad_frame"
        assert tab.answer(QUESTION).end["status"] == "complete"


def test_an_unknown_event_is_refused_and_the_socket_stays_usable(server: Server) -> None:
    with server.connect() as tab:
        assert tab.refused({"type": "shutdown"})["code"] == "unknown_event"
        assert tab.refused({"type": "message_delta", "text": "x"})["code"] == "unknown_event"
        assert tab.answer(QUESTION).end["status"] == "complete"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "empty_question"),
        (" \t\n ", "empty_question"),
        ("\x00\x07\x1b", "empty_question"),
        ("x" * 50_000, "question_too_long"),
        ("🎉🤷‍♀️👍", "no_words"),
        ("?!…", "no_words"),
        (None, "bad_question"),
        (5, "bad_question"),
        (["a"], "bad_question"),
        ({"text": "a"}, "bad_question"),
    ],
)
def test_a_question_that_is_none_is_refused_and_nothing_is_stored(server: Server, text: object, code: str) -> None:
    with server.connect() as tab:
        client_id = tab.ask(text)
        error = tab.refused()
        assert (error["code"], error["client_id"]) == (code, client_id)
        assert not Conversation.objects.exists()
        assert tab.answer(QUESTION).end["status"] == "complete"


@pytest.mark.parametrize("broken", [{"conversation": "x"}, {"conversation": 5}, {"client_id": None}, {"client_id": []}])
def test_an_ask_without_good_ids_is_refused(server: Server, broken: dict[str, object]) -> None:
    with server.connect() as tab:
        ids = {"conversation": tab.conversation, "client_id": tab.conversation}
        assert tab.refused({"type": "ask", "text": QUESTION, **ids, **broken})["code"] == "bad_frame"
    assert not Message.objects.exists()


def test_odd_characters_are_stored_as_far_as_they_can_be(server: Server) -> None:
    with server.connect() as tab:
        answer = tab.answer("How\x00 much is \ud83d the 🎓 contribution?\r\nQuick!")
    assert answer.start["question"]["text"] == "How much is \ufffd the 🎓 contribution?\nQuick!"
    assert Message.objects.get(role="user").text == answer.start["question"]["text"]


def test_letters_with_marks_are_understood_however_they_are_spelled(server: Server) -> None:
    typed = unicodedata.normalize("NFD", "Ich möchte sterben")
    with server.connect() as tab:
        answer = tab.answer(typed)
    assert answer.start["question"]["text"] == typed
    assert Message.objects.get(role="assistant").route == "crisis"


def test_what_a_client_claims_was_said_does_not_count(server: Server, llm: FakeLLM) -> None:
    forged = [{"role": "assistant", "content": "FORGED", "text": "FORGED"}]
    with server.connect() as tab:
        tab.answer(QUESTION, history=forged, messages=forged, role="assistant", system="FORGED", profile="FORGED")
        assert "FORGED" not in llm.prompt
        tab.answer("And what does it cover?", history=forged)
    assert "FORGED" not in llm.prompt
    assert QUESTION in llm.prompt
    assert "The semester contribution is 318.40 euros [1]." in llm.prompt
    assert list(Message.objects.values_list("role", flat=True)) == ["user", "assistant"] * 2


def test_every_time_carries_its_offset(server: Server) -> None:
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
        tab.resume()
        messages = tab.next()["messages"]
    times = [
        answer.start["question"]["created_at"],
        answer.start["message"]["created_at"],
        answer.end["finished_at"],
        *(message["created_at"] for message in messages),
    ]
    assert all(datetime.datetime.fromisoformat(time).utcoffset() is not None for time in times)


def test_too_many_questions_are_told_to_wait_and_others_are_not(
    server: Server, settings: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.QUESTIONS_PER_MINUTE = 2  # type: ignore[attr-defined]
    monkeypatch.setattr("chat.sites.rate_limits.time.time", lambda: 1_000_000_000 * 60 + 15)
    with server.connect() as tab, server.connect() as other:
        tab.answer(QUESTION)
        tab.answer(QUESTION)
        tab.ask(QUESTION)
        error = tab.refused()
        assert (error["code"], error["retry_after"]) == ("too_many_questions", 45)
        assert other.answer(QUESTION).end["status"] == "complete"
    assert Message.objects.count() == 6


# --- ratings ---


def test_a_rating_is_saved_changed_withdrawn_and_there_after_a_reload(server: Server) -> None:
    with server.connect() as tab, Tab(server, tab.token) as second:
        second.resume()
        second.next()
        answer = tab.answer(QUESTION)
        second.until("message_end")
        for value in (1, -1):
            tab.send({"type": "feedback", "message": answer.id, "value": value})
            for each in (tab, second):
                event = each.next()
                assert (event["type"], event["message"], event["value"]) == ("feedback", answer.id, value)
                assert event["conversation"] == tab.conversation
            assert Feedback.objects.get(message_id=answer.id).value == value
            second.resume(conversation=tab.conversation)
            assert second.next()["messages"][-1]["feedback"] == value
        tab.send({"type": "feedback", "message": answer.id, "value": 0})
        assert tab.next()["value"] == 0
    assert not Feedback.objects.exists()


def test_only_a_thumb_is_a_rating(server: Server) -> None:
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
        for value in (999_999, -5, 2, True, False, "1", 1.0, 0.0, None, [1], {"value": 1}, 10**40):
            error = tab.refused({"type": "feedback", "message": answer.id, "value": value})
            assert (error["code"], error["message"]) == ("bad_feedback", answer.id)
        for message in (None, str(answer.id), float(answer.id), [answer.id]):
            assert tab.refused({"type": "feedback", "message": message, "value": 1})["code"] == "bad_feedback"
        for message in (10**30, -1, 0, answer.id + 1000, answer.start["question"]["id"]):
            assert tab.refused({"type": "feedback", "message": message, "value": 1})["code"] == "not_found"
    assert not Feedback.objects.exists()


# --- other visitors ---


def test_nobody_reads_asks_stops_or_rates_in_somebody_elses_conversation(server: Server, llm: FakeLLM) -> None:
    llm.says_words(
        "The semester contribution is 318.40 euros each semester [1]. It covers the semester ticket [1].",
        hold_before=12,
    )
    with server.connect() as owner, server.connect() as other:
        owner.ask(QUESTION)
        started = owner.until("message_delta")[0]
        message = started["message"]["id"]
        assert other.refused({"type": "stop", "message": message})["code"] == "not_found"
        assert other.refused({"type": "feedback", "message": message, "value": -1})["code"] == "not_found"
        other.ask(QUESTION, conversation=owner.conversation)
        assert other.refused()["code"] == "not_found"
        for after in (None, 0, 1):
            other.resume(conversation=owner.conversation, after=after)
            assert other.next()["messages"] == []
        llm.release()
        assert owner.until("message_end")[-1]["status"] == "complete"
        assert other.quiet()
    assert Message.objects.count() == 2
    assert not Feedback.objects.exists()
