"""The public API over HTTP, as any client sees it."""

import http.client
import json
import uuid
from typing import Any

import pytest
from pytest_django import Settings

from chat.models import Conversation, Feedback, Message, Visitor
from tests.chat.api_client import Client, Reply
from tests.conftest import QUESTION
from tests.factories import AssistantFactory, SiteFactory
from tests.fakes.llm import FakeLLM
from tests.servers import Server

pytestmark = pytest.mark.usefixtures("pages")


def is_problem(reply: Reply, status: int, code: str) -> bool:
    assert reply.status == status, reply
    assert reply.headers["content-type"] == "application/problem+json"
    assert {"type", "title", "status", "detail", "code"} <= set(reply.json)
    assert (reply.json["status"], reply.json["code"]) == (status, code)
    return bool(reply.json["detail"].strip())


# --- before consent ---


def test_the_assistant_introduces_itself_without_storing_anything(server: Server) -> None:
    assistant = AssistantFactory(
        name="Lindi",
        welcome="Hello",
        welcome_de="Hallo",
        suggestions="One?\n\nTwo?",
        contact_name="Office",
        contact_email="office@uni.example",
    )
    site = SiteFactory(
        assistant=assistant, accent="#8a1f1f", position="left", greeting="Hi", privacy_url="https://u.example/p"
    )
    reply = Client(server).get(f"/api/v1/assistant?site={site.public_id}")
    assert reply.status == 200
    assert reply.json == {
        "site": site.public_id,
        "assistant": {"name": "Lindi", "institution": assistant.institution, "languages": ["en", "de"]},
        "welcome": {"en": "Hello", "de": "Hallo"},
        "suggestions": {"en": ["One?", "Two?"], "de": ["One?", "Two?"]},
        "theme": {"accent": "#8a1f1f", "position": "left", "logo": "", "greeting": {"en": "Hi", "de": "Hi"}},
        "contact": {"name": "Office", "url": "", "email": "office@uni.example"},
        "offices": False,
        "mails": False,
        "limits": {"question_characters": 2000},
        "retention_days": 90,
        "writes": False,
        "privacy_url": "https://u.example/p",
    }
    assert "set-cookie" not in reply.headers
    assert not Visitor.objects.exists()


def test_without_a_site_there_is_this_servers_own_page(server: Server) -> None:
    assert Client(server).get("/api/v1/assistant").json["site"] == ""
    site = SiteFactory(is_default=True)
    assert Client(server).get("/api/v1/assistant").json["site"] == site.public_id


def test_a_site_that_is_none_or_switched_off_is_not_served(server: Server) -> None:
    client = Client(server)
    off = SiteFactory(is_active=False)
    for site in ("nonsense", off.public_id, "%00", "a" * 32):
        assert is_problem(client.get(f"/api/v1/assistant?site={site}"), 404, "unknown_site")
    begin = client.post("/api/v1/session", {"consent": True, "site": off.public_id})
    assert is_problem(begin, 404, "unknown_site")
    assert not Visitor.objects.exists()


# --- consent ---


@pytest.mark.parametrize("consent", [{}, {"consent": False}, {"consent": None}, {"consent": "true"}, {"consent": 1}])
def test_without_consent_no_visitor_is_made(server: Server, consent: dict[str, Any]) -> None:
    reply = Client(server).post("/api/v1/session", consent)
    assert is_problem(reply, 422, "invalid")
    assert reply.json["errors"][0]["field"] == "body.data.consent"
    assert not Visitor.objects.exists()


def test_nothing_but_the_assistant_is_there_without_a_session(server: Server) -> None:
    client = Client(server)
    for method, path in client.operations():
        if path in {"/api/v1/assistant", "/api/v1/session"}:
            continue
        for token in ("", "nonsense", "a:b:c"):
            reply = Client(server, token).call(method, path.format(conversation=uuid.uuid4(), message=1, case=1), {})
            assert is_problem(reply, 401, "session_required"), (method, path)
            assert reply.headers["www-authenticate"] == "Bearer"


def test_a_session_is_short_and_renewed_for_the_same_visitor(server: Server, settings: Settings) -> None:
    client = Client.begin(server)
    assert client.session["expires_in"] == 3600
    client.ask(QUESTION)
    settings.SESSION_TOKEN_SECONDS = -1
    assert is_problem(client.get("/api/v1/conversations"), 401, "session_expired")
    settings.SESSION_TOKEN_SECONDS = 60
    renewed = Client.begin(server, token=client.token)
    assert len(renewed.get("/api/v1/conversations").json) == 1
    settings.RETENTION_DAYS = 0
    Client.begin(server, token=renewed.token)
    assert Visitor.objects.count() == 2


def test_a_session_is_for_one_site(server: Server) -> None:
    one, other = SiteFactory(), SiteFactory()
    client = Client.begin(server, site=one.public_id)
    Client.begin(server, site=one.public_id, token=client.token)
    assert Visitor.objects.count() == 1
    Client.begin(server, site=other.public_id, token=client.token)
    Client.begin(server, token=client.token)
    assert Visitor.objects.count() == 3


def test_a_site_that_is_switched_off_ends_its_sessions(server: Server) -> None:
    site = SiteFactory()
    client = Client.begin(server, site=site.public_id)
    site.is_active = False
    site.save()
    assert is_problem(client.get("/api/v1/conversations"), 404, "unknown_site")


def test_a_conversation_is_with_the_assistant_of_its_site(server: Server) -> None:
    AssistantFactory()
    site = SiteFactory()
    Client.begin(server, site=site.public_id).ask(QUESTION)
    assert Conversation.objects.get().assistant == site.assistant


# --- conversations ---


def test_conversations_are_listed_named_after_their_first_question_and_renamed(server: Server) -> None:
    client = Client.begin(server)
    client.ask(QUESTION)
    long = "How much is   the semester\ncontribution " + "and what does it cover, please, in detail, " * 3
    second = client.ask(long).conversation
    listed = client.get("/api/v1/conversations").json
    assert [row["title"] for row in listed][1] == QUESTION
    assert listed[0]["title"].startswith("How much is the semester contribution and")
    assert listed[0]["title"].endswith(" …")
    assert len(listed[0]["title"]) < 90
    assert listed[0]["messages"] == 2

    reply = client.patch(f"/api/v1/conversations/{second}", {"title": " The\x00 fee  🎓 "})
    assert (reply.status, reply.json) == (200, {"id": second, "title": "The fee 🎓"})
    assert client.get(f"/api/v1/conversations/{second}").json["title"] == "The fee 🎓"
    for title in ("", "   ", "\x00", "x" * 201, None, 5, ["x"]):
        assert client.patch(f"/api/v1/conversations/{second}", {"title": title}).status == 422
    assert client.get("/api/v1/conversations").json[0]["title"] == "The fee 🎓"


def test_a_deleted_conversation_is_gone_with_all_that_belongs_to_it(server: Server, settings: Settings) -> None:
    import redis

    client = Client.begin(server)
    answer = client.ask(QUESTION)
    client.put(f"/api/v1/messages/{answer.message}/feedback", {"value": 1})
    with redis.Redis.from_url(settings.REDIS_URL) as valkey:
        assert valkey.exists(f"marcelcms:log:{answer.conversation}")
        assert client.delete(f"/api/v1/conversations/{answer.conversation}").status == 204
        assert not valkey.exists(f"marcelcms:log:{answer.conversation}", f"marcelcms:seq:{answer.conversation}")
    assert not Conversation.objects.exists()
    assert not Message.objects.exists()
    assert not Feedback.objects.exists()
    for reply in (
        client.get(f"/api/v1/conversations/{answer.conversation}"),
        client.get(f"/api/v1/conversations/{answer.conversation}/events"),
        client.delete(f"/api/v1/conversations/{answer.conversation}"),
        client.post(
            f"/api/v1/conversations/{answer.conversation}/ask", {"client_id": str(uuid.uuid4()), "text": "Fee?"}
        ),
    ):
        assert is_problem(reply, 404, "not_found")
    assert client.get("/api/v1/conversations").json == []


def test_a_conversation_deleted_in_the_middle_of_an_answer_stays_deleted(
    server: Server, llm: FakeLLM, settings: Settings
) -> None:
    import redis

    llm.says_words(
        "The semester contribution is 318.40 euros each semester [1]. It covers the semester ticket [1].",
        hold_before=12,
    )
    client = Client.begin(server)
    with client.stream_ask(QUESTION) as stream:
        stream.until("message_delta")
        assert client.delete(f"/api/v1/conversations/{stream.conversation}").status == 204
        assert stream.until("conversation_deleted")[-1]["conversation"] == stream.conversation
    assert llm.hung_up.wait(5)
    with redis.Redis.from_url(settings.REDIS_URL) as valkey:
        assert not valkey.exists(f"marcelcms:log:{stream.conversation}")
    assert not Message.objects.exists()


# --- opinions ---


def test_feedback_is_a_thumb_with_reasons_and_a_comment(server: Server) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    path = f"/api/v1/messages/{answer.message}/feedback"
    given = {
        "value": -1,
        "reasons": ["outdated", "other", "outdated"],
        "comment": " Last year's\x00\x1b fee.\r\n<b>Wrong</b> ",
    }
    assert client.put(path, given).status == 204
    saved = Feedback.objects.get()
    assert (saved.value, saved.reasons, saved.comment) == (-1, ["outdated", "other"], "Last year's fee.\n<b>Wrong</b>")
    shown = client.get(f"/api/v1/conversations/{answer.conversation}").json["messages"][-1]
    assert (shown["feedback"], shown["feedback_reasons"]) == (-1, ["outdated", "other"])
    assert client.put(path, {"value": 0}).status == 204
    assert not Feedback.objects.exists()


@pytest.mark.parametrize(
    "given",
    [
        *({"value": value} for value in (999_999, -5, 2, True, "1", 1.5, None, [1], 10**40)),
        {"value": -1, "reasons": ["ugly"]},
        {"value": -1, "reasons": "wrong"},
        {"value": -1, "reasons": [["wrong"]]},
        {"value": -1, "comment": "x" * 1001},
        {"value": -1, "comment": 5},
        {},
    ],
)
def test_what_is_no_feedback_is_refused(server: Server, given: dict[str, Any]) -> None:
    client = Client.begin(server)
    answer = client.ask(QUESTION)
    assert client.put(f"/api/v1/messages/{answer.message}/feedback", given).status == 422
    assert not Feedback.objects.exists()


def test_a_conversation_is_rated_with_one_to_five_stars_and_the_rating_is_kept(server: Server) -> None:
    client = Client.begin(server)
    path = f"/api/v1/conversations/{client.ask(QUESTION).conversation}"
    for stars in (999_999, -5, 0, 6, True, "5", 4.5, None, [5]):
        assert client.put(f"{path}/rating", {"stars": stars}).status == 422
    assert client.get(path).json["stars"] is None
    for stars in (2, 5):
        assert client.put(f"{path}/rating", {"stars": stars}).status == 204
        assert client.get(path).json["stars"] == stars


# --- errors ---


def test_every_error_is_a_problem(server: Server) -> None:
    client = Client.begin(server)
    assert is_problem(client.get("/api/v1/nonsense"), 404, "not_found")
    assert is_problem(client.get("/api/v1/docs"), 404, "not_found")
    wrong_method = client.post("/api/v1/conversations", {})
    assert is_problem(wrong_method, 405, "method_not_allowed")
    assert "GET" in wrong_method.headers["allow"]
    assert is_problem(client.call("POST", "/api/v1/session", raw=b"{"), 400, "bad_request")
    assert is_problem(client.call("POST", "/api/v1/session", raw=b"[" * 60_000), 400, "bad_request")
    assert is_problem(client.call("POST", "/api/v1/session", raw=b"\xff"), 400, "bad_request")
    assert is_problem(client.get("/api/v1/conversations/5"), 422, "invalid")
    big = {"client_id": str(uuid.uuid4()), "text": "x" * 5_000_000}
    assert is_problem(client.post(f"/api/v1/conversations/{uuid.uuid4()}/ask", big), 413, "too_large")
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    ("text", "code"),
    [(" ", "empty_question"), ("?!", "no_words"), ("x" * 2001, "invalid"), (5, "invalid"), (None, "invalid")],
)
def test_a_question_that_is_none_is_a_problem_in_the_visitors_language(server: Server, text: object, code: str) -> None:
    client = Client.begin(server)
    body = {"client_id": str(uuid.uuid4()), "text": text}
    path = f"/api/v1/conversations/{uuid.uuid4()}/ask"
    english = client.post(path, body)
    german = client.call("POST", path, body, headers={"Accept-Language": "de"})
    assert is_problem(english, 422, code)
    assert is_problem(german, 422, code)
    if code != "invalid":
        assert english.json["detail"] != german.json["detail"]
    assert str(text) not in json.dumps(english.json) or not str(text).strip("?! x5")
    assert not Message.objects.exists()


def test_what_is_away_is_said_with_when_to_come_back(server: Server, settings: Settings) -> None:
    client = Client.begin(server)
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    reply = client.post(f"/api/v1/conversations/{uuid.uuid4()}/ask", {"client_id": str(uuid.uuid4()), "text": "Fee?"})
    assert is_problem(reply, 503, "unavailable")
    assert int(reply.headers["retry-after"]) > 0


# --- limits ---


@pytest.fixture
def _half_past(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chat.sites.rate_limits.time.time", lambda: 1_000_000_000 * 60 + 15)


@pytest.mark.usefixtures("_half_past")
@pytest.mark.parametrize(
    "limit", ["QUESTIONS_PER_MINUTE", "QUESTIONS_PER_MINUTE_AND_ADDRESS", "QUESTIONS_PER_MINUTE_AND_SITE"]
)
def test_too_many_questions_are_told_when_to_go_on(server: Server, settings: Settings, limit: str) -> None:
    site = SiteFactory()
    _forget_counts(settings)
    setattr(settings, limit, 2)
    client, other = Client.begin(server, site=site.public_id), Client.begin(server, site=site.public_id)
    elsewhere = Client.begin(server)
    client.ask(QUESTION)
    client.ask(QUESTION)
    reply = client.post(f"/api/v1/conversations/{uuid.uuid4()}/ask", {"client_id": str(uuid.uuid4()), "text": QUESTION})
    assert is_problem(reply, 429, "too_many_questions")
    assert reply.headers["retry-after"] == "45"
    assert reply.json["retry_after"] == 45
    if limit == "QUESTIONS_PER_MINUTE":
        other.ask(QUESTION)
    if limit != "QUESTIONS_PER_MINUTE_AND_ADDRESS":
        elsewhere.ask(QUESTION)
    _forget_counts(settings)


@pytest.mark.usefixtures("_half_past")
def test_an_address_begins_only_so_many_sessions(server: Server, settings: Settings) -> None:
    _forget_counts(settings)
    settings.SESSIONS_PER_MINUTE_AND_ADDRESS = 2
    Client.begin(server)
    Client.begin(server)
    reply = Client(server).post("/api/v1/session", {"consent": True})
    assert is_problem(reply, 429, "too_many_sessions")
    assert reply.headers["retry-after"] == "45"
    assert Visitor.objects.count() == 2
    _forget_counts(settings)


def test_no_address_is_kept_anywhere(server: Server, settings: Settings) -> None:
    import redis

    Client.begin(server).ask(QUESTION)
    with redis.Redis.from_url(settings.REDIS_URL, decode_responses=True) as valkey:
        assert not [key for key in valkey.scan_iter("marcelcms:*") if "127.0.0.1" in key]


@pytest.mark.usefixtures("_half_past")
def test_past_the_models_budget_pages_are_quoted_and_it_is_said(
    server: Server, llm: FakeLLM, settings: Settings
) -> None:
    _forget_counts(settings)
    settings.LLM_ANSWERS_PER_MINUTE = 1
    client = Client.begin(server)
    assert client.ask(QUESTION).end["strategy"] == "generated"
    hello = client.ask("Hello!")
    assert hello.end["strategy"] == "fixed"
    quoted = client.ask(QUESTION)
    assert (quoted.end["status"], quoted.end["strategy"], quoted.end["notice"]) == ("complete", "extractive", "busy")
    assert "318.40" in quoted.text
    assert len(llm.requests) == 1
    _forget_counts(settings)


def _forget_counts(settings: Settings) -> None:
    import redis

    with redis.Redis.from_url(settings.REDIS_URL) as valkey:
        for pattern in ("asked", "begun", "written"):
            for key in valkey.scan_iter(f"marcelcms:{pattern}*"):
                valkey.delete(key)


# --- what is documented ---


def test_the_documentation_is_whole(server: Server) -> None:
    document = Client(server).get("/api/v1/openapi.json").json
    operations = [(method, path, each) for path, named in document["paths"].items() for method, each in named.items()]
    assert len(operations) == 24
    for method, path, operation in operations:
        assert operation["summary"], path
        for status, reply in operation["responses"].items():
            if int(status) >= 400:
                assert list(reply["content"]) == ["application/problem+json"], (method, path)
        if path not in {"/api/v1/assistant", "/api/v1/session"}:
            assert operation["security"], path
    for name in ("AssistantInfo", "SessionRequest", "Question", "FeedbackGiven", "RatingGiven", "Title", "Problem"):
        assert document["components"]["schemas"][name]["example"], name


def test_a_head_or_options_request_of_a_program_does_no_harm(server: Server) -> None:
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=5)
    for method in ("HEAD", "OPTIONS", "TRACE"):
        connection.request(method, "/api/v1/my-data")
        response = connection.getresponse()
        response.read()
        assert response.status in {401, 405}
    connection.close()
