"""The real ASGI application under uvicorn, and a visitor's tab that talks to it."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, Self

import uvicorn
from websockets.sync.client import ClientConnection
from websockets.sync.client import connect as connect_socket

from core import redis

ROOT = Path(__file__).resolve().parents[1]
PATIENCE = 15


def wait_until(condition: Callable[[], Any], seconds: float = PATIENCE) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


class Server:
    """An address that serves the application."""

    def __init__(self, port: int) -> None:
        self.port, self.origin = port, f"http://127.0.0.1:{port}"

    def post(self, path: str, data: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        """(status, JSON)."""
        request = urllib.request.Request(
            self.origin + path, json.dumps(data).encode(), {"Content-Type": "application/json"}, method="POST"
        )
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as response:
                return response.status, json.load(response)
        except urllib.error.HTTPError as error:
            with error:
                return error.code, json.load(error)

    def session(self, **data: Any) -> str:
        """Return a new visitor's token."""
        status, body = self.post("/api/v1/session", {"consent": True, **data})
        assert status == 200, body
        return str(body["token"])

    def connect(self, token: str | None = None, **session: Any) -> "Tab":
        """Return a tab with its token at hand, of a new visitor where none is given."""
        return Tab(self, self.session(**session) if token is None else token)


class Tab:
    """A websocket of one visitor. Its first frame carries the token, as the page's does; `seen` is all it got."""

    def __init__(self, server: Server, token: str, *, origin: str | None = None) -> None:
        self.server, self.token = server, token
        self.conversation = str(uuid.uuid4())
        self.seen: list[dict[str, Any]] = []
        self._open = ExitStack()
        self.socket: ClientConnection = self._open.enter_context(
            connect_socket(
                f"ws://127.0.0.1:{server.port}/ws/chat", origin=origin or server.origin, close_timeout=2, proxy=None
            )
        )
        self._token_due = bool(token)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._open.close()

    def drop(self) -> None:
        """Cut the network: no closing handshake."""
        self.socket.socket.shutdown(socket.SHUT_RDWR)
        self.close()

    def send(self, frame: dict[str, Any]) -> None:
        if self._token_due:
            frame, self._token_due = {**frame, "token": self.token}, False
        self.socket.send(json.dumps(frame))

    def ask(
        self, text: object, *, conversation: str | None = None, client_id: str | None = None, **extra: object
    ) -> str:
        """Send a question and return its client_id."""
        client_id = client_id or str(uuid.uuid4())
        frame = {"type": "ask", "text": text, "client_id": client_id}
        self.send({**frame, "conversation": conversation or self.conversation, **extra})
        return client_id

    def resume(self, *, after: int | None = None, conversation: str | None = None) -> None:
        self.send({"type": "resume", "conversation": conversation or self.conversation, "after": after})

    def next(self, seconds: float = PATIENCE) -> dict[str, Any]:
        event: dict[str, Any] = json.loads(self.socket.recv(timeout=seconds))
        self.seen.append(event)
        return event

    def until(self, *types: str) -> list[dict[str, Any]]:
        """Return the events up to and with the next one of these types."""
        events = []
        while not events or events[-1]["type"] not in types:
            try:
                events.append(self.next())
            except TimeoutError:
                raise AssertionError(f"no {types}, only {[event['type'] for event in events]}") from None
        return events

    def answer(self, text: str, **extra: object) -> "Answer":
        """Asks and waits for the last event of the answer."""
        self.ask(text, **extra)  # type: ignore[arg-type]
        return Answer(self.until("message_end"))

    def refused(self, frame: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send the frame, if any, and return the error that answers it."""
        if frame is not None:
            self.send(frame)
        error = self.next()
        assert error["type"] == "error", error
        assert error["detail"].strip()
        return error

    def quiet(self, seconds: float = 0.3) -> bool:
        """Nothing comes."""
        with suppress(TimeoutError):
            self.next(seconds)
            return False
        return True


class Answer:
    """The events of one answer, read."""

    def __init__(self, events: list[dict[str, Any]]) -> None:
        self.events = events
        self.types = [event["type"] for event in events]
        self.start = next(event for event in events if event["type"] == "message_start")
        self.end = events[-1]
        self.id: int = self.start["message"]["id"]
        self.text = "".join(event["text"] for event in events if event["type"] == "message_delta")
        self.errors = [event for event in events if event["type"] == "error"]
        self.cited = [event["source"] for event in events if event["type"] == "citation"]


@contextmanager
def server_in_thread() -> Iterator[Server]:
    """Shares this process's settings, test database and monkeypatches; use with a transactional database.

    Its loop lives as long as the block, and closes what belongs to it: model clients, Valkey connections.
    """
    before = os.environ.get("DATABASE_POOL")
    from marcelcms.asgi import application

    if before is None:  # asgi means it for web processes; this process starts others
        os.environ.pop("DATABASE_POOL", None)
    listening = socket.create_server(("127.0.0.1", 0))
    config = uvicorn.Config(
        application,
        loop="asyncio",
        ws="websockets-sansio",
        lifespan="off",
        log_config=None,
        timeout_graceful_shutdown=2,
        proxy_headers=False,
    )
    server = uvicorn.Server(config)

    async def serve() -> None:
        try:
            await server.serve(sockets=[listening])
        finally:
            await _close_what_belongs_to_the_loop()

    def run() -> None:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(serve())

    thread = threading.Thread(target=run, name="server")
    thread.start()
    try:
        wait_until(lambda: server.started or not thread.is_alive())
        yield Server(listening.getsockname()[1])
    finally:
        server.should_exit = True
        thread.join(PATIENCE)
        listening.close()


async def _close_what_belongs_to_the_loop() -> None:
    from django.conf import settings

    from core.inference.llm import client

    await redis.connections().aclose()
    if settings.LLM_BASE_URL:
        arguments = settings.LLM_BASE_URL, settings.LLM_API_KEY, settings.LLM_FIRST_TOKEN_SECONDS
        await client._client(*arguments, asyncio.get_running_loop()).close()


@contextmanager
def server_process(**environment: str) -> Iterator[Server]:
    """Return a process of its own on this process's test database, as `make run` starts it."""
    from django.db import connection

    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    name = connection.settings_dict["NAME"]
    url, _, _ = os.environ["DATABASE_URL"].partition("?")
    database = f"{url.rpartition('/')[0]}/{name}"
    command = [sys.executable, "-m", "uvicorn", "marcelcms.asgi:application"]
    process = subprocess.Popen(
        [
            *command,
            "--host",
            "127.0.0.1",
            "--port",
            str(port),
            "--ws",
            "websockets-sansio",
            "--no-access-log",
            "--no-proxy-headers",
        ],
        cwd=ROOT,
        env={**os.environ, "DATABASE_URL": database, **environment},
    )
    try:
        wait_until(lambda: _answers(port) or process.poll() is not None, 30)
        assert process.poll() is None, "the server ended"
        yield Server(port)
    finally:
        process.terminate()
        process.wait(PATIENCE)


def _answers(port: int) -> bool:
    with suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/health/live", timeout=1) as response:
        return bool(response.status == 200)
    return False
