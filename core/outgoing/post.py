"""POST to an address that staff named: to checked machines only, without redirects, and within a few seconds."""

import asyncio
import socket
import ssl
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpcore2
from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

from core.outgoing.ssrf import is_allowed

SECONDS = 10.0


class Problem(TextChoices):
    """The reason why an address gave no reply."""

    TIMEOUT = "timeout", _("no reply in time")
    ADDRESS = "address", _("address in a private network")
    CERTIFICATE = "certificate", _("certificate not accepted")
    UNREACHABLE = "unreachable", _("not reachable")


@dataclass(frozen=True, slots=True)
class Reply:
    """The HTTP status of a reply, or the problem if there was none."""

    status: int | None = None
    problem: Problem | None = None

    @property
    def is_success(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


class RefusedAddress(Exception):
    """The name leads only to machines that may not be connected to."""


class GuardedBackend(httpcore2.AsyncNetworkBackend):
    """Connects to the very addresses that were checked, so that a second look-up cannot lead elsewhere."""

    def __init__(self, *, allow_private: bool) -> None:
        self._inner, self._allow_private = httpcore2.AnyIOBackend(), allow_private

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 (the interface's)
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        """Connect to the first address of `host` that is allowed and answers. Raise RefusedAddress, OSError."""
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
        named = dict.fromkeys(str(address[0]) for *_rest, address in found)
        allowed = [address for address in named if is_allowed(address, allow_private=self._allow_private)]
        if not allowed:
            raise RefusedAddress(host)
        for address in allowed[:-1]:
            try:
                return await self._inner.connect_tcp(address, port, timeout, local_address, socket_options)
            except httpcore2.ConnectError:
                continue
        return await self._inner.connect_tcp(allowed[-1], port, timeout, local_address, socket_options)


def post(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool, seconds: float = SECONDS) -> Reply:
    """Send `body` and return what came back. The reply's text is not read, and a redirect is a status like others."""
    return asyncio.run(_post_in_time(url, body, headers, allow_private=allow_private, seconds=seconds))


async def _post_in_time(
    url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool, seconds: float
) -> Reply:
    try:
        async with asyncio.timeout(seconds):
            return Reply(await _post(url, body, headers, allow_private=allow_private))
    except TimeoutError:
        return Reply(problem=Problem.TIMEOUT)
    except RefusedAddress:
        return Reply(problem=Problem.ADDRESS)
    except (httpcore2.NetworkError, httpcore2.ProtocolError, OSError, ValueError) as error:
        is_about_tls = isinstance(error.__cause__ or error.__context__, ssl.SSLError)
        return Reply(problem=Problem.CERTIFICATE if is_about_tls else Problem.UNREACHABLE)


async def _post(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool) -> int:
    """Return the status of the reply."""
    named = [("Host", urlsplit(url).netloc), ("Content-Length", str(len(body))), *headers.items()]
    backend = GuardedBackend(allow_private=allow_private)
    async with (
        httpcore2.AsyncConnectionPool(ssl_context=ssl.create_default_context(), network_backend=backend) as pool,
        pool.stream("POST", url, headers=named, content=body) as reply,
    ):
        return int(reply.status)
