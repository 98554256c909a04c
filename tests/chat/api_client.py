"""A client of the public API over real HTTP, with server-sent events."""

import http.client
import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.servers import PATIENCE, Server


@dataclass
class Reply:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Stream:
    """Server-sent events as they come; `seen` is all of them."""

    def __init__(self, response: http.client.HTTPResponse, conversation: str) -> None:
        self.response, self.conversation = response, conversation
        self.seen: list[dict[str, Any]] = []
        self.ids: list[str] = []
        self.comments = 0

    def next(self) -> dict[str, Any] | None:
        """Return the next event; None at the end of the stream."""
        while line := self.response.readline():
            text = line.decode().rstrip("\n")
            if text.startswith(":"):
                self.comments += 1
            elif text.startswith("id: "):
                self.ids.append(text[4:])
            elif text.startswith("data: "):
                event: dict[str, Any] = json.loads(text[6:])
                self.seen.append(event)
                return event
        return None

    def until(self, *types: str) -> list[dict[str, Any]]:
        events: list[dict[str, Any]] = []
        while not events or events[-1]["type"] not in types:
            event = self.next()
            assert event is not None, f"ended without {types}: {[each['type'] for each in events]}"
            events.append(event)
        return events

    def rest(self) -> list[dict[str, Any]]:
        events = []
        while (event := self.next()) is not None:
            events.append(event)
        return events


@dataclass
class Asked:
    """An answer that was read to its end."""

    conversation: str
    events: list[dict[str, Any]] = field(default_factory=list)

    @property
    def start(self) -> dict[str, Any]:
        return next(event for event in self.events if event["type"] == "message_start")

    @property
    def message(self) -> int:
        return int(self.start["message"]["id"])

    @property
    def end(self) -> dict[str, Any]:
        return self.events[-1]

    @property
    def text(self) -> str:
        return "".join(event["text"] for event in self.events if event["type"] == "message_delta")


class Client:
    def __init__(self, server: Server, token: str = "", *, origin: str | None = None) -> None:
        self.server, self.token, self.origin = server, token, origin
        self.session: dict[str, Any] = {}

    @classmethod
    def begin(cls, server: Server, *, origin: str | None = None, **session: Any) -> "Client":
        """Begin a session as a visitor who agreed."""
        reply = cls(server, origin=origin).post("/api/v1/session", {"consent": True, **session})
        assert reply.status == 200, reply
        client = cls(server, reply.json["token"], origin=origin)
        client.session = reply.json
        return client

    def operations(self) -> list[tuple[str, str]]:
        """Return (method, path) of all that is documented."""
        paths = self.get("/api/v1/openapi.json").json["paths"]
        return [(method.upper(), path) for path, operations in paths.items() for method in operations]

    def get(self, path: str, **options: Any) -> Reply:
        return self.call("GET", path, **options)

    def post(self, path: str, body: object, **options: Any) -> Reply:
        return self.call("POST", path, body, **options)

    def put(self, path: str, body: object) -> Reply:
        return self.call("PUT", path, body)

    def patch(self, path: str, body: object) -> Reply:
        return self.call("PATCH", path, body)

    def delete(self, path: str) -> Reply:
        return self.call("DELETE", path)

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Reply:
        with self.open(method, path, body, raw=raw, headers=headers) as response:
            return Reply(response.status, lower(response), response.read())

    @contextmanager
    def open(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        raw: bytes | None = None,
        headers: dict[str, str] | None = None,
    ) -> Iterator[http.client.HTTPResponse]:
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=PATIENCE)
        sent = dict(headers or {})
        if self.token:
            sent["Authorization"] = f"Bearer {self.token}"
        if self.origin:
            sent["Origin"] = self.origin
        data = raw
        if body is not None or raw is not None:
            sent["Content-Type"] = "application/json"
            data = raw if raw is not None else json.dumps(body).encode()
        try:
            connection.request(method, path, data, sent)
            yield connection.getresponse()
        finally:
            connection.close()

    @contextmanager
    def stream(
        self, method: str, path: str, body: object = None, *, conversation: str, headers: dict[str, str] | None = None
    ) -> Iterator[Stream]:
        with self.open(method, path, body, headers=headers) as response:
            assert response.status == 200, (response.status, response.read())
            assert lower(response)["content-type"].startswith("text/event-stream")
            yield Stream(response, conversation)

    @contextmanager
    def stream_ask(
        self, text: str, *, conversation: str | None = None, client_id: str | None = None
    ) -> Iterator[Stream]:
        conversation = conversation or str(uuid.uuid4())
        body = {"client_id": client_id or str(uuid.uuid4()), "text": text}
        path = f"/api/v1/conversations/{conversation}/ask"
        with self.stream("POST", path, body, conversation=conversation) as stream:
            yield stream

    @contextmanager
    def stream_events(
        self, conversation: str, *, query: str = "", headers: dict[str, str] | None = None
    ) -> Iterator[Stream]:
        path = f"/api/v1/conversations/{conversation}/events{query}"
        with self.stream("GET", path, conversation=conversation, headers=headers) as stream:
            yield stream

    def ask(self, text: str, **ids: str) -> Asked:
        """Read the answer to its end."""
        with self.stream_ask(text, **ids) as stream:
            return Asked(stream.conversation, stream.rest())


def lower(response: http.client.HTTPResponse) -> dict[str, str]:
    return {name.lower(): value for name, value in response.getheaders()}
