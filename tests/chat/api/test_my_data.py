"""What is stored of a visitor is theirs: to read, to take, to have erased."""

import json

import pytest
import redis
from pytest_django import Settings

from chat.models import Citation, Conversation, Feedback, Message, Visitor
from tests.chat.api_client import Client
from tests.conftest import QUESTION
from tests.fakes.llm import FakeLLM
from tests.servers import Server, Tab, wait_until

pytestmark = pytest.mark.usefixtures("pages")
OF_ANOTHER = "What does the library lend?"


def test_my_data_is_a_file_with_all_that_is_stored(server: Server) -> None:
    client, other = Client.begin(server), Client.begin(server)
    answer = client.ask(QUESTION)
    other.ask(OF_ANOTHER)
    client.put(f"/api/v1/messages/{answer.message}/feedback", {"value": -1, "reasons": ["wrong"], "comment": "No."})
    client.put(f"/api/v1/conversations/{answer.conversation}/rating", {"stars": 2})
    client.post(f"/api/v1/messages/{answer.message}/contacts", {"kind": "phone"})
    Conversation.objects.filter(pk=answer.conversation).update(audience=["degree:master"])
    Message.objects.filter(pk=answer.message).update(
        rewritten="How much is the fee?", readings=[{"step": "synonyms", "word": "fee", "read_as": ["price"]}]
    )

    reply = client.get("/api/v1/my-data")
    assert reply.status == 200
    assert reply.headers["content-type"] == "application/json"
    assert reply.headers["content-disposition"] == 'attachment; filename="my-data.json"'
    (conversation,) = reply.json["conversations"]
    assert (conversation["id"], conversation["title"], conversation["stars"]) == (answer.conversation, QUESTION, 2)
    assert conversation["said_of_themselves"] == ["degree:master"]
    question, said = conversation["messages"]
    assert (question["text"], said["text"]) == (QUESTION, answer.text)
    assert said["sources"]
    assert (said["feedback"], said["feedback_reasons"], said["feedback_comment"]) == (-1, ["wrong"], "No.")
    assert (question["contacts_used"], said["contacts_used"]) == ([], ["phone"])
    assert said["looked_up_as"] == "How much is the fee?"
    assert said["words_read_as"] == [{"step": "synonyms", "word": "fee", "read_as": ["price"]}]
    assert said["made_from"]["pages_read"]
    assert OF_ANOTHER not in reply.body.decode()


def test_erasing_takes_everything_with_it_and_nothing_of_others(server: Server, settings: Settings) -> None:
    client, other = Client.begin(server), Client.begin(server)
    answers = [client.ask(QUESTION), client.ask(QUESTION)]
    kept = other.ask(QUESTION)
    client.put(f"/api/v1/messages/{answers[0].message}/feedback", {"value": 1})
    visitor = Visitor.objects.exclude(conversations=kept.conversation).get()
    assert client.delete("/api/v1/my-data").status == 204

    assert not Visitor.objects.filter(pk=visitor.pk).exists()
    assert [str(row.pk) for row in Conversation.objects.all()] == [kept.conversation]
    assert Message.objects.count() == 2
    assert not Feedback.objects.exists()
    assert set(Citation.objects.values_list("message_id", flat=True)) == {kept.message}
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as valkey:
        for answer in answers:
            assert not valkey.exists(f"marcelcms:log:{answer.conversation}", f"marcelcms:seq:{answer.conversation}")
        assert valkey.exists(f"marcelcms:log:{kept.conversation}")
    for path in ("/api/v1/conversations", "/api/v1/my-data"):
        assert client.get(path).status == 401
    assert Client.begin(server, token=client.token).get("/api/v1/conversations").json == []
    assert len(other.get("/api/v1/conversations").json) == 1


def test_other_tabs_are_told_that_all_is_erased_and_their_session_is_over(server: Server) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    with Tab(server, client.token) as tab, client.stream_events(answer.conversation, query="?after=0") as stream:
        tab.resume(conversation=answer.conversation)
        tab.until("conversation")
        stream.until("message_end")
        client.delete("/api/v1/my-data")
        assert tab.until("erased")[-1] == {"type": "erased", "seq": None}
        assert stream.rest() == [{"type": "erased", "seq": None}]
        assert tab.refused({"type": "resume", "conversation": tab.conversation})["code"] == "session_required"


def test_an_answer_on_its_way_ends_and_leaves_nothing_behind(server: Server, llm: FakeLLM, settings: Settings) -> None:
    from chat.streaming import runner

    llm.says_words(
        "The semester contribution is 318.40 euros each semester [1]. It covers the semester ticket [1].",
        hold_before=12,
    )
    client = Client.begin(server)
    with client.stream_ask(QUESTION) as stream:
        stream.until("message_delta")
        assert client.delete("/api/v1/my-data").status == 204
        assert stream.rest()[-1]["type"] == "erased"
    assert llm.hung_up.wait(5)
    wait_until(lambda: not runner._running)
    assert not Message.objects.exists()
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as valkey:
        for key in valkey.scan_iter(f"marcelcms:*{stream.conversation}*"):
            assert key.startswith("marcelcms:gone:"), key


def test_a_deleted_conversation_is_gone_from_all_tabs(server: Server) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    with Tab(server, client.token) as tab:
        tab.resume(conversation=answer.conversation)
        tab.until("conversation")
        client.delete(f"/api/v1/conversations/{answer.conversation}")
        told = tab.until("conversation_deleted")[-1]
        assert told == {"type": "conversation_deleted", "seq": None, "conversation": answer.conversation}
        tab.ask("And the library?", conversation=answer.conversation)
        assert tab.refused()["code"] == "not_found"
        tab.resume(conversation=answer.conversation, after=answer.end["seq"])
        assert tab.until("conversation")[-1]["messages"] == []
    assert not Message.objects.exists()


def test_where_the_broker_is_away_nothing_is_half_deleted(server: Server, settings: Settings) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    url = settings.REDIS_URL
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    assert client.delete(f"/api/v1/conversations/{answer.conversation}").status == 503
    assert client.delete("/api/v1/my-data").status == 503
    settings.REDIS_URL = url
    assert len(json.loads(client.get("/api/v1/my-data").body)["conversations"]) == 1
    assert client.delete("/api/v1/my-data").status == 204
