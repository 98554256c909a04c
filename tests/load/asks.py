"""Many questions at once: how long until the language model is asked, how many a second, and what one costs."""

import asyncio
import json
import statistics
import time
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from websockets.asyncio.client import ClientConnection

from tests.load.sentences import Sent, question

#: Students who ask at once, each again as soon as the last answer has ended.
AT_ONCE = (1, 8, 32)
SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Asked:
    """Milliseconds from a question's leaving to the model's being asked, and to the first sentence's arrival; of
    processor time, what a question takes of the web processes and of PostgreSQL."""

    at_once: int
    questions: int
    a_second: float
    asked_p50: float
    asked_p95: float
    sentence_p50: float
    sentence_p95: float
    web_cpu: float
    database_cpu: float


async def measure(
    sockets: list[ClientConnection],
    numbers: Iterator[int],
    *,
    seconds: float,
    worked: Callable[[], tuple[float, float]],
    read_sent: Callable[[], dict[int, Sent]],
) -> Asked:
    """Ask a question of each number once. `worked` tells the seconds that web processes and PostgreSQL have worked so
    far, `read_sent` what the stub sent when."""
    before, began = worked(), time.monotonic()
    times = await asyncio.gather(*(_ask_again(socket, numbers, began + seconds) for socket in sockets))
    seconds = time.monotonic() - began
    web, database = (after - earlier for after, earlier in zip(worked(), before, strict=True))
    sent = read_sent()
    seen = [each for one in times for each in one]
    asked = [(sent[number].asked - left) * 1000 for number, left, _came in seen]
    sentence = [(came - left) * 1000 for _number, left, came in seen]
    return Asked(
        at_once=len(sockets),
        questions=len(asked),
        a_second=round(len(asked) / seconds, 1),
        asked_p50=_quantile(asked, 50),
        asked_p95=_quantile(asked, 95),
        sentence_p50=_quantile(sentence, 50),
        sentence_p95=_quantile(sentence, 95),
        web_cpu=round(web / len(asked) * 1000, 1),
        database_cpu=round(database / len(asked) * 1000, 1),
    )


async def _ask_again(socket: ClientConnection, numbers: Iterator[int], until: float) -> list[tuple[int, float, float]]:
    times = []
    while time.monotonic() < until:
        times.append(await _ask(socket, next(numbers)))
    return times


async def _ask(socket: ClientConnection, number: int) -> tuple[int, float, float]:
    """Return (number, when the question left, when its first sentence came); seconds on the monotonic clock."""
    text, conversation = question(number), str(uuid.uuid4())
    frame = {"type": "ask", "text": text, "client_id": str(uuid.uuid4()), "conversation": conversation}
    left, came = time.monotonic(), None
    await socket.send(json.dumps(frame))
    while True:
        event = json.loads(await socket.recv())
        assert event["type"] != "error", event
        if event["type"] == "message_delta" and came is None:
            came = time.monotonic()
        elif event["type"] == "message_end":
            assert came, f"an answer without a sentence of the model: {text} {event}"
            return number, left, came


def _quantile(values: list[float], percent: int) -> float:
    return round(statistics.quantiles(values, n=100, method="inclusive")[percent - 1], 1)
