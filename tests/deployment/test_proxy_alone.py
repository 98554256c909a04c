"""What nginx does by itself, before a stand-in for the web process or before none."""

import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, suppress
from http.client import HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from marcelcms.embedded.processes import free_port
from tests.deployment.proxy import HOST, VISITOR, Proxy, nginx
from tests.servers import wait_until

pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]
UPLOAD = "/admin/knowledge/pdfupload/add/"
LARGE, PART = 100_000_000, 4_000_000


def test_a_failed_request_is_logged_without_whom_it_was_of(tools: Path, tmp_path: Path) -> None:
    with nginx(tools, tmp_path, web=free_port()) as proxy:
        away = proxy.get("/?q=my-question", Referer=f"https://{HOST}/my-page/")
        assert (away.status, away.headers["Retry-After"]) == (503, "5")
    said = (tmp_path / "nginx").read_text()
    assert not [words for words in ("my-question", "my-page", VISITOR) if words in said], said
    assert " / 503 " in said


class StandIn(BaseHTTPRequestHandler):
    """Counts what it was sent and replies with more than anybody reads."""

    server: "Web"

    def do_POST(self) -> None:
        while self.server.taken < int(self.headers.get("Content-Length", LARGE)) and (some := self.rfile.read1(65536)):
            self.server.taken += len(some)

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):
            while self.server.sent < LARGE:
                self.server.sent += self.wfile.write(bytes(65536))

    def log_message(self, *words: object) -> None:
        pass


class Web(ThreadingHTTPServer):
    taken = sent = 0


@pytest.fixture
def web() -> Iterator[Web]:
    with Web(("127.0.0.1", 0), StandIn) as server:
        threading.Thread(target=server.serve_forever).start()
        yield server
        server.shutdown()


@pytest.fixture
def proxy(tools: Path, tmp_path: Path, web: Web) -> Iterator[Proxy]:
    with nginx(tools, tmp_path, web=web.server_port) as proxy:
        yield proxy


def test_a_large_body_is_refused_where_none_is_expected(proxy: Proxy, web: Web) -> None:
    for path, size in (("/admin/whatever/", LARGE), ("/admin/login/", 200_000), ("/i18n/setlang/", 200_000)):
        with proxy.asking(path, method="POST", **{"Content-Length": str(size)}) as sent:
            assert sent.getresponse().status == 413
    assert web.taken == 0


def test_a_large_body_that_does_not_say_its_size_is_cut_off(proxy: Proxy, web: Web) -> None:
    for path in ("/admin/whatever/", "/i18n/setlang/"):
        with proxy.asking(path, method="POST", **{"Transfer-Encoding": "chunked"}) as sent:
            for _part in range(PART // 0x10000):
                sent.send(b"10000\r\n" + bytes(0x10000) + b"\r\n")
            assert sent.getresponse().status == 413
    assert web.taken < PART


def test_an_upload_passes_through_and_few_come_at_once(proxy: Proxy, web: Web) -> None:
    def uploading() -> AbstractContextManager[HTTPSConnection]:
        return proxy.asking(UPLOAD, method="POST", **{"Content-Length": str(LARGE)})

    with ExitStack() as uploads:
        for _number in range(4):
            uploads.enter_context(uploading()).send(bytes(PART))
        wait_until(lambda: web.taken == 4 * PART)
        assert proxy.keeps() == 0
        with uploading() as fifth:
            assert fifth.getresponse().status == 429


def test_a_reply_that_nobody_reads_is_not_kept(proxy: Proxy, web: Web) -> None:
    for path in ("/api/staff/v1/report-exports/1/file/", "/documents/ab12/handbook.pdf"):
        web.sent = 0
        with proxy.asking(path):
            wait_until(lambda: web.sent)
            before = 0
            while before < web.sent < LARGE:
                before = web.sent
                time.sleep(0.5)
            assert proxy.keeps() == 0
            assert web.sent < LARGE  # it waits
