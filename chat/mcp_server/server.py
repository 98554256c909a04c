"""The tools `ask` and `search`, as the protocol lists and calls them. Loaded with the first request."""

from collections.abc import MutableMapping
from functools import partial
from typing import Any

from django.db import DatabaseError
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, TextContent, Tool
from redis import RedisError

from chat.errors import NotFound, Refused
from chat.mcp_server import tools
from chat.mcp_server.door import CLIENT, Receive, Send
from chat.models import APIClient
from chat.services.api_clients import list_assistants
from core.db.prepared import in_database
from core.db.reading import read_current

#: The longest question takes a tenth of it.
MOST_BYTES = 64 * 1024
STREAM = b"text/event-stream"


async def list_tools(context: ServerRequestContext[Any], _params: PaginatedRequestParams | None) -> ListToolsResult:
    """List what the key may do."""
    client = _client(context)
    slugs = [row.slug for row in await in_database(read_current)(partial(list_assistants, client))]
    described = [
        Tool(
            name=tool.scope.value,
            title=tool.title,
            description=tool.description,
            input_schema=tool.input_schema(slugs),
            output_schema=tool.output_schema,
        )
        for tool in tools.TOOLS
        if tool.scope in client.scopes
    ]
    return ListToolsResult(tools=described)


async def call_tool(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
    """Call a tool; what goes wrong is told to the model that called, as the protocol wants it."""
    client = _client(context)
    tool = next((each for each in tools.TOOLS if each.scope == params.name and each.scope in client.scopes), None)
    if tool is None:
        return _failed("There is no such tool for this key.")
    said = 0

    async def say(more: str) -> None:
        """Send a part of the answer to a program that asked for the call's progress; to others nothing is sent."""
        nonlocal said
        said += len(more)
        await context.session.report_progress(said, message=more)

    try:
        result = await tool.call(client, params.arguments or {}, say)
    except tools.BadArguments as error:
        return _failed(str(error))
    except Refused as error:
        return _failed(error.detail)
    except (NotFound, DatabaseError, RedisError, OSError):
        return _failed("The service is interrupted. Please try again in a moment.")
    return CallToolResult(content=[TextContent(text=result.text)], structured_content=result.data)


def _failed(message: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=message)], is_error=True)


def _client(context: ServerRequestContext[Any]) -> APIClient:
    client: APIClient = context.request.scope[CLIENT]  # type: ignore[union-attr]
    return client


SERVER = Server(
    "marcelcms",
    title="MarcelCMS",
    instructions="Answers and passages from a university's own pages. Answers name their sources, or abstain: hand "
    "both on as they are.",
    on_list_tools=list_tools,
    on_call_tool=call_tool,
)


async def application(scope: MutableMapping[str, Any], receive: Receive, send: Send) -> None:
    """Answer one request of a client, which `door.serve_mcp` has put into the scope; as a stream if it takes one."""
    accepted = b",".join(value for name, value in scope["headers"] if name == b"accept")
    manager = StreamableHTTPSessionManager(
        SERVER, json_response=STREAM not in accepted, stateless=True, max_request_body_size=MOST_BYTES
    )
    async with manager.run():
        await manager.handle_request(scope, receive, send)
