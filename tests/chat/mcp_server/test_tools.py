"""Assistants as tools, called with the protocol's own client over real HTTP."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import httpx2
import pytest
from django.utils import timezone
from mcp.client import Client as MCPClient
from mcp.client.streamable_http import streamable_http_client

from chat.mcp_server.server import MOST_BYTES
from chat.models import APIClient, Assistant, Conversation, Message
from knowledge.models import Document, Passage
from tests.chat.api_client import Client
from tests.chat.connected import assistant_of, connect
from tests.conftest import PAGES, QUESTION, load_pages
from tests.fakes.llm import FakeLLM
from tests.servers import Server

pytestmark = pytest.mark.slow

TEXT = "The semester contribution is 318.40 euros each semester [1]."
NONSENSE = "Which wavelength do lighthouse keepers on Neptune prefer?"
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
JSON = {"Accept": "application/json, text/event-stream"}


class Program:
    """A program that speaks the protocol, in a new session each time."""

    def __init__(self, server: Server, key: str) -> None:
        self.address, self.key = f"{server.origin}/mcp", key

    def does(self, act: Callable[[MCPClient], Awaitable[Any]], *, mode: str = "auto") -> Any:
        async def within() -> Any:
            headers = {"Authorization": f"Bearer {self.key}"}
            async with httpx2.AsyncClient(headers=headers, trust_env=False, timeout=30) as http:
                transport = streamable_http_client(self.address, http_client=http)
                async with MCPClient(transport, mode=mode) as client:
                    return await act(client)

        return asyncio.run(within())

    def tools(self) -> dict[str, Any]:
        listed: Any = self.does(lambda client: client.list_tools())
        return {tool.name: tool for tool in listed.tools}

    def calls(self, name: str, **arguments: Any) -> Any:
        return self.does(lambda client: client.call_tool(name, arguments))


@pytest.fixture
def assistant(pages: None) -> Assistant:
    return assistant_of("site", contact_name="Registrar", contact_email="help@uni.example")


@pytest.fixture
def connected(assistant: Assistant) -> tuple[APIClient, str]:
    return connect(assistant)


@pytest.fixture
def program(server: Server, connected: tuple[APIClient, str]) -> Program:
    return Program(server, connected[1])


def test_a_key_lists_what_it_may_do(program: Program, connected: tuple[APIClient, str]) -> None:
    tools = program.tools()
    assert set(tools) == {"ask", "search"}
    assert tools["ask"].input_schema["required"] == ["question"]
    assert tools["ask"].input_schema["properties"]["assistant"]["enum"] == ["study"]
    APIClient.objects.update(scopes=["search"])
    assert set(program.tools()) == {"search"}


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_an_answer_has_its_citations(program: Program, llm: FakeLLM, mode: str) -> None:
    llm.says(TEXT)
    result = program.does(lambda client: client.call_tool("ask", {"question": QUESTION}), mode=mode)
    data: Any = result.structured_content
    assert not result.is_error
    assert data["answer"].startswith(TEXT)
    assert (data["abstained"], data["machine_made"]) == (False, True)
    (cited,) = data["citations"]
    assert (cited["n"], cited["title"]) == (1, "Fees")
    assert cited["url"].startswith("https://www.uni.example/fees")
    assert "318.40" in cited["quote"]
    assert result.content[0].text == data["answer"]


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_who_asks_for_progress_reads_the_answer_as_it_is_written(program: Program, llm: FakeLLM, mode: str) -> None:
    llm.says_words(f"{TEXT} It covers the semester ticket [1].", hold_before=14)
    heard: list[tuple[float, str]] = []

    async def hear(progress: float, _total: float | None, message: str | None) -> None:
        heard.append((progress, message or ""))
        llm.release()

    async def ask(client: MCPClient) -> Any:
        return await client.call_tool("ask", {"question": QUESTION}, progress_callback=hear)

    data: Any = program.does(ask, mode=mode).structured_content
    assert len(heard) > 2
    assert "".join(message for _progress, message in heard) == data["answer"]
    assert [progress for progress, _message in heard] == sorted({progress for progress, _message in heard})
    assert data["citations"][0]["url"].startswith("https://www.uni.example/fees")


def test_a_program_that_takes_no_stream_gets_the_whole(
    server: Server, connected: tuple[APIClient, str], llm: FakeLLM
) -> None:
    llm.says(TEXT)
    call = {"name": "ask", "arguments": {"question": QUESTION}, "_meta": {"progressToken": "a"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    reply = Client(server, connected[1]).call("POST", "/mcp", body, headers={"Accept": "application/json"})
    assert json.loads(reply.body)["result"]["structuredContent"]["answer"].startswith(TEXT)


def test_it_is_counted_like_any_question(program: Program, connected: tuple[APIClient, str]) -> None:
    program.calls("ask", question=QUESTION)
    assert Conversation.objects.get().visitor == connected[0].visitor
    program.calls("search", query=QUESTION)
    assert Message.objects.count() == 2


def test_an_abstention_says_so(program: Program) -> None:
    data: Any = program.calls("ask", question=NONSENSE).structured_content
    assert data["abstained"] is True
    assert data["citations"] == []
    assert "help@uni.example" in data["answer"]


def test_a_search_returns_passages(program: Program) -> None:
    result = program.calls("search", query=QUESTION, limit=2)
    passages = result.structured_content["passages"]
    assert len(passages) <= 2
    assert passages[0] == {
        "title": "Fees",
        "heading": "Semester contribution",
        "url": "https://www.uni.example/fees",
        "page": None,
        "text": passages[0]["text"],
    }
    assert "318.40 euros" in passages[0]["text"]
    assert "318.40 euros" in result.content[0].text


def test_what_students_may_not_see_is_not_found(program: Program) -> None:
    load_pages([{**PAGES[0], "url": "https://www.uni.example/secret", "title": "Secret"}], collection="law")
    assert "Secret" not in str(program.calls("search", query=QUESTION, limit=10))
    Passage.objects.filter(document__title="Fees").update(is_withheld=True)
    assert "318.40" not in str(program.calls("search", query=QUESTION, limit=10))
    Passage.objects.update(is_withheld=False)
    Document.objects.filter(title="Fees").update(status=Document.Status.DRAFT)
    assert "318.40" not in str(program.calls("search", query=QUESTION, limit=10))


def test_another_assistant_is_not_reached(server: Server, program: Program) -> None:
    load_pages([{**PAGES[0], "url": "https://www.uni.example/secret", "title": "Secret"}], collection="law")
    assistant_of("law", slug="law")
    for name, arguments in (("ask", {"question": QUESTION}), ("search", {"query": QUESTION})):
        for slug in ("law", "nowhere", "", "\0", 7, ["study"]):
            result = program.calls(name, assistant=slug, **arguments)
            assert result.is_error
            assert result.content[0].text == "There is no such assistant for this key."
    assert not Message.objects.exists()


def test_with_several_assistants_one_must_be_named(
    server: Server, connected: tuple[APIClient, str], program: Program
) -> None:
    connected[0].assistants.add(assistant_of("site", slug="other"))
    assert program.tools()["search"].input_schema["required"] == ["query", "assistant"]
    assert "other, study" in program.calls("search", query=QUESTION).content[0].text
    assert not program.calls("search", query=QUESTION, assistant="other").is_error


@pytest.mark.parametrize(("scope", "name"), [("ask", "search"), ("search", "ask")])
def test_a_tool_needs_its_scope(program: Program, scope: str, name: str) -> None:
    APIClient.objects.update(scopes=[scope])
    result = program.calls(name, question=QUESTION, query=QUESTION)
    assert result.is_error
    assert "no such tool" in result.content[0].text


def test_past_its_limit_a_program_waits(program: Program) -> None:
    APIClient.objects.update(per_minute=1)
    results = [program.calls("search", query=QUESTION) for _ in range(4)]
    assert [result for result in results if result.is_error]
    assert not Message.objects.exists()


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        {"query": 7},
        {"query": ""},
        {"query": "?!"},
        {"query": "fee " * 600},
        {"query": QUESTION, "limit": 0},
        {"query": QUESTION, "limit": 11},
        {"query": QUESTION, "limit": True},
        {"query": QUESTION, "limit": "2"},
    ],
)
def test_wrong_arguments_are_told_to_the_model(program: Program, arguments: dict[str, Any]) -> None:
    result = program.calls("search", **arguments)
    assert result.is_error
    assert result.content[0].text.strip()


def post(server: Server, key: str, body: Any = LIST, *, origin: str | None = None, raw: bytes | None = None) -> int:
    client = Client(server, key, origin=origin)
    reply = client.call("POST", "/mcp", None if raw is not None else body, raw=raw, headers=JSON)
    assert b"Traceback" not in reply.body
    return reply.status


@pytest.mark.parametrize(
    "change",
    [{"is_active": False}, {"last_day": timezone.localdate() - timedelta(days=1)}],
    ids=["revoked", "expired"],
)
def test_a_key_that_is_revoked_or_over_is_refused(
    server: Server, connected: tuple[APIClient, str], change: dict[str, Any]
) -> None:
    assert post(server, connected[1]) == 200
    APIClient.objects.update(**change)
    assert post(server, connected[1]) == 401


@pytest.mark.parametrize("key", ["", "mk-", "mk-00000000-x", "x" * 5000])
def test_a_wrong_key_opens_nothing(server: Server, connected: tuple[APIClient, str], key: str) -> None:
    assert post(server, key) == 401
    assert post(server, connected[1][:-1]) == 401


def test_pages_of_other_origins_and_other_methods_are_refused(server: Server, connected: tuple[APIClient, str]) -> None:
    assert post(server, connected[1], origin="https://evil.example") == 403
    assert post(server, connected[1], origin=server.origin) == 200
    assert (
        Client(server, connected[1]).call("POST", "/mcp", LIST, headers={**JSON, "Host": "evil.example"}).status == 403
    )
    for method in ("GET", "DELETE", "PUT", "OPTIONS"):
        assert Client(server, connected[1]).call(method, "/mcp", headers=JSON).status == 405


def test_huge_and_broken_bodies_are_refused(server: Server, connected: tuple[APIClient, str]) -> None:
    key = connected[1]
    assert post(server, key, raw=json.dumps({**LIST, "params": {"x": "a" * MOST_BYTES}}).encode()) == 413
    for raw in (b"", b"{", b"[]", b"\xff", b'{"jsonrpc": "2.0"}', b"[" * 5000):
        assert 400 <= post(server, key, raw=raw) < 500
    assert post(server, key) == 200
