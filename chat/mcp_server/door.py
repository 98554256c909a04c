"""The address /mcp: lets in who has a key, and loads the protocol's library with the first of them."""

import asyncio
import importlib
import json
from collections.abc import Awaitable, Callable, MutableMapping
from http import HTTPStatus
from typing import Any

from django.db import DatabaseError

from chat.services.api_clients import InvalidKey, find_client, read_bearer
from chat.sites.lookup import is_own, valid_host
from core.db.prepared import in_database

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Any, Receive, Any], Awaitable[None]]
PATHS = ("/mcp", "/mcp/")
#: Where the server finds who asks.
CLIENT = "marcelcms.client"


def with_mcp(application: Application) -> Application:
    """Serve /mcp beside an application."""

    async def serve(scope: Scope, receive: Receive, send: Send) -> None:
        await (serve_mcp if scope["path"] in PATHS else application)(scope, receive, send)

    return serve


async def serve_mcp(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer one request; no session is kept, so that any process can answer the next one."""
    headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
    if not _may_ask(headers):
        await _refuse(send, HTTPStatus.FORBIDDEN)
        return
    try:
        client = await in_database(find_client)(read_bearer(headers.get("authorization", "")))
    except InvalidKey:
        await _refuse(send, HTTPStatus.UNAUTHORIZED, {"www-authenticate": "Bearer"})
        return
    except (DatabaseError, OSError):
        await _refuse(send, HTTPStatus.SERVICE_UNAVAILABLE, {"retry-after": "5"})
        return
    if scope["method"] != "POST":
        await _refuse(send, HTTPStatus.METHOD_NOT_ALLOWED, {"allow": "POST"})
        return
    # It takes a second or two, in which students go on being answered.
    server = await asyncio.to_thread(importlib.import_module, "chat.mcp_server.server")
    await server.application({**scope, CLIENT: client}, receive, send)


def _may_ask(headers: dict[str, str]) -> bool:
    """Return whether a request is to this server's name, and from a program or a page of this server.

    The protocol demands both: a page of another origin may have its own name lead here (DNS rebinding).
    """
    host, origin = valid_host(headers.get("host", "")), headers.get("origin")
    return bool(host) and (origin is None or is_own(origin, host=host))


async def _refuse(send: Send, status: HTTPStatus, headers: dict[str, str] | None = None) -> None:
    body = json.dumps({"error": status.phrase}).encode()
    sent = {"content-type": "application/json", "cache-control": "no-store", **(headers or {})}
    encoded = [(name.encode(), value.encode()) for name, value in sent.items()]
    await send({"type": "http.response.start", "status": status.value, "headers": encoded})
    await send({"type": "http.response.body", "body": body})
