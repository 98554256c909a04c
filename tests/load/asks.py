"""Many questions at once: how long until the language model is asked, how many a second, and what one costs.

The stub's only word carries the time when its request came.
"""

import asyncio
import itertools
import json
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection

from tests.load.words import read

#: Students who ask at once, each again as soon as the last answer has ended.
AT_ONCE = (1, 8, 32)
SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Asked:
    """Milliseconds from a question's leaving to the model's being asked, and to the first word's arrival; of processor
    time, what a question takes of the web processes and of PostgreSQL."""

    at_once: int
    questions: int
    a_second: float
    asked_p50: float
    asked_p95: float
    word_p50: float
    word_p95: float
    web_cpu: float
    database_cpu: float


async def measure(
    sockets: list[ClientConnection], *, seconds: float, worked: Callable[[], tuple[float, float]]
) -> Asked:
    """`worked` tells the seconds that the web processes and PostgreSQL have worked so far."""
    before, began, years = worked(), time.monotonic(), itertools.count()
    times = await asyncio.gather(*(_ask_again(socket, years, began + seconds) for socket in sockets))
    seconds = time.monotonic() - began
    web, database = (after - earlier for after, earlier in zip(worked(), before, strict=True))
    asked, word = zip(*(each for one in times for each in one), strict=True)
    return Asked(
        at_once=len(sockets),
        questions=len(asked),
        a_second=round(len(asked) / seconds, 1),
        asked_p50=_quantile(asked, 50),
        asked_p95=_quantile(asked, 95),
        word_p50=_quantile(word, 50),
        word_p95=_quantile(word, 95),
        web_cpu=round(web / len(asked) * 1000, 1),
        database_cpu=round(database / len(asked) * 1000, 1),
    )


async def _ask_again(socket: ClientConnection, years: Iterator[int], until: float) -> list[tuple[float, float]]:
    """No question is asked twice: its vector is made anew."""
    times = []
    while time.monotonic() < until:
        times.append(await _ask(socket, f"How much is the semester contribution in {next(years)}?"))
    return times


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
