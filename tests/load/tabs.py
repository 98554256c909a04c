"""Many tabs at once: some sit there, some read an answer."""

import asyncio
import json
import time
import uuid
from dataclasses import dataclass, field
from typing import Any

from websockets.asyncio.client import ClientConnection, connect

from tests.load.sentences import ROOMS, named, question


@dataclass
class Seen:
    """What came of an answer: for each sentence when it came, in seconds; and what was wrong with them."""

    number: int
    sentences: list[float] = field(default_factory=list)
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


async def read_answer(socket: ClientConnection, number: int, sentences: int, *, after: float = 0) -> Seen:
    """Ask the question of this number `after` so many seconds."""
    await asyncio.sleep(after)
    seen = Seen(number)
    frame = {"type": "ask", "text": question(number), "client_id": str(uuid.uuid4()), "conversation": str(uuid.uuid4())}
    await socket.send(json.dumps(frame))
    last = 0
    while True:
        event: dict[str, Any] = json.loads(await socket.recv())
        if event.get("seq") is None:
            assert event["type"] == "ping", event
            continue
        seen.gaps += event["seq"] != last + 1
        last = event["seq"]
        if event["type"] == "message_delta":
            now = time.monotonic()
            for place in named(event["text"]):
                seen.disordered += place != len(seen.sentences) % len(ROOMS)
                seen.sentences.append(now)
        elif event["type"] == "message_end":
            seen.lost, seen.end = sentences - len(seen.sentences), event["status"]
            return seen
