"""Parser of a streamed answer's chunks: only what the assistant writes is the answer."""

import json
import re
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from core.text import strip_nul

if TYPE_CHECKING:
    import httpx2

ASSISTANT = "assistant"
#: The end of an event of a stream (WHATWG HTML, server-sent events).
EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")
DONE = b"[DONE]"


async def read_chunks(response: "httpx2.Response") -> AsyncGenerator[dict[str, Any]]:
    """Yield the chunks of a streamed completion as dictionaries.

    Building the client's objects takes twenty times as long as reading them, which is most of a busy server's work.
    Raises ValueError for invalid chunks, openai.APIConnectionError if the connection breaks.
    """
    import httpx2
    import openai

    waiting = b""
    try:
        async for block in response.aiter_bytes():
            *complete, waiting = EVENT_END.split(waiting + block)
            for event in complete:
                if (data := _data(event)) == DONE:
                    return
                if data:
                    yield _chunk(data)
    except httpx2.TransportError as error:
        raise openai.APIConnectionError(request=response.request) from error
    if (data := _data(waiting)) and data != DONE:
        yield _chunk(data)


def _data(event: bytes) -> bytes:
    lines = (line for line in event.splitlines() if line.startswith(b"data:"))
    return b"\n".join(line[5:].removeprefix(b" ") for line in lines)


def _chunk(data: bytes) -> dict[str, Any]:
    chunk = json.loads(data)
    if not isinstance(chunk, dict) or chunk.get("error"):
        raise ValueError("no chunk of a completion")
    return chunk


class StreamedAnswer:
    """The answer received so far. `usage` is (prompt tokens, answer tokens) if the endpoint reported them."""

    def __init__(self) -> None:
        self.is_finished = False
        self.usage: tuple[int, int] | None = None
        self.characters = 0
        self._pieces: list[str] = []
        self._role = ASSISTANT

    @property
    def text(self) -> str:
        return "".join(self._pieces)

    def take(self, chunk: dict[str, Any]) -> str:
        """Return the text that this chunk adds, possibly "".

        Raises TypeError or AttributeError for a chunk of another form. A role holds for the chunks after it too, until
        another is named. What another role says, a second choice and tool calls are no part of the answer.
        """
        spent = chunk.get("usage") or {}
        read, written = spent.get("prompt_tokens"), spent.get("completion_tokens")
        if isinstance(read, int) and isinstance(written, int):
            self.usage = (read, written)
        added = ""
        for choice in chunk.get("choices") or ():
            if choice.get("index"):
                continue
            delta = choice.get("delta") or {}
            self._role = delta.get("role") or self._role
            if (content := delta.get("content")) and self._role == ASSISTANT:
                if not isinstance(content, str):
                    raise TypeError("content is no text")
                added += strip_nul(content)  # nothing else could be saved
            self.is_finished = self.is_finished or choice.get("finish_reason") is not None
        if added:
            self._pieces.append(added)
            self.characters += len(added)
        return added
