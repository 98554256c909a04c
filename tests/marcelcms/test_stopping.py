"""What a web process does between being told to stop and ending."""

import asyncio

from chat.streaming import runner
from marcelcms.asgi import until_answered


async def test_a_process_that_stops_waits_for_the_answers_that_it_writes() -> None:
    told: asyncio.Queue[dict[str, str]] = asyncio.Queue()
    sent: list[str] = []
    begun, written = asyncio.Event(), asyncio.Event()

    async def send(message):
        sent.append(message["type"])
        begun.set()

    async def answer():
        await written.wait()

    task = asyncio.create_task(answer())
    runner._running.add(task)
    task.add_done_callback(runner._running.discard)
    process = asyncio.create_task(until_answered({"type": "lifespan"}, told.get, send))
    await told.put({"type": "lifespan.startup"})
    await told.put({"type": "lifespan.shutdown"})
    await asyncio.wait_for(begun.wait(), 30)
    await asyncio.sleep(0.05)
    assert sent == ["lifespan.startup.complete"]
    written.set()
    await asyncio.wait_for(process, 5)
    assert sent == ["lifespan.startup.complete", "lifespan.shutdown.complete"]
