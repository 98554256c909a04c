"""Whatever the model's endpoint does: the question is stored, the student gets an outcome, the next question works."""

import socket
import time
from collections.abc import Callable

import pytest
from pytest_django import Settings

from chat.models import Citation, Message
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Answer, Server

pytestmark = pytest.mark.usefixtures("pages")

HTML = b"<!doctype html><title>502 Bad Gateway</title><h1>Bad Gateway</h1>"
BEFORE_THE_FIRST_WORD: dict[str, Callable[[FakeLLM], None]] = {
    "429": lambda llm: llm.fails(429, headers={"Retry-After": "20"}),
    "500": lambda llm: llm.fails(500),
    "401": lambda llm: llm.fails(401),
    "404": lambda llm: llm.fails(404),
    "hangs before the headers": lambda llm: llm.hangs(),
    "hangs after the headers": lambda llm: llm.says("never", hold_before=0),
    "html": lambda llm: llm.sends(HTML, content_type="text/html"),
    "html as a stream": lambda llm: llm.sends(HTML),
    "broken json": lambda llm: llm.sends(b'data: {"id": "1", "choi\n\ndata: [DONE]\n\n'),
    "json of another form": lambda llm: llm.sends(b'data: {"choices": [{"text": "x"}]}\n\ndata: [DONE]\n\n'),
    "json that is a list": lambda llm: llm.sends(b"data: [1]\n\ndata: [DONE]\n\n"),
    "json that is a text": lambda llm: llm.sends(b'data: "hello"\n\ndata: [DONE]\n\n'),
    "choices that are a number": lambda llm: llm.sends(b'data: {"choices": 5}\n\ndata: [DONE]\n\n'),
    "content that is an object": lambda llm: llm.sends(
        b'data: {"choices": [{"delta": {"content": {"a": 1}}}]}\n\ndata: [DONE]\n\n'
    ),
    "an error in the stream": lambda llm: llm.sends(b'data: {"error": {"message": "out of memory"}}\n\n'),
    "bytes": lambda llm: llm.sends(bytes(range(128, 256)) * 10),
    "an empty body": lambda llm: llm.sends(b""),
    "a cut before the first word": lambda llm: llm.says(end="cut"),
}
IN_THE_MIDDLE: dict[str, Callable[[FakeLLM, list[str]], None]] = {
    "cut": lambda llm, words: llm.says(*words, end="cut"),
    "ends without a reason": lambda llm, words: llm.says(*words, end="silence"),
    "hangs": lambda llm, words: llm.says(*words, "never", hold_before=len(words)),
    "broken json": lambda llm, words: llm.says(*words, b"data: {bro\n\n"),
    "an error in the stream": lambda llm, words: llm.says(*words, b'data: {"error": {"message": "gone"}}\n\n'),
}


def is_quoted(answer: Answer) -> bool:
    assert (answer.end["status"], answer.end["strategy"]) == ("complete", "extractive")
    assert answer.end["notice"] == "model_unavailable"
    assert not answer.errors
    return answer.text.startswith("“The semester contribution is 318.40 euros")


def works_again(llm: FakeLLM, answer: Callable[[str], Answer]) -> bool:
    llm.release()
    llm.reset()
    return answer(QUESTION).end["strategy"] == "generated"


@pytest.mark.parametrize("failure", BEFORE_THE_FIRST_WORD)
def test_a_model_that_fails_at_once_costs_the_student_only_the_prose(
    server: Server, llm: FakeLLM, settings: Settings, failure: str
) -> None:
    settings.LLM_FIRST_TOKEN_SECONDS = 0.5 if "hangs" in failure else 10
    BEFORE_THE_FIRST_WORD[failure](llm)
    with server.connect() as tab:
        assert is_quoted(tab.answer(QUESTION))
        question, reply = Message.objects.all()
        assert (question.text, reply.status, reply.notice) == (QUESTION, "complete", "model_unavailable")
        assert reply.citations.exists()
        assert works_again(llm, tab.answer)


def test_a_model_that_cannot_be_reached_costs_the_student_only_the_prose(
    server: Server, llm: FakeLLM, settings: Settings
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        settings.LLM_BASE_URL = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    with server.connect() as tab:
        assert is_quoted(tab.answer(QUESTION))


@pytest.mark.parametrize("failure", IN_THE_MIDDLE)
def test_an_answer_that_breaks_off_is_kept_and_said_to_be_broken(
    server: Server, llm: FakeLLM, settings: Settings, failure: str
) -> None:
    settings.LLM_FIRST_TOKEN_SECONDS = 0.5 if failure == "hangs" else 10
    IN_THE_MIDDLE[failure](llm, ["The contribution", " is 318.40 euros", " [1]. It also", " covers"])
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
        assert answer.text.startswith("The contribution is 318.40 euros [1]. It")
        (error,) = answer.errors
        assert (error["code"], error["message"]) == ("model_interrupted", answer.id)
        assert error["detail"]
        assert (answer.end["status"], answer.end["strategy"]) == ("failed", "generated")
        question, reply = Message.objects.all()
        assert (question.text, reply.text, reply.status) == (QUESTION, answer.text, "failed")
        assert [citation.n for citation in Citation.objects.all()] == [1]
        assert works_again(llm, tab.answer)


def test_a_busy_model_does_not_make_the_student_wait_for_it(server: Server, llm: FakeLLM, settings: Settings) -> None:
    settings.LLM_FIRST_TOKEN_SECONDS = 12
    llm.fails(429, headers={"Retry-After": "10"})
    with server.connect() as tab:
        started = time.monotonic()
        assert is_quoted(tab.answer(QUESTION))
        assert time.monotonic() - started < 4


def test_one_failure_is_tried_again_before_anything_is_shown(server: Server, llm: FakeLLM, settings: Settings) -> None:
    settings.LLM_FIRST_TOKEN_SECONDS = 5
    llm.fails(503, times=1)
    with server.connect() as tab:
        assert tab.answer(QUESTION).end["strategy"] == "generated"
    assert len(llm.requests) == 2


def test_a_model_that_speaks_without_end_is_stopped(server: Server, llm: FakeLLM, settings: Settings) -> None:
    settings.LLM_TOTAL_SECONDS = 1
    llm.says(*["word "] * 200, between=0.05)
    with server.connect() as tab:
        answer = tab.answer(QUESTION)
    assert answer.end["status"] == "failed"
    assert answer.text.startswith("word word")


def test_a_slow_first_word_within_the_limit_is_waited_for(server: Server, llm: FakeLLM) -> None:
    llm.says("It is 318.40 euros [1].", first_after=0.3)
    with server.connect() as tab:
        assert tab.answer(QUESTION).text == "It is 318.40 euros [1]."
