"""Callers take turns, everyone knows their place, and who goes away frees it."""

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, ExitStack, suppress

import pytest

from core.inference.llm.queue import ModelQueue, QueueFull, QueueTicket


class Line:
    """Calls that wait for one another, named by caller and number; `order` is how their turns came.

    The first one holds its place until all have joined.
    """

    def __init__(self, queue: ModelQueue) -> None:
        self.queue = queue
        self.order: list[str] = []
        self.seen: dict[str, list[int]] = {}
        self.tasks: dict[str, asyncio.Task[None]] = {}
        self.is_joined = asyncio.Event()

    async def join(self, *names: str) -> None:
        for name in names:
            self.tasks[name] = asyncio.create_task(self._wait(name))
            await asyncio.sleep(0)

    async def _wait(self, name: str) -> None:
        positions = self.seen[name] = []
        with self.queue.place(name[0]) as place:
            while position := await place.moved():
                positions.append(position)
            self.order.append(name)
            await self.is_joined.wait()
            await asyncio.sleep(0.005)  # the others see that they moved up


@pytest.fixture
async def line() -> AsyncIterator[Line]:
    line = Line(ModelQueue(at_once=1, most=10))
    yield line
    await settled(line)


async def settled(line: Line) -> None:
    line.is_joined.set()
    await asyncio.gather(*line.tasks.values(), return_exceptions=True)


async def test_a_free_place_is_taken_at_once() -> None:
    queue = ModelQueue(at_once=2, most=0)
    with queue.place("a") as first, queue.place("a") as second:
        assert (await first.moved(), await second.moved()) == (0, 0)


async def test_one_callers_calls_come_in_order(line: Line) -> None:
    await line.join("a1", "a2", "a3")
    await settled(line)
    assert line.order == ["a1", "a2", "a3"]
    assert line.seen == {"a1": [], "a2": [1], "a3": [2, 1]}


async def test_a_caller_with_many_calls_does_not_hold_up_anothers_one(line: Line) -> None:
    await line.join("a1", "a2", "a3", "a4", "a5", "b1", "c1")
    await settled(line)
    assert line.order == ["a1", "a2", "b1", "c1", "a3", "a4", "a5"]


async def test_who_is_overtaken_is_told(line: Line) -> None:
    await line.join("a1", "a2", "a3", "b1")
    await settled(line)
    assert line.seen["a3"] == [2, 3, 2, 1]
    assert line.seen["b1"] == [2, 1]


async def test_a_waiting_call_that_is_cancelled_frees_its_place(line: Line) -> None:
    await line.join("a1", "b1", "c1")
    line.tasks["b1"].cancel()
    await settled(line)
    assert line.order == ["a1", "c1"]
    assert line.seen["c1"] == [2, 1]
    with line.queue.place("d") as place:
        assert await place.moved() == 0


async def test_a_call_that_is_cancelled_as_its_turn_comes_passes_it_on(line: Line) -> None:
    with ExitStack() as first:
        first.enter_context(line.queue.place("z"))
        await line.join("a1", "b1")
        first.close()  # a1's turn, which it does not know yet
        line.tasks["a1"].cancel()
    await settled(line)
    assert line.order == ["b1"]


async def test_a_full_queue_refuses(line: Line) -> None:
    queue = ModelQueue(at_once=1, most=2)
    with queue.place("a"), queue.place("b"), queue.place("c"), pytest.raises(QueueFull), queue.place("d"):
        raise AssertionError
    with queue.place("d") as place:
        assert await place.moved() == 0


async def test_no_more_than_allowed_run_at_once_whatever_happens() -> None:
    queue, running, most = ModelQueue(at_once=3, most=100), 0, 0

    async def call(number: int) -> None:
        nonlocal running, most
        with queue.place(str(number % 4)) as place:
            while await place.moved():
                pass
            running += 1
            most = max(most, running)
            try:
                await asyncio.sleep(0.001 * (number % 3))
            finally:
                running -= 1

    tasks = [asyncio.create_task(call(number)) for number in range(60)]
    await asyncio.sleep(0.002)
    for task in tasks[::5]:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert (most, running) == (3, 0)
    async with AsyncExitStack() as stack:
        places: list[QueueTicket] = [stack.enter_context(queue.place("x")) for _number in range(3)]
        assert [await place.moved() for place in places] == [0, 0, 0]


def test_several_event_loops_share_it() -> None:
    queue, lock = ModelQueue(at_once=1, most=100), threading.Lock()
    done: list[int] = []

    async def call(number: int) -> None:
        with queue.place(str(number)) as place:
            while await place.moved():
                pass
            assert lock.acquire(blocking=False), "two at once"
            await asyncio.sleep(0.001)
            lock.release()
            done.append(number)

    async def calls(start: int) -> None:
        await asyncio.gather(*(call(start + number) for number in range(10)))

    threads = [threading.Thread(target=lambda start=start: asyncio.run(calls(start))) for start in (0, 10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    assert sorted(done) == list(range(30))


async def test_a_place_waits_no_longer_than_one_lets_it() -> None:
    queue = ModelQueue(at_once=1, most=5)
    with queue.place("a"), queue.place("b") as place:
        assert await place.moved() == 1
        with suppress(TimeoutError):
            async with asyncio.timeout(0.01):
                raise AssertionError(await place.moved())
    with queue.place("c") as place:
        assert await place.moved() == 0
