"""Many questions at once: how long until the language model is asked, and how many a second.

The stub's only word carries the time when its request came.
"""

import asyncio
import json
import statistics
import time
import uuid
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection

from tests.load.words import read

#: Students who ask at once, each again as soon as the last answer has ended.
AT_ONCE = (1, 8, 32)
QUESTIONS = 320


@dataclass(frozen=True, slots=True)
class Asked:
    """Milliseconds from a question's leaving to the model's being asked, and to the first word's arrival."""

    at_once: int
    questions: int
    a_second: float
    asked_p50: float
    asked_p95: float
    word_p50: float
    word_p95: float


async def measure(sockets: list[ClientConnection], questions: int) -> Asked:
    began = time.monotonic()
    times = await asyncio.gather(*(_ask_again(socket, questions // len(sockets)) for socket in sockets))
    seconds = time.monotonic() - began
    asked, word = zip(*(each for one in times for each in one), strict=True)
    return Asked(
        at_once=len(sockets),
        questions=len(asked),
        a_second=round(len(asked) / seconds, 1),
        asked_p50=_quantile(asked, 50),
        asked_p95=_quantile(asked, 95),
        word_p50=_quantile(word, 50),
        word_p95=_quantile(word, 95),
    )


async def _ask_again(socket: ClientConnection, questions: int) -> list[tuple[float, float]]:
    return [
        await _ask(socket, f"How much is the semester contribution in year {number}?") for number in range(questions)
    ]


async def _ask(socket: ClientConnection, text: str) -> tuple[float, float]:
    """(until the model was asked, until its word came), in milliseconds."""
    frame = {"type": "ask", "text": text, "client_id": str(uuid.uuid4()), "conversation": str(uuid.uuid4())}
    began = time.monotonic()
    await socket.send(json.dumps(frame))
    times = None
    while True:
        event = json.loads(await socket.recv())
        assert event["type"] != "error", event
        if event["type"] == "message_delta" and times is None:
            came = time.monotonic() - began
            _number, delay = read(event["text"].split()[0])
            times = (came - delay) * 1000, came * 1000
        elif event["type"] == "message_end":
            assert times, "an answer without a word of the model"
            return times


def _quantile(values: tuple[float, ...], percent: int) -> float:
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 1)
