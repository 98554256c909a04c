"""A visitor's tab and the real server: what is asked, what comes back, what is kept."""

import datetime
import uuid

import pytest

from chat.models import Citation, Conversation, Message
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Server, wait_until

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
    assert answer.end["status"], answer.end["strategy"] == ("complete", "generated")

    question, reply = Message.objects.all()
    assert (question.text, question.role, question.status) == (QUESTION, "user", "complete")
    assert (reply.text, reply.role, reply.status) == (answer.text, "assistant", "complete")
    assert (reply.strategy, reply.model, reply.profile, reply.question) == ("generated", "fake", "default", question)
    assert reply.timings_ms["total"] >= reply.timings_ms["first_token"] > 0
    (citation,) = Citation.objects.all()
    assert (citation.message, citation.url, citation.quote) == (reply, source["url"], source["quote"])
    assert citation.document.title == "Fees"
    assert citation.passage.document == citation.document
