"""What is sent goes to the machine that was checked, in time, and without redirects."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from core.outgoing import post as posting
from core.outgoing.post import Problem, Reply, post
from core.outgoing.urls import read_host
from tests.chat.webhooks.conftest import certificate, receiver, trusted  # noqa: F401 (fixtures)
from tests.chat.webhooks.receiver import HOST, Receiver, drip, receiving, status


def send(url: str, *, allow_private: bool = True, seconds: float = 5) -> Reply:
    return post(url, b'{"a":"\xc3\xa4"}', {"X-Sent": "1"}, allow_private=allow_private, seconds=seconds)


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Give a name's addresses, one list a look-up, the last for all further ones; return which names were looked up."""
    real = socket.getaddrinfo

    def lead(*answers: list[str]) -> list[str]:
        left, asked = iter(answers), []
        last = answers[-1]

        def look_up(host: Any, port: Any, *rest: Any, **options: Any) -> Any:
            if host != HOST:
                return real(host, port, *rest, **options)
            asked.append(host)
            return [found for address in next(left, last) for found in real(address, port, *rest, **options)]

        monkeypatch.setattr(socket, "getaddrinfo", look_up)
        return asked

    return lead


@pytest.fixture
def public(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make 127.0.0.1 a public machine; all others of this network stay private."""
    real = posting.is_allowed
    monkeypatch.setattr(posting, "is_allowed", lambda address, **kind: address == "127.0.0.1" or real(address, **kind))


def test_a_post_arrives_as_it_was_sent(receiver: Receiver) -> None:  # noqa: F811
    assert send(receiver.url + "?a=1") == Reply(204)
    (got,) = receiver.got
    assert (got.path, got.body, got.headers["x-sent"]) == ("/hooks/marcel?a=1", b'{"a":"\xc3\xa4"}', "1")
    assert got.headers["host"] == f"127.0.0.1:{receiver.port}"
    assert "accept-encoding" not in got.headers


@pytest.mark.parametrize("code", [200, 299, 400, 404, 410, 500, 503])
def test_the_status_is_told(receiver: Receiver, code: int) -> None:  # noqa: F811
    receiver.reply = status(code)
    reply = send(receiver.url)
    assert reply == Reply(code)
    assert reply.is_success is (code < 300)


def test_a_redirect_is_not_followed(receiver: Receiver) -> None:  # noqa: F811
    receiver.reply = status(302, Location=receiver.url + "/elsewhere")
    reply = send(receiver.url)
    assert (reply.status, reply.is_success) == (302, False)
    assert len(receiver.got) == 1


def test_a_reply_that_drips_ends_in_time(receiver: Receiver) -> None:  # noqa: F811
    receiver.reply = drip(seconds=20)
    begun = time.monotonic()
    assert send(receiver.url, seconds=0.5) == Reply(problem=Problem.TIMEOUT)
    assert time.monotonic() - begun < 20


def test_a_long_text_is_not_read(receiver: Receiver) -> None:  # noqa: F811
    def reply(handler: Any) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000000000\r\n\r\n")
        for _ in range(200):
            handler.wfile.write(b"x" * 65536)
            time.sleep(0.1)

    receiver.reply = reply
    begun = time.monotonic()
    assert send(receiver.url) == Reply(200)
    assert time.monotonic() - begun < 200 * 0.1


def test_nobody_there_is_not_reachable(trusted: Path) -> None:  # noqa: F811
    with receiving(trusted) as gone:
        pass
    assert send(gone.url) == Reply(problem=Problem.UNREACHABLE)


def test_an_unknown_name_is_not_reachable(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: Any, **__: Any) -> Any:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    assert send("https://nowhere.uni.example/") == Reply(problem=Problem.UNREACHABLE)


def test_what_speaks_no_http_is_not_reachable(receiver: Receiver) -> None:  # noqa: F811
    receiver.reply = lambda handler: handler.wfile.write(b"SSH-2.0-OpenSSH\r\n")
    assert send(receiver.url) == Reply(problem=Problem.UNREACHABLE)


def test_a_certificate_of_somebody_else_is_not_accepted(
    receiver: Receiver,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    names: Any,
) -> None:
    names(["127.0.0.1"])
    assert send(f"https://{HOST}:{receiver.port}/") == Reply(204)
    real = socket.getaddrinfo
    monkeypatch.setattr(socket, "getaddrinfo", lambda host, *rest, **kind: real("127.0.0.1", *rest, **kind))
    assert send(f"https://other.uni.example:{receiver.port}/") == Reply(problem=Problem.CERTIFICATE)
    monkeypatch.delenv("SSL_CERT_FILE")
    assert send(receiver.url) == Reply(problem=Problem.CERTIFICATE)
    assert len(receiver.got) == 1


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "127.1"])
def test_this_machine_is_refused_however_it_is_written(receiver: Receiver, host: str) -> None:  # noqa: F811
    reply = send(f"https://{host}:{receiver.port}/", allow_private=False)
    assert reply.problem in {Problem.ADDRESS, Problem.UNREACHABLE}
    assert receiver.got == []


def test_a_clouds_metadata_is_refused_even_where_private_networks_are_allowed() -> None:
    assert send("https://169.254.169.254/latest/meta-data/") == Reply(problem=Problem.ADDRESS)


@pytest.mark.usefixtures("public")
def test_a_name_that_leads_elsewhere_after_the_check_is_not_followed(trusted: Path, names: Any) -> None:  # noqa: F811
    with receiving(trusted) as checked, receiving(trusted, address="127.0.0.2", port=checked.port) as inner:
        asked = names(["127.0.0.1"], ["127.0.0.2"])
        assert send(f"https://{HOST}:{checked.port}/", allow_private=False) == Reply(204)
        assert (len(checked.got), len(inner.got), asked) == (1, 0, [HOST])
        assert send(f"https://{HOST}:{checked.port}/", allow_private=False) == Reply(problem=Problem.ADDRESS)
        assert (len(checked.got), len(inner.got)) == (1, 0)


@pytest.mark.usefixtures("public")
def test_of_a_names_addresses_only_public_ones_are_tried(trusted: Path, names: Any) -> None:  # noqa: F811
    with receiving(trusted) as checked, receiving(trusted, address="127.0.0.2", port=checked.port) as inner:
        names(["127.0.0.2", "127.0.0.1"])
        assert send(f"https://{HOST}:{checked.port}/", allow_private=False) == Reply(204)
        assert (len(checked.got), len(inner.got)) == (1, 0)


def test_the_next_address_is_tried_where_one_is_silent(trusted: Path, names: Any) -> None:  # noqa: F811
    with receiving(trusted) as there:
        names(["127.0.0.3", "127.0.0.1"])
        assert send(f"https://{HOST}:{there.port}/") == Reply(204)


def test_the_environments_proxy_is_not_used(
    receiver: Receiver,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("HTTPS_PROXY", "https_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert send(receiver.url) == Reply(204)


@pytest.fixture(autouse=True)
def _no_waiting() -> Iterator[None]:
    begun = time.monotonic()
    yield
    assert time.monotonic() - begun < 20


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://tickets.uni.example/hooks?a=b", "tickets.uni.example"),
        ("https://[2001:db8::1]:8443/", "2001:db8::1"),
        ("https://n8n:5678/", "n8n"),
        ("http://tickets.uni.example/", ""),
        ("https://", ""),
        ("https:///path", ""),
        ("https://user:password@tickets.uni.example/", ""),
        ("https://tickets.uni.example/#part", ""),
        ("https://tickets.uni.example:99999/", ""),
        ("https://tickets.uni.example:0/", ""),
        ("https://tickets.uni.example/a b", ""),
        ("https://tickets.uni.example/\r\nX-Injected: 1", ""),
        ("https://tïckets.uni.example/", ""),
        ("ftp://tickets.uni.example/", ""),
        ("tickets.uni.example", ""),
        ("https://[::1", ""),
    ],
)
def test_an_address_is_https_and_holds_nothing_odd(url: str, host: str) -> None:
    assert read_host(url) == host
