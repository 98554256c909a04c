"""A language model's endpoint that streams words at a steady pace to many at once; real HTTP, OpenAI's form.

`python -m tests.load.stub PORT SENTENCES PER_SECOND LOG`; LOG gets when it was asked and when each sentence was whole.
"""

import asyncio
import json
import sys
import time
from pathlib import Path

from tests.load.sentences import ASKED, WORDS, words

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"


def chunk(content: str | None, finish: str | None = None) -> bytes:
    delta = {} if content is None else {"content": content}
    event = {
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "created": 1,
        "model": "stub",
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def serve(port: int, sentences: int, per_second: float, log: Path) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).lower()
        length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
        body = await reader.readexactly(length)
        writer.write(HEAD)
        loop = asyncio.get_running_loop()
        began, asked = loop.time(), time.monotonic()
        sent: list[float] = []
        for number, word in enumerate(words(sentences)):
            await asyncio.sleep(began + number / per_second - loop.time())
            writer.write(chunk(word))
            await writer.drain()
            if number % WORDS == WORDS - 1:
                sent.append(time.monotonic())
        usage = {
            "choices": [],
            "usage": {"prompt_tokens": 500, "completion_tokens": sentences * WORDS, "total_tokens": 500},
        }
        end = b"data: " + json.dumps(usage).encode() + b"\n\ndata: [DONE]\n\n"
        if found := ASKED.findall(body.decode()):
            with log.open("a") as lines:
                lines.write(json.dumps({"question": int(found[-1]), "asked": asked, "sentences": sent}) + "\n")
        writer.write(chunk(None, "stop") + f"{len(end):x}\r\n".encode() + end + b"\r\n0\r\n\r\n")
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, backlog=1000)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4])))
