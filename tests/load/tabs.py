"""Many tabs at once: some sit there, some read an answer."""

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.load.words import read

QUESTION = "How much is the semester contribution?"


@dataclass
class Seen:
    """What came of an answer: for each word when it came and its delay, in seconds; and what was wrong with them."""

    words: list[tuple[float, float]] = field(default_factory=list)
    lost: int = 0
    disordered: int = 0
    gaps: int = 0
    end: str = ""


async def open_tab(port: int, token: str) -> ClientConnection:
    """Connect, and wait for the empty conversation."""
    origin = f"http://127.0.0.1:{port}"
    socket = await connect(f"ws://127.0.0.1:{port}/ws/chat", origin=origin, proxy=None)  # type: ignore[arg-type]
    conversation = str(uuid.uuid4())
    await socket.send(json.dumps({"type": "resume", "conversation": conversation, "after": None, "token": token}))
    assert json.loads(await socket.recv())["type"] == "conversation"
    return socket


async def open_tabs(port: int, tokens: list[str]) -> list[ClientConnection]:
    """Twenty at a time."""
    gate = asyncio.Semaphore(20)

    async def one(token: str) -> ClientConnection:
        async with gate:
            return await open_tab(port, token)

    return await asyncio.gather(*map(one, tokens))


async def read_answer(socket: ClientConnection, words: int, *, after: float = 0) -> Seen:
    """Asks `after` so many seconds."""
    await asyncio.sleep(after)
    seen = Seen()
    frame = {"type": "ask", "text": QUESTION, "client_id": str(uuid.uuid4()), "conversation": str(uuid.uuid4())}
    await socket.send(json.dumps(frame))
    last, upcoming = 0, 0
    while True:
        event: dict[str, Any] = json.loads(await socket.recv())
        if event.get("seq") is None:
            assert event["type"] == "ping", event
            continue
        seen.gaps += event["seq"] != last + 1
        last = event["seq"]
        if event["type"] == "message_delta":
            now = time.monotonic()
            for text in event["text"].split():
                if not text.startswith("w"):
                    continue  # a source's mark
                number, delay = read(text)
                seen.disordered += number != upcoming
                upcoming = number + 1
                seen.words.append((now, delay))
        elif event["type"] == "message_end":
            seen.lost, seen.end = words - len(seen.words), event["status"]
            return seen
