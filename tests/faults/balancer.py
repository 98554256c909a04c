"""One address before several web processes, as nginx is one: a connection goes to the next of them that takes it."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count


class Balancer:
    def __init__(self, ports: list[int]) -> None:
        self.ports, self.port = ports, 0
        self._turn = count()

    async def serve(self, started: threading.Event, ending: asyncio.Event) -> None:
        server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        started.set()
        await ending.wait()
        server.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = next(self._turn)
        for number in range(len(self.ports)):
            with suppress(OSError):
                there = await asyncio.open_connection("127.0.0.1", self.ports[(first + number) % len(self.ports)])
                await asyncio.gather(self._copy(reader, there[1]), self._copy(there[0], writer))
                return
        writer.close()

    async def _copy(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError):
            while data := await reader.read(2**16):
                writer.write(data)
                await writer.drain()
        writer.close()


@contextmanager
def balancer(ports: list[int]) -> Iterator[Balancer]:
    made, started = Balancer(ports), threading.Event()
    loop, ending = asyncio.new_event_loop(), asyncio.Event()

    def run() -> None:
        with suppress(asyncio.CancelledError), asyncio.Runner(loop_factory=lambda: loop) as runner:
            runner.run(made.serve(started, ending))

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    assert started.wait(10)
    try:
        yield made
    finally:
        loop.call_soon_threadsafe(ending.set)
        thread.join(10)
