"""What is refused below /v1/, in OpenAI's form: wrong keys, other assistants, limits, broken and huge requests."""

import json
from datetime import date, timedelta
from typing import Any

import pytest
from django.utils import timezone

from chat.models import APIClient, Assistant, Message
from chat.openai_api.requests import MOST_BYTES
from knowledge.indexing.documents import sync_pending
from knowledge.models import Document, Passage
from tests.chat.api_client import Client, Reply
from tests.chat.connected import assistant_of, connect
from tests.conftest import PAGES, QUESTION, load_pages
from tests.servers import Server

CHAT = "/v1/chat/completions"
ASKED = {"model": "study", "messages": [{"role": "user", "content": QUESTION}]}


@pytest.fixture
def assistant(pages: None) -> Assistant:
    return assistant_of("site")


@pytest.fixture
def connected(assistant: Assistant) -> tuple[APIClient, str]:
    return connect(assistant)


@pytest.fixture
def program(server: Server, connected: tuple[APIClient, str]) -> Client:
    return Client(server, connected[1])


def refused(reply: Reply, status: int, code: str | None) -> dict[str, Any]:
    """Return the error of a reply, which must have OpenAI's form."""
    assert reply.status == status, reply
    assert set(reply.json) == {"error"}
    error: dict[str, Any] = reply.json["error"]
    assert set(error) == {"message", "type", "param", "code"}
    assert error["code"] == code, error
    assert error["message"].strip()
    return error


@pytest.mark.parametrize("key", ["", "mk-", "mk-00000000-x", "marcel_x", "a b", "x" * 5000])
@pytest.mark.parametrize(("method", "path"), [("POST", CHAT), ("GET", "/v1/models"), ("GET", "/v1/models/study")])
def test_a_wrong_key_opens_nothing(program: Client, key: str, method: str, path: str) -> None:
    program.token = key
    reply = program.call(method, path, ASKED if method == "POST" else None)
    refused(reply, 401, "invalid_api_key")
    assert reply.headers["www-authenticate"] == "Bearer"


def test_a_key_with_another_ending_opens_nothing(program: Client) -> None:
    program.token = program.token[:-1] + ("A" if program.token[-1] != "A" else "B")
    refused(program.post(CHAT, ASKED), 401, "invalid_api_key")


def test_the_database_does_not_hold_the_key(connected: tuple[APIClient, str]) -> None:
    client, key = connected
    stored = str(APIClient.objects.values().get())
    assert key not in stored
    assert key.removeprefix(client.key_id)[1:] not in stored


@pytest.mark.parametrize(
    "change",
    [{"is_active": False}, {"last_day": timezone.localdate() - timedelta(days=1)}],
    ids=["revoked", "expired"],
)
def test_a_key_that_is_revoked_or_over_is_refused_at_once(
    program: Client, connected: tuple[APIClient, str], change: dict[str, Any]
) -> None:
    assert program.post(CHAT, ASKED).status == 200
    APIClient.objects.filter(pk=connected[0].pk).update(**change)
    refused(program.post(CHAT, ASKED), 401, "invalid_api_key")
    refused(program.get("/v1/models"), 401, "invalid_api_key")


def test_a_key_works_on_its_last_day(program: Client, connected: tuple[APIClient, str]) -> None:
    APIClient.objects.filter(pk=connected[0].pk).update(last_day=timezone.localdate())
    assert program.get("/v1/models").status == 200


def test_a_deleted_key_is_refused(program: Client, connected: tuple[APIClient, str]) -> None:
    connected[0].delete()
    refused(program.post(CHAT, ASKED), 401, "invalid_api_key")


def test_a_key_needs_the_scope(program: Client, connected: tuple[APIClient, str]) -> None:
    APIClient.objects.filter(pk=connected[0].pk).update(scopes=["search"])
    refused(program.post(CHAT, ASKED), 403, "insufficient_scope")
    refused(program.get("/v1/models"), 403, "insufficient_scope")


def test_its_use_is_noted(program: Client, connected: tuple[APIClient, str]) -> None:
    assert connected[0].last_used_at is None
    program.get("/v1/models")
    assert APIClient.objects.get().last_used_at is not None


def test_another_assistant_looks_like_one_that_is_not_there(server: Server, program: Client) -> None:
    load_pages([{**PAGES[0], "url": "https://www.uni.example/secret", "title": "Secret"}], collection="law")
    others = assistant_of("law", slug="law")
    _client, key = connect(others)
    said = [
        refused(each.post(CHAT, {**ASKED, "model": model}), 404, "model_not_found")["message"].replace(model, "…")
        for each, model in ((program, "law"), (program, "nowhere"), (Client(server, key), "study"))
    ]
    assert len(set(said)) == 1
    refused(program.get("/v1/models/law"), 404, "model_not_found")
    for model in ("", "\0", "a" * 10_000):
        refused(program.post(CHAT, {**ASKED, "model": model}), 404, "model_not_found")
    assert not Message.objects.exists()


def test_what_students_may_not_see_is_never_returned(program: Client) -> None:
    load_pages([{**PAGES[0], "url": "https://www.uni.example/secret", "title": "Secret"}], collection="law")
    whole = program.post(CHAT, ASKED).json["choices"][0]["message"]
    assert {each["title"] for each in whole["citations"]} == {"Fees"}
    Passage.objects.filter(document__title="Fees").update(is_withheld=True)
    assert "318.40" not in program.post(CHAT, ASKED).body.decode()
    Passage.objects.update(is_withheld=False)
    for hidden in ({"status": Document.Status.DRAFT}, {"status": Document.Status.ARCHIVED}):
        Document.objects.filter(title="Fees").update(**hidden)
        assert "318.40" not in program.post(CHAT, ASKED).body.decode()
    over = Document.objects.get(title="Fees")
    over.status, over.valid_until = Document.Status.PUBLISHED, date(2001, 1, 1)
    over.save()
    sync_pending()
    assert "318.40" not in program.post(CHAT, ASKED).body.decode()


def test_pages_for_other_readers_are_not_returned_to_those_who_say_who_they_are(program: Client) -> None:
    text = "# Fee of the programme\n\nThe fee of the programme is {} euros each semester."
    for degree, fee in (("bachelor", 111), ("master", 222)):
        metadata = {"audience": [f"degree:{degree}"]}
        page = {"url": f"https://www.uni.example/{degree}", "title": f"Fee {fee}", "text": text.format(fee)}
        load_pages([page])
        Document.objects.filter(url=page["url"]).update(audience=metadata["audience"])
    asked = "What is the fee of the programme for the master?"
    reply = program.post(CHAT, {"model": "study", "messages": [{"role": "user", "content": asked}]})
    assert "222" in reply.body.decode()
    assert "111" not in reply.body.decode()


def test_past_its_limit_a_program_waits(program: Client, connected: tuple[APIClient, str]) -> None:
    APIClient.objects.filter(pk=connected[0].pk).update(per_minute=2)
    statuses = [program.post(CHAT, ASKED) for _ in range(5)]
    assert sum(reply.status == 200 for reply in statuses) in {2, 3, 4}  # a minute may end meanwhile
    limited = next(reply for reply in statuses if reply.status != 200)
    refused(limited, 429, "rate_limit_exceeded")
    assert 0 < int(limited.headers["retry-after"]) <= 60


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"{", "invalid_json"),
        (b"", "invalid_json"),
        (b"\xff\xfe", "invalid_json"),
        (b"[]", None),
        (b"{}", None),
        (b'{"model": "study", "messages": []}', None),
        (b'{"model": "study", "messages": "x"}', None),
        (b'{"model": "study", "messages": [{"role": "user", "content": 1}]}', None),
        (b'{"model": 1, "messages": [{"role": "user", "content": "x"}]}', None),
        (b'{"model": "study", "n": 2, "messages": [{"role": "user", "content": "fee"}]}', None),
    ],
)
def test_broken_requests_are_refused(program: Client, body: bytes, code: str | None) -> None:
    refused(program.call("POST", CHAT, raw=body), 400, code)


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([{"role": "system", "content": QUESTION}], "no_question"),
        ([{"role": "user", "content": QUESTION}, {"role": "assistant", "content": "Hello"}], "no_question"),
        ([{"role": "user", "content": ""}], "empty_question"),
        ([{"role": "user", "content": None}], "empty_question"),
        ([{"role": "user", "content": "?!"}], "no_words"),
        ([{"role": "user", "content": "fee " * 600}], "context_length_exceeded"),
        ([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:x"}}]}], None),
    ],
)
def test_what_cannot_be_looked_up_is_refused(program: Client, messages: Any, code: str | None) -> None:
    error = refused(program.post(CHAT, {"model": "study", "messages": messages}), 400, code)
    assert error["param"] == "messages"
    assert not Message.objects.exists()


def test_a_refusal_names_no_words_of_the_request(program: Client) -> None:
    body = {"model": "study", "messages": [{"role": "user", "content": {"secret": "my diagnosis"}}]}
    assert "diagnosis" not in program.post(CHAT, body).body.decode()


def test_huge_bodies_are_refused(program: Client) -> None:
    body = json.dumps({**ASKED, "messages": [{"role": "user", "content": "a" * MOST_BYTES}]}).encode()
    refused(program.call("POST", CHAT, raw=body), 413, "request_too_large")


def test_of_many_messages_only_the_last_are_read(program: Client) -> None:
    said = [
        {"role": role, "content": "When is the library open?"} for _ in range(6_000) for role in ("user", "assistant")
    ]
    body = {"model": "study", "messages": [*said, {"role": "user", "content": QUESTION}]}
    message = program.post(CHAT, body).json["choices"][0]["message"]
    assert message["citations"][0]["title"] == "Fees"
    assert Message.objects.count() == 2


def test_other_addresses_and_methods_answer_in_the_same_form(program: Client) -> None:
    for path in ("/v1/", "/v1/embeddings", "/v1/models/"):
        refused(program.get(path), 404, "unknown_url")
    refused(program.get(CHAT), 405, "wrong_method")
    refused(program.post("/v1/models", {}), 405, "wrong_method")


def test_a_browser_of_another_origin_is_not_told_that_it_may_read(program: Client) -> None:
    program.origin = "https://evil.example"
    reply = program.post(CHAT, ASKED)
    assert "access-control-allow-origin" not in reply.headers


def test_a_refusal_is_in_the_callers_language(program: Client) -> None:
    program.token = "x"
    reply = program.call("GET", "/v1/models", headers={"Accept-Language": "de"})
    assert "Schlüssel" in refused(reply, 401, "invalid_api_key")["message"]
