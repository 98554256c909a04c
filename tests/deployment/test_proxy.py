"""nginx before a web process, as in compose.yml, each outside a container."""

import json
import socket
import uuid
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest
from pytest_django import Settings
from websockets.sync.client import connect

from marcelcms.doctor.checks.environment import way_in
from marcelcms.doctor.findings import Level
from marcelcms.embedded.processes import free_port
from tests.deployment.conftest import PUBLIC, Start, is_well
from tests.deployment.proxy import HOST, VISITOR, Proxy, nginx
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(600)]


@pytest.fixture
def proxy(start: Start, tools: Path, tmp_path: Path, secret_files: dict[str, str]) -> Iterator[Proxy]:
    web = free_port()
    public = PUBLIC | secret_files | {"PORT": str(web)}
    process = start("web", **public)
    wait_until(lambda: is_well("web", **public) or process.poll() is not None, seconds=90)
    assert process.poll() is None, (tmp_path / "output").read_text()
    with nginx(tools, tmp_path, web=web) as found:
        yield found


def test_the_doctor_comes_in_as_a_browser_does(
    proxy: Proxy, tmp_path: Path, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.PUBLIC_URL = f"https://localhost:{proxy.encrypted}"
    [found] = way_in()
    assert "its certificate is not trusted" in found.said
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "tls_certificate"))
    [found] = way_in()
    assert (found.level, found.said) == (Level.OK, f"{settings.PUBLIC_URL} answers")


def test_the_proxy_serves_what_is_meant_for_everyone_and_nothing_else(proxy: Proxy, tmp_path: Path) -> None:
    page = proxy.get("/")
    assert page.status == 200
    for name in ("Strict-Transport-Security", "Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"):
        assert len(page.headers.get_all(name) or []) == 1, name  # said once, by the application
    assert "/" not in page.headers["Server"]
    for path in ("/metrics", "/health/ready", "/health/", "/health/live/"):
        assert proxy.get(path).status == 404
    live = proxy.get("/health/live?q=1", Host="other.example")
    assert (live.status, live.body) == (200, b"ok\n")  # type: ignore[attr-defined]
    assert proxy.get("/", Host="other.example").status == 400

    plain = HTTPConnection("127.0.0.1", proxy.plain, timeout=20)
    plain.request("GET", "/admin/?q=1", headers={"Host": HOST})
    moved = plain.getresponse()
    assert (moved.status, moved.headers["Location"]) == (308, f"https://{HOST}/admin/?q=1")
    plain.close()

    # Large bodies get through where some are expected, and are refused by who they are of.
    large = "x" * 4_000_000
    assert proxy.get("/admin/knowledge/pdfupload/add/", method="POST", body=large).status == 403
    assert proxy.get("/api/staff/v1/documents/", method="POST", body=large).status == 401

    # A visitor's session and socket.
    session = proxy.get(
        "/api/v1/session",
        method="POST",
        body=json.dumps({"consent": True}),
        **{"Content-Type": "application/json"},
    )
    token = json.loads(session.body)["token"]  # type: ignore[attr-defined]
    address, headers = f"wss://{HOST}/ws/chat", {"Origin": f"https://{HOST}"}
    way = socket.create_connection(("127.0.0.1", proxy.encrypted), timeout=20)
    with connect(address, sock=way, ssl=proxy.context, additional_headers=headers, proxy=None) as tab:
        tab.send(json.dumps({"type": "resume", "token": token, "conversation": str(uuid.uuid4()), "after": None}))
        assert json.loads(tab.recv(timeout=20))["type"]

    # Counted by the address that the proxy saw, not by those that a client claims.
    statuses = {
        proxy.get(
            "/admin/login/?next=/admin/my-question/",
            method="POST",
            body="",
            Referer=f"https://{HOST}/my-page/",
            **{"X-Forwarded-For": f"192.0.2.{number}"},
        ).status
        for number in range(20)
    }
    assert 429 in statuses
    for log in (tmp_path / "nginx", tmp_path / "output"):
        said = log.read_text()
        assert not [words for words in ("q=1", "my-question", "my-page", VISITOR) if words in said], said
