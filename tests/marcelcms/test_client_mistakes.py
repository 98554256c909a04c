"""What a client does wrong is one warning in the log, without a traceback and without a mail."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AbstractUser
from django.core import mail
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from pytest_django import Settings

from marcelcms.observability import logs
from tests.factories import UserFactory
from tests.marcelcms.observability.test_logs import Lines
from tests.runtime.processes import ROOT
from tests.servers import _answers, wait_until

UPGRADE = (
    "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    "Sec-WebSocket-Version: 13\r\n"
)
BOUNDARY = "multipart/form-data; boundary=x"
FIELD = b'--x\r\nContent-Disposition: form-data; name="a"\r\n'


class Process:
    """A web process as it runs, and what it writes to its log."""

    def __init__(self, port: int, log: Path) -> None:
        self.port, self.log, self._read = port, log, 0

    def send(self, request: str, *, hang_up: bool = False) -> bytes:
        """Return the reply; with `hang_up` the client closes at once."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=5) as line:
            line.sendall(request.encode("latin-1"))
            reply = b""
            with suppress(TimeoutError):
                while not hang_up and (chunk := line.recv(65_536)):
                    reply += chunk
                    if b"\r\n\r\n" in reply:
                        break
        return reply

    def lines(self) -> list[dict[str, Any]]:
        """Return what was written since the last call, once it is all there."""
        time.sleep(0.3)
        text = self.log.read_text()
        new, self._read = text[self._read :], len(text)
        return [json.loads(line) for line in new.splitlines()]


@pytest.fixture
def process(transactional_db: None, tmp_path: Path) -> Iterator[Process]:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    address, _, _ = os.environ["DATABASE_URL"].partition("?")
    database = f"{address.rpartition('/')[0]}/{connection.settings_dict['NAME']}"
    command = [sys.executable, "-m", "uvicorn", "marcelcms.asgi:application", "--host", "127.0.0.1"]
    command += ["--port", str(port), "--ws", "websockets-sansio", "--no-access-log", "--no-proxy-headers"]
    environment = {**os.environ, "DATABASE_URL": database, "LOG_FORMAT": "json"}
    log = tmp_path / "log"
    with log.open("wb") as stream, subprocess.Popen(command, cwd=ROOT, stderr=stream, env=environment) as running:
        try:
            wait_until(lambda: _answers(port) or running.poll() is not None, 40)
            made = Process(port, log)
            made.lines()
            yield made
        finally:
            running.terminate()


@pytest.mark.slow
def test_a_mistake_at_the_door_is_one_warning(process: Process) -> None:
    here, elsewhere = f"127.0.0.1:{process.port}", "Origin: https://evil.example"
    cases = {
        f"GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n": (400, "django.security.DisallowedHost")
        for path in ("/", "/api/v1/assistant", "/api/staff/v1/", "/admin/login/", "/widget/v1.js", "/static/x.css")
        for host in ("evil.example", "a b'<>", "x" * 5_000)
    } | {
        f"GET /ws/chat HTTP/1.1\r\nHost: evil.example\r\n{UPGRADE}\r\n": (403, "chat.websocket.consumer"),
        f"GET /ws/chat HTTP/1.1\r\nHost: {here}\r\n{elsewhere}\r\n{UPGRADE}\r\n": (
            403,
            "chat.websocket.consumer",
        ),
        f"GET /ws/other HTTP/1.1\r\nHost: {here}\r\n{UPGRADE}\r\n": (403, "chat.websocket.routing"),
        f"GET /{'x' * 5_000} HTTP/1.1\r\nHost: {here}\r\n\r\n": (404, "django.request"),
        f"GET /%ff%00 HTTP/1.1\r\nHost: {here}\r\n\r\n": (404, "django.request"),
        "nonsense\r\n\r\n": (400, "uvicorn.error"),
    }
    for request, (status, logger) in cases.items():
        reply = process.send(request)
        assert reply.startswith(f"HTTP/1.1 {status} ".encode()), (request[:80], reply[:80])
        (line,) = process.lines()
        assert (line["level"], line["logger"], "exception" in line) == ("warning", logger, False), request[:80]
        assert len(json.dumps(line)) < 2 * logs.MOST_CHARACTERS + 200


@pytest.mark.slow
def test_who_hangs_up_writes_no_line(process: Process) -> None:
    here = f"Host: 127.0.0.1:{process.port}"
    for request in (
        f"POST /admin/login/ HTTP/1.1\r\n{here}\r\nContent-Type: {BOUNDARY}\r\nContent-Length: 99\r\n\r\n--x",
        f"POST /api/v1/session HTTP/1.1\r\n{here}\r\nContent-Type: application/json\r\nContent-Length: 99\r\n\r\n{{",
        f"GET /ws/chat HTTP/1.1\r\n{here}\r\nOrigin: http://{here[6:]}\r\n{UPGRADE}\r\n",
        f"GET /ws/chat HTTP/1.1\r\n{here}\r\nOrigin: http://{here[6:]}\r\n{UPGRADE}\r\n\xff\xff\xff\xff",
        "GET / HT",
    ):
        process.send(request, hang_up=True)
        assert process.lines() == [], request[:80]


@pytest.fixture
def staff(db: None) -> AbstractUser:
    return UserFactory(is_superuser=True)


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        (BOUNDARY, b"--y\r\n\r\n1"),
        (
            BOUNDARY,
            FIELD + b"Content-Transfer-Encoding: base64\r\n\r\n!\r\n--x--",
        ),
        (BOUNDARY, b'--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\n1\r\n' * 200 + b"--x--\r\n"),
        ("multipart/form-data", b"1"),
        ("multipart/form-data; boundary=\xff", b"1"),
        ("application/x-www-form-urlencoded", b"a=1&" * 20_000),
        ("application/x-www-form-urlencoded", b"a=" + b"1" * 20_000_000),
        ("application/x-www-form-urlencoded; charset=nonsense", b"a=%ff"),
        ("application/x-www-form-urlencoded", b"username=%00&password=%ff%00"),
    ],
)
@pytest.mark.parametrize("path", ["/admin/faqs/faq/import/", "/admin/faqs/faq/add/", "/admin/login/"])
def test_a_form_that_cannot_be_read_is_at_most_one_warning(
    staff: AbstractUser, lines: Lines, settings: Settings, kind: str, body: bytes, path: str
) -> None:
    settings.ADMINS = [("Admin", "admin@uni.example")]
    client = Client(raise_request_exception=False)
    client.force_login(staff)
    reply = client.generic("POST", path, body, kind)
    assert reply.status_code < 500
    assert len(lines.events) <= 1
    for line in lines.events:
        assert (line["level"], "exception" in line) == ("warning", False)
    assert mail.outbox == []


@pytest.mark.parametrize("query", ["?_to_field=x", "?password__exact=1", "?nosuch__x=1"])
def test_an_address_that_a_list_refuses_is_at_most_one_warning(staff: AbstractUser, lines: Lines, query: str) -> None:
    client = Client(raise_request_exception=False)
    client.force_login(staff)
    assert client.get(f"/admin/auth/user/{query}").status_code < 500
    assert len(lines.events) <= 1
    assert not [line for line in lines.events if line["level"] != "warning" or "exception" in line]


@pytest.mark.parametrize("name", ["sessionid", "csrftoken", "django_language", "messages"])
def test_a_cookie_of_nonsense_is_no_error(db: None, lines: Lines, name: str) -> None:
    client = Client(raise_request_exception=False)
    client.cookies[name] = "\x00../../%ff" * 50
    assert client.get("/admin/login/").status_code < 500
    assert client.post("/admin/login/", {"file": SimpleUploadedFile("a", b"1")}).status_code < 500
    assert not [line for line in lines.events if line["level"] == "error" or "exception" in line]
